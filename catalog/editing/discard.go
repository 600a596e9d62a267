package editing

import (
	"context"
	"errors"
	"fmt"
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
	var pending []store.Edit
	err = d.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		pending, err = snap.PendingEdits(ctx, component)
		return err
	})
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
	if err != nil {
		return done, fmt.Errorf("discard edits of component %d: %w", component, err)
	}
	return done, nil
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
	if suggest && p.Kind == store.EditText {
		status = store.EditConflict
	}
	if err := e.tx.EndEdit(ctx, p, status, reason, by, e.at); err != nil || p.Kind != store.EditText {
		return 0, err
	}
	if u, ok := units[p.UnitID]; ok {
		e.change(u, p.Base, catalog.ActionStringRepoUpdate)
	}
	return e.tx.SentOf(ctx, p.UnitID)
}
