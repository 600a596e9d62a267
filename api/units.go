package api

import (
	"context"

	"github.com/repoglot/repoglot/catalog/store"
)

func (s *Server) listUnits(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	t, err := s.visibleTranslation(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	w, err := r.window(t.Stats.Total.Units, maxUnitsSize)
	if err != nil {
		return nil, err
	}
	units, err := snap.Units(ctx, t.ID, w.offset, w.limit)
	if err != nil {
		return nil, err
	}
	scope := newUnitScope(r.link, &t.Translation, t.Project.Slug, t.Component.Slug)
	objects := make([]unitObject, len(units))
	for i := range units {
		objects[i] = scope.unit(&units[i])
	}
	return r.list(w, translationPath(t.Project.Slug, t.Component.Slug, t.Language)+"units/", objects), nil
}

// getUnit answers removed units too, so that no entry of the history points
// nowhere (decision 23), also those of a translation that is gone.
func (s *Server) getUnit(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	id, err := r.id()
	if err != nil {
		return nil, err
	}
	row, err := snap.Unit(ctx, id)
	if err != nil {
		return nil, err
	}
	t := &row.Translation
	if err := s.servable(ctx, snap, &t.Project, &t.Component); err != nil {
		return nil, err
	}
	scope := newUnitScope(r.link, &t.Translation, t.Project.Slug, t.Component.Slug)
	return scope.unit(&row.Unit), nil
}
