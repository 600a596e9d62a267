package editing

import (
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog/store"
)

// Commit notes that a client asked to commit the pending edits of translations of one
// component, so that clones have them. It returns the number of translations with any.
func (d *Editor) Commit(ctx context.Context, component int64, translations []int64) (n int, err error) {
	err = again(func() error {
		n, err = d.tryCommit(ctx, component, translations)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("commit edits of component %d: %w", component, err)
	}
	return n, nil
}

func (d *Editor) tryCommit(ctx context.Context, id int64, translations []int64) (n int, err error) {
	row, err := d.DB.ComponentByID(ctx, id)
	if err != nil {
		return 0, err
	}
	waiting := map[int64]bool{}
	err = d.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		pending, err := snap.PendingTexts(ctx, id)
		for i := range pending {
			if e := &pending[i]; !e.Committed && slices.Contains(translations, e.TranslationID) {
				waiting[e.TranslationID] = true
			}
		}
		return err
	})
	if err != nil || len(waiting) == 0 {
		return 0, err
	}
	return len(waiting), d.Syncer.AtHead(ctx, row, d.clock(), func(ctx context.Context, tx *store.StepTx) error {
		for _, t := range translations {
			if !waiting[t] {
				continue
			}
			if err := tx.CommitEdits(ctx, t); err != nil {
				return err
			}
		}
		return nil
	})
}
