package editing

import (
	"cmp"
	"context"
	"errors"
	"fmt"

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
// What is accepted is an edit by its author that by reviewed; with another text it is one by
// by, to whom the author is added. The error wraps catalog.ErrNotFound if there is no such
// suggestion any more, or is one of Edit.
func (d *Editor) AnswerSuggestion(ctx context.Context, component, translation int64, by edit.Author, a edit.Answer) (err error) {
	defer wrap(&err, "answer the suggestion %d", a.ID)
	return d.editing(ctx, component, translation, by, func(ctx context.Context, e *transaction) error {
		u, err := e.loadOne(ctx, a.UnitID)
		if err != nil {
			return err
		}
		known, err := e.tx.Suggested(ctx, u.ID)
		if err != nil {
			return err
		}
		n := catalog.Find(known, func(n *store.Edit) bool { return n.ID == a.ID && (!a.Own || n.Authors[0].Person == by.Person) })
		if n == nil {
			return catalog.ErrNotFound
		}
		if !a.Accept {
			event := "rejected"
			if a.Own {
				event = "taken back"
			}
			return cmp.Or(e.noteSuggestion(ctx, catalog.ActionSuggestionDelete, &u, n.Ours.Target, n.Stranger != 0), e.tx.EndSuggestion(ctx, n, event, a.Why, by.Name, e.at))
		}
		author, event := n.Authors[0], "accepted"
		want := edit.Request{UnitID: u.ID, Target: catalog.SplitForms(n.Ours.Target), State: n.Ours.State, If: a.If}
		if a.Target != nil && catalog.JoinForms(a.Target) != n.Ours.Target {
			want.Target, event = a.Target, "accepted with changes"
		} else {
			e.by, e.action = edit.Author{Name: author.Name, Email: author.Email, Time: e.at, Person: author.Person}, catalog.ActionAccept
			if author.Name != by.Name || author.Email != by.Email {
				e.reviewer = edit.Author{Name: by.Name, Email: by.Email}
			}
		}
		err = e.run(ctx, []edit.Request{want})
		if j := e.pending[want.UnitID]; err == nil && j.ID != 0 && event != "accepted" {
			err = e.tx.Credit(ctx, j.ID, author)
		}
		if err == nil {
			err = e.tx.EndSuggestion(ctx, n, event, a.Why, by.Name, e.at)
		}
		return err
	})
}

// RejectOf rejects suggestions of somebody that wait, with 0 those of all blocked accounts, and
// says why. It returns how many; a call does a bounded amount of work.
func (d *Editor) RejectOf(ctx context.Context, person int64, by edit.Author, why string) (n int, err error) {
	list, err := store.Get(ctx, d.DB, (*store.Snapshot).SuggestedBy, person)
	if err != nil {
		return 0, err
	}
	for i := range list {
		e := &list[i]
		switch err := d.AnswerSuggestion(ctx, e.ComponentID, e.TranslationID, by, edit.Answer{ID: e.ID, UnitID: e.UnitID, Why: why}); {
		case err == nil:
			n++
		case !errors.Is(err, catalog.ErrNotFound) && !errors.Is(err, edit.ErrLocked) && !errors.Is(err, edit.ErrNotTaken) && !errors.Is(err, edit.ErrReadOnly):
			return n, err
		}
	}
	return n, nil
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
	if same := catalog.Find(known, func(n *store.Edit) bool { return n.Ours.Target == text.Target }); same != nil {
		return same.ID, nil
	}
	if len(known) >= maxSuggested {
		return 0, errSuggested
	}
	if e.bound == nil {
		if e.room, e.bound, err = e.tx.SuggestionRoom(ctx, e.component, e.by); err != nil {
			return 0, err
		}
	}
	if e.room--; e.room < 0 {
		return 0, e.bound
	}
	if err := e.noteSuggestion(ctx, catalog.ActionSuggestion, u, text.Target, e.by.Stranger); err != nil {
		return 0, err
	}
	return e.tx.Suggest(ctx, u, text, e.by)
}

// noteSuggestion makes the entry of a suggestion: the text of its string stays. Everyone sees
// it: it does not have the text of somebody without a role.
func (e *transaction) noteSuggestion(ctx context.Context, action catalog.Action, u *catalog.Unit, target string, stranger bool) error {
	if stranger {
		target = ""
	}
	entry := store.Entry{Action: action, UnitID: u.ID, State: u.State, OldState: u.State, Target: catalog.PadForms(u.Source, target, e.row.PluralNumber)}
	return e.tx.AddDeltaBy(ctx, e.by, store.Delta{ComponentID: e.component, TranslationID: e.row.ID, Entries: []store.Entry{entry}})
}
