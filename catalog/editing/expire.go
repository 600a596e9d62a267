package editing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

const (
	// KeepAway is how long an edit waits for a string that its file no longer has.
	KeepAway = 90 * 24 * time.Hour
	// KeepDiscarded is how long an edit that was taken back can be restored.
	KeepDiscarded = 30 * 24 * time.Hour
)

// The reasons of edits that waited in vain.
const (
	awayReason  = "the string has been away for 90 days"
	stuckReason = "it could not be done for 90 days: "
)

// Expire ends pending edits that could not be done for KeepAway. One whose string has been
// away from its file becomes a conflict with an entry of action 4, and its text is a
// suggestion once the string is back; one of a file is discarded. It forgets what was taken
// back KeepDiscarded ago. now is the database's clock. A call does a bounded amount of work;
// what is left is for the next one. It returns the numbers of edits that ended, and that
// were forgotten.
func (d *Editor) Expire(ctx context.Context, now time.Time) (ended, forgotten int, err error) {
	if err := d.DB.NoteAway(ctx, now); err != nil {
		return 0, 0, fmt.Errorf("expire edits: %w", err)
	}
	var away, stuck []store.Edit
	err = d.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		if away, err = snap.AwaySince(ctx, now.Add(-KeepAway), false); err == nil {
			stuck, err = snap.AwaySince(ctx, now.Add(-KeepAway), true)
		}
		return err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("expire edits: %w", err)
	}
	var errs []error
	for len(away) > 0 {
		n := slices.IndexFunc(away, func(e store.Edit) bool { return e.TranslationID != away[0].TranslationID })
		if n < 0 {
			n = len(away)
		}
		errs = append(errs, d.expire(ctx, away[:n], &ended))
		away = away[n:]
	}
	for i := range stuck {
		stuck[i].Status, stuck[i].Reason = store.EditDiscarded, stuckReason+stuck[i].Reason
		errs = append(errs, d.endFiles(ctx, stuck[i].ComponentID, stuck[i:i+1]))
	}
	ended += len(stuck)
	forgotten, err = d.DB.ForgetDiscarded(ctx, now.Add(-KeepDiscarded))
	if err = errors.Join(append(errs, err)...); err != nil {
		return ended, forgotten, fmt.Errorf("expire edits: %w", err)
	}
	return ended, forgotten, nil
}

// expire ends edits of texts of one translation, except those whose string is back.
func (d *Editor) expire(ctx context.Context, away []store.Edit, ended *int) error {
	component := away[0].ComponentID
	var entries []store.Entry
	err := d.atHead(ctx, component, always, func(ctx context.Context, tx *store.StepTx, at time.Time) error {
		entries = nil
		still, err := stillAway(ctx, tx, component, away)
		if err != nil || len(still) == 0 {
			return err
		}
		for i := range still {
			e := &still[i]
			if err := tx.EndEdit(ctx, e, store.EditConflict, awayReason, edit.Author{}, at); err != nil {
				return err
			}
			entries = append(entries, store.Entry{
				Action: catalog.ActionSuggestion, UnitID: e.UnitID, State: catalog.StateAbsent, OldState: catalog.StateAbsent, Target: e.Ours.Target,
			})
		}
		return tx.AddDelta(ctx, store.Delta{ComponentID: component, TranslationID: still[0].TranslationID, Entries: entries})
	})
	if err == nil {
		*ended += len(entries)
	}
	return err
}

// stillAway returns those of some edits of one translation that are pending, and whose
// string is not there.
func stillAway(ctx context.Context, tx *store.StepTx, component int64, away []store.Edit) ([]store.Edit, error) {
	rows, err := tx.Translations(ctx, component)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(away))
	for i := range away {
		ids[i] = away[i].UnitID
	}
	pending, err := tx.PendingTextsOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	there := map[int64]catalog.Unit{}
	if slices.ContainsFunc(rows, func(t catalog.Translation) bool { return t.ID == away[0].TranslationID && !t.Removed }) {
		if there, err = tx.UnitsToEdit(ctx, away[0].TranslationID, ids); err != nil {
			return nil, err
		}
	}
	var still []store.Edit
	for _, id := range ids {
		if _, back := there[id]; back || pending[id].ID == 0 {
			continue
		}
		still = append(still, pending[id])
	}
	slices.SortFunc(still, func(a, b store.Edit) int { return cmp.Compare(a.UnitID, b.UnitID) })
	return still, nil
}
