package editing

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// Discard ends pending edits of a component that choose selects: its strings have the
// repository's texts again, by entries of action 59. A file may be away. reason says why,
// by is who wants it, zero for the server. With suggest texts become suggestions, which is
// what happens to those that the repository refuses.
func (d *Editor) Discard(ctx context.Context, component int64, by edit.Author, reason string, suggest bool, choose func(*store.Edit) bool) (done edit.Discarded, err error) {
	defer wrap(&err, "discard edits of component %d", component)
	pending, err := store.Get(ctx, d.DB, (*store.Snapshot).PendingEdits, component)
	pending = slices.DeleteFunc(pending, func(e store.Edit) bool { return !choose(&e) })
	for i := range pending {
		if err != nil || i > 0 && pending[i].TranslationID == pending[i-1].TranslationID {
			continue
		}
		var one edit.Discarded
		err = d.atHead(ctx, component, always, func(ctx context.Context, tx *store.StepTx, at time.Time) (err error) {
			e := transaction{tx: tx, component: component, translation: pending[i].TranslationID, by: edit.Author{Name: by.Name}, at: at}
			one, err = e.discardAll(ctx, by, reason, suggest, choose)
			return err
		})
		done.Edits, done.Sent = done.Edits+one.Edits, done.Sent+one.Sent
	}
	return done, err
}

// discardAll ends the pending edits of the translation that choose selects.
func (e *transaction) discardAll(ctx context.Context, by edit.Author, reason string, suggest bool, choose func(*store.Edit) bool) (done edit.Discarded, err error) {
	pending, err := e.tx.PendingEdits(ctx, e.component, e.translation)
	if err != nil {
		return done, err
	}
	pending = slices.DeleteFunc(pending, func(p store.Edit) bool { return !choose(&p) })
	var ids []int64
	for i := range pending {
		if pending[i].Kind == store.EditText {
			ids = append(ids, pending[i].UnitID)
		}
	}
	var units map[int64]catalog.Unit
	if len(ids) > 0 {
		if units, err = e.load(ctx, ids); err != nil && !errors.Is(err, catalog.ErrNotFound) { // else its file is away
			return done, err
		}
	}
	for i := range pending {
		sent, err := e.discard(ctx, &pending[i], units, by, reason, suggest)
		if err != nil {
			return done, err
		}
		done.Edits, done.Sent = done.Edits+1, done.Sent+min(sent, 1)
	}
	return done, e.store(ctx)
}

// discard ends one edit, and returns how many texts of its string were sent.
func (e *transaction) discard(ctx context.Context, p *store.Edit, units map[int64]catalog.Unit, by edit.Author, reason string, suggest bool) (sent int, err error) {
	status := store.EditDiscarded
	if suggest && (p.Kind == store.EditText || p.Kind == store.EditUpdateFile) {
		status = store.EditConflict
	}
	if err := e.tx.EndEdit(ctx, p, status, reason, by, e.at); err != nil || p.Kind != store.EditText {
		return 0, err
	}
	if u, ok := units[p.UnitID]; ok && p.Base.Absent() && !u.Removed {
		if _, err := e.forget(ctx, u); err != nil {
			return 0, err
		}
	} else if ok && !u.Removed {
		e.change(u, p.Base, catalog.ActionStringRepoUpdate)
	}
	return e.tx.SentOf(ctx, p.UnitID)
}

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
	defer wrap(&err, "expire edits")
	if err := d.DB.NoteAway(ctx, now); err != nil {
		return 0, 0, err
	}
	var away, stuck []store.Edit
	err = d.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		if away, err = snap.AwaySince(ctx, now.Add(-KeepAway), false); err == nil {
			stuck, err = snap.AwaySince(ctx, now.Add(-KeepAway), true)
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	then := &Editor{d.Options}
	then.Now = func() time.Time { return now } // clocks differ between processes
	var errs []error
	for len(away) > 0 {
		n := slices.IndexFunc(away, func(e store.Edit) bool { return e.TranslationID != away[0].TranslationID })
		if n < 0 {
			n = len(away)
		}
		errs = append(errs, then.expire(ctx, away[:n], &ended))
		away = away[n:]
	}
	for i := range stuck {
		stuck[i].Status, stuck[i].Reason = store.EditDiscarded, stuckReason+stuck[i].Reason
		errs = append(errs, d.endFiles(ctx, stuck[i].ComponentID, stuck[i:i+1]))
	}
	ended += len(stuck)
	rejected, err := d.RejectOf(ctx, 0, edit.Author{Name: "repoglot"}, "the account is blocked")
	ended, errs = ended+rejected, append(errs, err)
	forgotten, err = d.DB.ForgetDiscarded(ctx, now.Add(-KeepDiscarded))
	return ended, forgotten, errors.Join(append(errs, err)...)
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
	ids := catalog.Each(away, func(e *store.Edit) int64 { return e.UnitID })
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
