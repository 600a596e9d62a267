package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// listUnitSuggestions lists the suggestions of a unit, by branch. user is null
// for authors without a change entry: they are no users.
func (e *Env) listUnitSuggestions(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	unit, err := e.visibleUnit(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	list, err := snap.Suggestions(ctx, unit.ID)
	if err != nil {
		return nil, err
	}
	shown, err := shownComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	objects := make([]wire.Suggestion, len(list))
	for i := range list {
		n := &list[i]
		objects[i] = wire.Suggestion{
			Unit: r.Link.Unit(unit.ID), Target: catalog.TargetForms(unit.Source, n.Target, unit.Translation.PluralNumber),
			AuthorName: n.AuthorName, Branch: n.Branch, Commit: n.Commit,
		}
		if !n.At.IsZero() {
			objects[i].Timestamp = wire.OrNull(wire.ChangeTime(n.At))
		}
		if n.UserID == 0 {
			continue
		}
		wrote, err := snap.WroteIn(ctx, n.UserID, shown)
		if err != nil {
			return nil, err
		}
		if wrote {
			objects[i].User = wire.OrNull(r.Link.User(n.Username))
		}
	}
	return rest.ListOf(r, objects, rest.MaxPageSize, wire.UnitPath(unit.ID)+"suggestions/")
}

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
