package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

func (e *Env) getChange(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	change, err := snap.Change(ctx, id)
	if err != nil {
		return nil, err
	}
	if _, err := e.importedComponentBySlug(ctx, snap, change.Project, change.Component); err != nil {
		return nil, err
	}
	return wire.NewChange(r.Link, &change), nil
}

// changeScope finds the entries of a change list: the query that lists them,
// and the list's own path.
type changeScope func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (q store.ChangeQuery, path string, err error)

func (e *Env) translationChanges(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.ChangeQuery, string, error) {
	t, err := e.visibleTranslation(ctx, snap, r)
	return store.ChangeQuery{TranslationID: t.ID}, wire.TranslationPath(t.Project.Slug, t.Component.Slug, t.Language) + "changes/", err
}

func (e *Env) componentChanges(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.ChangeQuery, string, error) {
	component, err := e.importedComponent(ctx, snap, r)
	return store.ChangeQuery{ComponentID: component.ID}, wire.ComponentPath(component.Project.Slug, component.Slug) + "changes/", err
}

func projectChanges(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.ChangeQuery, string, error) {
	project, err := visibleProject(ctx, snap, r)
	if err != nil {
		return store.ChangeQuery{}, "", err
	}
	q, err := withoutHidden(ctx, snap, store.ChangeQuery{ProjectID: project.ID}, project.Slug)
	return q, wire.ProjectPath(project.Slug) + "changes/", err
}

func serverChanges(ctx context.Context, snap *store.Snapshot, _ *rest.Request) (store.ChangeQuery, string, error) {
	q, err := withoutHidden(ctx, snap, store.ChangeQuery{}, "")
	return q, "/api/changes/", err
}

// withoutHidden limits q to the entries of visible components, of one project
// or of all with "". It leaves q as it is where no entry is hidden: neither in
// a private component nor in one that is no longer configured.
func withoutHidden(ctx context.Context, snap *store.Snapshot, q store.ChangeQuery, project string) (store.ChangeQuery, error) {
	total, err := snap.Count(ctx, q)
	if err != nil {
		return q, err
	}
	visible, err := visibleComponents(ctx, snap, project)
	if err != nil {
		return q, err
	}
	ids := make([]int64, len(visible))
	var shown int64
	for i := range visible {
		ids[i] = visible[i].ID
		shown += visible[i].Changes
	}
	if shown != total {
		q.Components = ids
	}
	return q, nil
}

// listChanges answers a change list: ascending by id, or descending with
// ordering=-id (docs/compatibility.md#order-and-after_id).
func listChanges(scope changeScope) Handler {
	return func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
		q, path, err := scope(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		if q, err = changeQuery(r, q); err != nil {
			return nil, err
		}
		l, err := snap.ChangeList(ctx, q)
		if err != nil {
			return nil, err
		}
		w, err := r.FindWindow(l.Count(), rest.MaxPageSize)
		if err != nil {
			return nil, err
		}
		entries, err := l.Page(ctx, w.Offset, w.Limit)
		if err != nil {
			return nil, err
		}
		return r.NewList(w, path, changeObjects(r.Link, entries)), nil
	}
}

func changeObjects(l wire.Links, entries []catalog.Change) []wire.Change {
	objects := make([]wire.Change, len(entries))
	for i := range entries {
		objects[i] = wire.NewChange(l, &entries[i])
	}
	return objects
}
