package api

import (
	"context"
	"strconv"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

func (s *Server) getChange(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	id, err := r.id()
	if err != nil {
		return nil, err
	}
	change, err := snap.Change(ctx, id)
	if err != nil {
		return nil, err
	}
	if _, err := s.importedComponent(ctx, snap, change.Project, change.Component); err != nil {
		return nil, err
	}
	return newChange(r.link, &change), nil
}

func (s *Server) listTranslationChanges(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	t, err := s.visibleTranslation(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	p := translationPath(t.Project.Slug, t.Component.Slug, t.Language) + "changes/"
	return listOfChanges(ctx, snap, r, store.ChangeQuery{TranslationID: t.ID}, t.Changes, p)
}

func (s *Server) listComponentChanges(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	component, err := s.importedComponent(ctx, snap, r.segment("project"), r.segment("component"))
	if err != nil {
		return nil, err
	}
	p := componentPath(component.Project.Slug, component.Slug) + "changes/"
	return listOfChanges(ctx, snap, r, store.ChangeQuery{ComponentID: component.ID}, component.Changes, p)
}

// listOfChanges answers a change list: ascending by id, with ordering=-id
// descending, with after_id=N only what came after N (decision 4). count is
// the number of entries without after_id.
func listOfChanges(ctx context.Context, snap *store.Snapshot, r *request, q store.ChangeQuery, count int64, path string) (any, error) {
	if err := r.changeOrder(&q); err != nil {
		return nil, err
	}
	if q.AfterID > 0 {
		n, err := snap.Count(ctx, q)
		if err != nil {
			return nil, err
		}
		count = n
	}
	w, err := r.window(count, maxPageSize)
	if err != nil {
		return nil, err
	}
	q.Offset, q.Limit = w.offset, w.limit
	entries, err := snap.Changes(ctx, q)
	if err != nil {
		return nil, err
	}
	return r.list(w, path, changeObjects(r.link, entries)), nil
}

func changeObjects(l links, entries []catalog.Change) []changeObject {
	objects := make([]changeObject, len(entries))
	for i := range entries {
		objects[i] = newChange(l, &entries[i])
	}
	return objects
}

// changeOrder reads the parameters of change lists that are ours.
func (r *request) changeOrder(q *store.ChangeQuery) error {
	switch ordering, given := r.params.get("ordering"); {
	case !given || ordering == "" || ordering == "id":
	case ordering == "-id":
		q.Newest = true
	default:
		return errParameter("ordering", "Select a valid choice: id or -id.")
	}
	after, given := r.params.get("after_id")
	if !given {
		return nil
	}
	id, err := strconv.ParseInt(after, 10, 64)
	if err != nil {
		return errParameter("after_id", "A valid integer is required.")
	}
	q.AfterID = max(id, 0)
	return nil
}
