package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// A repository's state is public (docs/compatibility.md#repository-status): it
// shows no more than the component does. It can be read during the first
// import, too: that is when people look.

func getComponentRepository(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	row, err := visibleComponent(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	return repository(ctx, snap, r, &row, wire.ComponentPath(row.Project.Slug, row.Slug))
}

func (e *Env) getTranslationRepository(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	t, err := e.visibleTranslation(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	row, err := visibleComponentBySlug(ctx, snap, t.Project.Slug, t.Component.Slug)
	if err != nil {
		return nil, err
	}
	return repository(ctx, snap, r, &row, wire.TranslationPath(t.Project.Slug, t.Component.Slug, t.Language))
}

func repository(ctx context.Context, snap *store.Snapshot, r *rest.Request, row *store.ComponentRow, path string) (any, error) {
	commit, err := snap.HeadCommit(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	o := wire.NewRepository(r.Link, &row.Component, commit, path)
	o.NeedsCommit, err = unpushed(ctx, snap, row)
	o.NeedsPush = o.NeedsCommit // there are no commits that are not pushed
	return o, err
}

// unpushed reports whether edits of a component wait to be pushed.
func unpushed(ctx context.Context, snap *store.Snapshot, row *store.ComponentRow) (bool, error) {
	if !row.Settings.Edits.Taken() {
		return false, nil
	}
	n, _, err := snap.Unpushed(ctx, row.ID)
	return n > 0, err
}

func getProjectRepository(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	project, err := visibleProject(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	components, err := visibleComponents(ctx, snap, project.Slug)
	if err != nil {
		return nil, err
	}
	o := wire.ProjectRepository{URL: r.Link.API(wire.ProjectPath(project.Slug) + "repository/")}
	for i := range components {
		o.NeedsMerge = o.NeedsMerge || wire.NeedsMerge(&components[i].Component)
		waits, err := unpushed(ctx, snap, components[i])
		if err != nil {
			return nil, err
		}
		o.NeedsCommit = o.NeedsCommit || waits
		o.NeedsPush = o.NeedsCommit
	}
	return o, nil
}
