package editing

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// maxSuggested bounds the suggestions of people for one string.
const maxSuggested = 50

var errSuggested = &edit.InvalidError{Field: "target", Message: fmt.Sprintf("The string has %d suggestions: accept or reject some.", maxSuggested)}

// Suggest makes a text a suggestion for a string, durable when it returns, and returns
// the suggestion's id. For a string that the file lacks it waits like one whose string is
// away. Errors are those of Edit, and an [*edit.InvalidError] if the string
// has that text.
func (d *Editor) Suggest(ctx context.Context, component, translation int64, by edit.Author, want edit.Request) (id int64, err error) {
	defer wrap(&err, "suggest a text for unit %d", want.UnitID)
	err = d.editing(ctx, component, translation, by, func(ctx context.Context, e *transaction) error {
		u, err := e.loadOne(ctx, cmp.Or(want.SourceID, want.UnitID))
		if err != nil {
			return err
		}
		text, err := edit.NewText(want.Target, want.State, catalog.FormsOf(u.Source, e.row.PluralNumber))
		if err == nil && text.Target == u.Target {
			err = &edit.InvalidError{Field: "target", Message: "The string has this text."}
		}
		if err != nil {
			return err
		}
		if err = e.make(ctx, &u); err == nil {
			id, err = e.suggest(ctx, &u, text)
		}
		return err
	})
	return id, err
}

// AnswerSuggestion accepts a suggestion that somebody made for a string, or rejects it.
// What is accepted is an edit by its author, and by says who answered. The error wraps
// catalog.ErrNotFound if there is no such suggestion any more, or is one of Edit.
func (d *Editor) AnswerSuggestion(ctx context.Context, component, translation int64, by edit.Author, of *store.Edit, accept bool) (err error) {
	defer wrap(&err, "answer the suggestion %d", of.ID)
	return d.editing(ctx, component, translation, by, func(ctx context.Context, e *transaction) error {
		u, err := e.loadOne(ctx, of.UnitID)
		if err != nil {
			return err
		}
		known, err := e.tx.Suggested(ctx, u.ID)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(known, func(n store.Edit) bool { return n.ID == of.ID })
		if at < 0 {
			return catalog.ErrNotFound
		}
		n := &known[at]
		if !accept {
			if err := e.noteSuggestion(ctx, catalog.ActionSuggestionDelete, &u, n.Ours.Target); err != nil {
				return err
			}
			return e.tx.EndSuggestion(ctx, n, "rejected", by.Name, e.at)
		}
		e.by, e.action = edit.Author{Name: n.Authors[0].Name, Email: n.Authors[0].Email, Time: e.at}, catalog.ActionAccept
		if err := e.run(ctx, []edit.Request{{UnitID: u.ID, Target: catalog.SplitForms(n.Ours.Target), State: n.Ours.State}}); err != nil {
			return err
		}
		return e.tx.EndSuggestion(ctx, n, "accepted", by.Name, e.at)
	})
}

// loadOne is load for a single unit that may be edited.
func (e *transaction) loadOne(ctx context.Context, id int64) (u catalog.Unit, err error) {
	units, err := e.load(ctx, []int64{id})
	if err != nil {
		return u, err
	}
	u, ok := units[id]
	switch {
	case !ok:
		return u, fmt.Errorf("unit %d: %w", id, catalog.ErrNotFound)
	case u.State == catalog.StateReadOnly:
		return u, edit.ErrReadOnly
	}
	return u, nil
}

// suggest stores a suggestion, unless it is known, and returns its id.
func (e *transaction) suggest(ctx context.Context, u *catalog.Unit, text edit.Text) (id int64, err error) {
	known, err := e.tx.Suggested(ctx, u.ID)
	if err != nil {
		return 0, err
	}
	if at := slices.IndexFunc(known, func(n store.Edit) bool { return n.Ours.Target == text.Target }); at >= 0 {
		return known[at].ID, nil
	}
	if len(known) >= maxSuggested {
		return 0, errSuggested
	}
	if err := e.noteSuggestion(ctx, catalog.ActionSuggestion, u, text.Target); err != nil {
		return 0, err
	}
	return e.tx.Suggest(ctx, u, text, e.by)
}

// noteSuggestion makes the entry of a suggestion: the text of its string stays.
func (e *transaction) noteSuggestion(ctx context.Context, action catalog.Action, u *catalog.Unit, target string) error {
	entry := store.Entry{Action: action, UnitID: u.ID, State: u.State, OldState: u.State, Target: catalog.PadForms(u.Source, target, e.row.PluralNumber)}
	return e.tx.AddDeltaBy(ctx, e.by, store.Delta{ComponentID: e.component, TranslationID: e.row.ID, Entries: []store.Entry{entry}})
}
