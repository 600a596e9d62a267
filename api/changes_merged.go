package api

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

func (s *Server) listChanges(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	components, err := visibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	return scopeChanges(ctx, snap, r, components, store.ChangeQuery{}, "/api/changes/")
}

func (s *Server) listProjectChanges(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	project, err := s.visibleProject(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	components, err := visibleComponents(ctx, snap, project.Slug)
	if err != nil {
		return nil, err
	}
	q := store.ChangeQuery{ProjectID: project.ID}
	return scopeChanges(ctx, snap, r, components, q, projectPath(project.Slug)+"changes/")
}

// scopeChanges answers the change list of a scope that spans components. Where
// all entries of the scope belong to the visible components the store pages
// through them; where some are hidden (private, or no longer configured) the
// lists of the visible components are merged.
func scopeChanges(ctx context.Context, snap *store.Snapshot, r *request, visible []store.ComponentRow, q store.ChangeQuery, path string) (any, error) {
	total, err := snap.Count(ctx, q)
	if err != nil {
		return nil, err
	}
	m := merge{snap: snap, components: visible}
	for i := range visible {
		m.total += visible[i].Changes
	}
	if m.total == total {
		return listOfChanges(ctx, snap, r, q, total, path)
	}
	if err := r.changeOrder(&q); err != nil {
		return nil, err
	}
	return m.list(ctx, r, q, path)
}

// merge makes one list, ascending by id, of those of several components. Its
// cost depends on their number but not on the place of the page: the id before
// the page is found by bisection over counts.
type merge struct {
	snap       *store.Snapshot
	components []store.ComponentRow
	total      int64 // entries of all components
}

func (m *merge) list(ctx context.Context, r *request, q store.ChangeQuery, path string) (any, error) {
	skipped, err := m.upTo(ctx, q.AfterID)
	if err != nil {
		return nil, err
	}
	w, err := r.window(m.total-skipped, maxPageSize)
	if err != nil {
		return nil, err
	}
	from := skipped + int64(w.offset)
	to := min(from+int64(w.limit), m.total)
	if q.Newest {
		to = m.total - int64(w.offset)
		from = max(to-int64(w.limit), skipped)
	}
	entries, err := m.entries(ctx, from, to)
	if err != nil {
		return nil, err
	}
	if q.Newest {
		slices.Reverse(entries)
	}
	return r.list(w, path, changeObjects(r.link, entries)), nil
}

// entries returns the entries from up to but without to, counted from 0.
func (m *merge) entries(ctx context.Context, from, to int64) ([]catalog.Change, error) {
	if from >= to {
		return nil, nil
	}
	after, err := m.before(ctx, from)
	if err != nil {
		return nil, err
	}
	limit := int(to - from)
	var all []catalog.Change
	for i := range m.components {
		some, err := m.snap.Changes(ctx, store.ChangeQuery{ComponentID: m.components[i].ID, AfterID: after, Limit: limit})
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b catalog.Change) int { return cmp.Compare(a.ID, b.ID) })
	return all[:min(limit, len(all))], nil
}

// before returns the smallest id that n entries do not exceed: 0 for none.
func (m *merge) before(ctx context.Context, n int64) (int64, error) {
	if n == 0 {
		return 0, nil
	}
	newest, err := m.snap.Count(ctx, store.ChangeQuery{}) // ids are dense: the count is the last
	if err != nil {
		return 0, err
	}
	id := sort.Search(int(newest), func(id int) bool {
		if err != nil {
			return true
		}
		var upTo int64
		upTo, err = m.upTo(ctx, int64(id))
		return upTo >= n
	})
	return int64(id), err
}

// upTo counts the entries whose ids are not above id.
func (m *merge) upTo(ctx context.Context, id int64) (int64, error) {
	if id == 0 {
		return 0, nil
	}
	n := m.total
	for i := range m.components {
		above, err := m.snap.Count(ctx, store.ChangeQuery{ComponentID: m.components[i].ID, AfterID: id})
		if err != nil {
			return 0, err
		}
		n -= above
	}
	return n, nil
}
