package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// listUnitComments lists the comment of a unit: the translator comments that its
// file has and the template has not, as one text. Removed units have none.
func (e *Env) listUnitComments(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	unit, _, err := e.visibleUnit(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	objects := []wire.Comment{}
	if unit.Comment != "" {
		objects = append(objects, wire.Comment{ID: unit.ID, Comment: unit.Comment, Unit: r.Link.Unit(unit.ID)})
	}
	return listBelow(r, unit, "comments/", objects)
}

// visibleUnit finds the unit that the path names, and its translation.
func (e *Env) visibleUnit(ctx context.Context, snap *store.Snapshot, r *rest.Request) (*catalog.Unit, *store.TranslationRow, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, nil, err
	}
	row, err := snap.Unit(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	return &row.Unit, &row.Translation, e.servable(ctx, snap, &row.Translation.Project, &row.Translation.Component)
}

// listBelow answers a list below a unit.
func listBelow[T any](r *rest.Request, unit *catalog.Unit, below string, objects []T) (any, error) {
	w, err := r.Window(int64(len(objects)), rest.MaxPageSize)
	if err != nil {
		return nil, err
	}
	page := append([]T{}, rest.Slice(objects, w)...)
	return r.List(w, wire.Path("api", "units", wire.FormatID(unit.ID))+below, page), nil
}
