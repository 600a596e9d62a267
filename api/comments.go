package api

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// commentObject is a comment. Git does not say when a comment was written, nor
// who did: blame tells it of lines, and msgmerge moves those.
type commentObject struct {
	ID        int64   `json:"id"` // of the unit: it has one comment at most
	Comment   string  `json:"comment"`
	User      *string `json:"user"`
	Timestamp *string `json:"timestamp"`
	Unit      string  `json:"unit"`
}

// listUnitComments lists the comment of a unit: the translator comments that its
// file has and the template has not, as one text. Removed units have none.
func (s *Server) listUnitComments(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	unit, _, err := s.visibleUnit(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	objects := []commentObject{}
	if unit.Comment != "" {
		objects = append(objects, commentObject{ID: unit.ID, Comment: unit.Comment, Unit: r.link.unit(unit.ID)})
	}
	return listBelow(r, unit, "comments/", objects)
}

// visibleUnit finds the unit that the path names, and its translation.
func (s *Server) visibleUnit(ctx context.Context, snap *store.Snapshot, r *request) (*catalog.Unit, *store.TranslationRow, error) {
	id, err := r.id()
	if err != nil {
		return nil, nil, err
	}
	row, err := snap.Unit(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	return &row.Unit, &row.Translation, s.servable(ctx, snap, &row.Translation.Project, &row.Translation.Component)
}

// listBelow answers a list below a unit.
func listBelow[T any](r *request, unit *catalog.Unit, below string, objects []T) (any, error) {
	w, err := r.window(int64(len(objects)), maxPageSize)
	if err != nil {
		return nil, err
	}
	page := append([]T{}, slice(objects, w)...)
	return r.list(w, path("api", "units", itoa(unit.ID))+below, page), nil
}
