package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// listUnitComments lists the comment of a unit: the translator comments that
// are in its file and not in the template, as one text. Removed units have no
// comment.
func (e *Env) listUnitComments(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	unit, err := e.visibleUnit(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	objects := []wire.Comment{}
	if unit.Comment != "" {
		objects = append(objects, wire.Comment{ID: unit.ID, Comment: unit.Comment, Unit: r.Link.Unit(unit.ID)})
	}
	return rest.ListOf(r, objects, rest.MaxPageSize, wire.UnitPath(unit.ID)+"comments/")
}
