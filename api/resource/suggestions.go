package resource

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// listUnitSuggestions lists the suggestions of a unit, by branch, those of people first. user is null
// for authors without a change entry: they are no users.
func listUnitSuggestions(ctx context.Context, snap *store.Snapshot, r *rest.Request, unit *store.UnitRow) (any, error) {
	objects, err := suggestionsOf(ctx, snap, r, unit)
	if err != nil {
		return nil, err
	}
	return rest.ListOf(r, objects, rest.MaxPageSize, wire.UnitPath(unit.ID)+"suggestions/")
}

func suggestionsOf(ctx context.Context, snap *store.Snapshot, r *rest.Request, unit *store.UnitRow) ([]wire.Suggestion, error) {
	list, err := snap.Suggestions(ctx, unit.ID)
	if err != nil {
		return nil, err
	}
	shown, err := ShownComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	objects := make([]wire.Suggestion, len(list))
	for i := range list {
		n := &list[i]
		objects[i] = wire.Suggestion{
			ID: n.EditID, Unit: r.Link.Unit(unit.ID), Target: catalog.TargetForms(unit.Source, n.Target, unit.Translation.PluralNumber),
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
	return objects, nil
}

// listUnitComments lists the comment of a unit: the translator comments that
// are in its file and not in the template, as one text. Removed units have no
// comment.
func listUnitComments(_ context.Context, _ *store.Snapshot, r *rest.Request, unit *store.UnitRow) (any, error) {
	objects := []wire.Comment{}
	if unit.Comment != "" {
		objects = append(objects, wire.Comment{ID: unit.ID, Comment: unit.Comment, Unit: r.Link.Unit(unit.ID)})
	}
	return rest.ListOf(r, objects, rest.MaxPageSize, wire.UnitPath(unit.ID)+"comments/")
}

// suggestible is editable for strings that take suggestions.
func (e *Env) suggestible(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.UnitRow, error) {
	u, err := e.editable(ctx, snap, r)
	if err == nil && !u.Translation.Component.Settings.EnableSuggestions {
		err = errNoSuggestions
	}
	return u, err
}

// suggest makes a text a suggestion for a string (POST units/ID/suggestions/).
func (e *Env) suggest(ctx context.Context, r *rest.Request, u *store.UnitRow, body *rest.Body) (any, error) {
	target, err := body.List("target")
	if err != nil {
		return nil, err
	}
	by := AuthorOf(ctx)
	id, err := e.Edits.Suggest(ctx, u.Translation.Component.ID, u.TranslationID, by, edit.Request{UnitID: u.ID, Target: target, State: catalog.StateTranslated})
	if err != nil {
		return nil, err
	}
	made := wire.Suggestion{ID: id, Unit: r.Link.Unit(u.ID), Target: target, AuthorName: by.Name}
	err = e.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		all, err := suggestionsOf(ctx, snap, r, u)
		if i := slices.IndexFunc(all, func(o wire.Suggestion) bool { return o.ID == id }); i >= 0 {
			made = all[i]
		}
		return err
	})
	if err != nil { // it is stored all the same
		e.Logger.Warn("a suggestion is answered without its time", "suggestion", id, "error", err)
	}
	return rest.Created{Value: made}, nil
}

// answerSuggestion accepts a suggestion that somebody made, or rejects it.
func (e *Env) answerSuggestion(accept bool) func(context.Context, *rest.Request, *editRow, *rest.Body) (any, error) {
	return func(ctx context.Context, _ *rest.Request, j *editRow, body *rest.Body) (any, error) {
		if text, _ := body.Text("approve"); accept && text != "" && text != "false" && text != "0" {
			return nil, rest.BadParameter("approve", "Invalid state") // a PO file cannot keep it
		}
		return wire.Done{Result: true}, e.Edits.AnswerSuggestion(ctx, j.row.ID, j.TranslationID, AuthorOf(ctx), &j.Edit, accept)
	}
}
