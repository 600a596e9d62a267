package store

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// TestPendingShown: a page shows what is pending, and no more once it has ended.
func TestPendingShown(t *testing.T) {
	db := openWith(t, "app")
	var units []FingerprintedUnit
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
		_, units, err = fill(ctx, tx, 1, "en", 3, nil)
		return err
	})
	id, translation := units[1].Unit.ID, units[1].Unit.TranslationID
	page := func() (pending string) {
		t.Helper()
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			list := []catalog.Unit{*units[0].Unit, *units[1].Unit, *units[2].Unit}
			err := s.fillSuggestions(ctx, list)
			for i := range list {
				pending += map[bool]string{false: "-", true: "p"}[list[i].Pending]
			}
			return err
		})
		return pending
	}
	if pending := page(); pending != "---" {
		t.Error(pending)
	}
	e := Edit{Kind: EditText, ComponentID: 1, UnitID: id, TranslationID: translation, Edit: edit.Edit{Ours: edit.Text{Target: "x", State: catalog.StateTranslated}}}
	at := time.Unix(1700000000, 0)
	step(t, db, info(1, 1, 1), func(ctx context.Context, tx *StepTx) error {
		return tx.PutEdit(ctx, &e, edit.Author{Name: "Jana", Time: at})
	})
	if pending := page(); pending != "-p-" {
		t.Errorf("with an edit: %s", pending)
	}
	step(t, db, info(1, 1, 1), func(ctx context.Context, tx *StepTx) error {
		return tx.EndEdit(ctx, &e, EditDiscarded, "", edit.Author{}, at)
	})
	if pending := page(); pending != "---" {
		t.Errorf("after its end: %s", pending)
	}
}

// TestNotePush: what a push came to has no secret, no byte that a database refuses, and a
// bounded length; a reason is stored only for the text that it is about, a failure leaves
// reasons alone, and each change has a generation.
func TestNotePush(t *testing.T) {
	db := openWith(t, "app")
	var units []FingerprintedUnit
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
		_, units, err = fill(ctx, tx, 1, "en", 3, nil)
		return err
	})
	at, edits := time.Unix(1700000000, 0), make([]Edit, 3)
	step(t, db, info(1, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
		for i := range edits {
			edits[i] = Edit{Kind: EditText, ComponentID: 1, UnitID: units[i].Unit.ID, TranslationID: units[i].Unit.TranslationID, Edit: edit.Edit{Ours: edit.Text{Target: "x", State: catalog.StateTranslated}}}
			if err == nil {
				err = tx.PutEdit(ctx, &edits[i], edit.Author{Name: "Jana", Time: at})
			}
		}
		return err
	})
	// Without push_mode a component says nothing of pushes.
	state := func() (text string, generation int64) {
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			if _, err := s.s.First(ctx, `SELECT push_problem, generation FROM components WHERE id = 1`, nil, &text, &generation); err != nil {
				return err
			}
			list, _, err := s.Edits(ctx, EditQuery{Components: []int64{1}, Limit: 10})
			for i := range list {
				text += "|" + list[i].Reason
			}
			return err
		})
		return text, generation
	}
	edits[0].Reason, edits[1].Reason, edits[1].Ours.Target = "it is held", "it was held", "older"
	_, before := state()
	for _, c := range []struct {
		problem string
		held    []Edit
		want    string
		changes bool
	}{
		{"push https://jana:hunter2@example.org/r.git:\x00 no\xff", edits[:2], "push https://example.org/r.git: no|||", true},
		{"push https://jana:hunter2@example.org/r.git:\x00 no\xff", nil, "push https://example.org/r.git: no|||", false},
		{"", edits[:2], "|it is held||", true},
		{"", edits[:2], "|it is held||", false},
		{strings.Repeat("x", 5000), nil, strings.Repeat("x", 497) + " … " + strings.Repeat("x", 497) + "|it is held||", true},
		{"", nil, "|||", true},
		{"", nil, "|||", false},
	} {
		if err := db.NotePush(t.Context(), []int64{1}, catalog.Failure{Kind: kindOf(c.problem), Words: c.problem}, c.held, at); err != nil {
			t.Fatal(err)
		}
		got, generation := state()
		if got != c.want || (generation > before) != c.changes {
			t.Errorf("%.60q, %d held: %.80q, a change: %v", c.problem, len(c.held), got, generation > before)
		}
		before = generation
	}
}

func kindOf(problem string) catalog.FailureKind {
	if problem == "" {
		return ""
	}
	return catalog.FailureRefused
}

// TestPlansOfPending: edits of a page are found by the index of pending ones, which is empty on a server that takes no edits.
func TestPlansOfPending(t *testing.T) {
	pgtest.SQLiteOnly(t, "it is about the plans of SQLite")
	wantPlans(t, map[string]string{
		suggestedUnits + `BETWEEN $1 AND $2` + editedUnits + `BETWEEN $1 AND $2`: "SEARCH edits USING COVERING INDEX edits_pending (unit_id>? AND unit_id<?)",
		suggestedUnits + `IN ($1, $2)` + editedUnits + `IN ($1, $2)`:             "SEARCH edits USING COVERING INDEX edits_pending (unit_id=?)",
		strings.Replace(arrivedInMemory, "$ids", "($1, $2)", 1):                  "SEARCH edits USING INDEX edits_arrived (unit_id=?)",
		pendingUnits: "SEARCH edits USING COVERING INDEX edits_pending (unit_id>? AND unit_id<?)",
	})
}
