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

// Commit notes that a client asked to commit the pending edits of translations of one
// component, so that clones have them. It returns the number of translations with any.
func (d *Editor) Commit(ctx context.Context, component int64, translations []int64) (n int, err error) {
	var waiting []int64
	err = d.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		pending, err := snap.PendingTexts(ctx, component)
		waiting = slices.DeleteFunc(slices.Clone(translations), func(t int64) bool {
			return !slices.ContainsFunc(pending, func(e store.Edit) bool { return e.TranslationID == t && !e.Committed })
		})
		return err
	})
	if err == nil && len(waiting) > 0 {
		err = d.atHead(ctx, component, always, func(ctx context.Context, tx *store.StepTx, _ time.Time) error {
			for _, t := range waiting {
				if err := tx.CommitEdits(ctx, t); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return 0, fmt.Errorf("commit edits of component %d: %w", component, err)
	}
	return len(waiting), nil
}

// errSame ends a transaction that would change nothing.
var errSame = errors.New("nothing is to be changed")

// Lock locks a component, so that it takes no edits, or unlocks it. It returns whether
// that changed anything, which makes an entry 14 or 15.
func (d *Editor) Lock(ctx context.Context, id int64, by edit.Author, locked bool) (changed bool, err error) {
	entry := store.Entry{Action: catalog.ActionUnlock, State: catalog.StateAbsent, OldState: catalog.StateAbsent}
	if locked {
		entry.Action = catalog.ActionLock
	}
	err = d.atHead(ctx, id, func(row *store.BranchComponent) error {
		switch {
		case row.Locked == locked:
			return errSame
		case row.Head == "":
			return errNotImported
		}
		return nil
	}, func(ctx context.Context, tx *store.StepTx, at time.Time) error {
		if err := tx.SetLocked(ctx, id, locked); err != nil {
			return err
		}
		return tx.AddDeltaBy(ctx, edit.Author{Name: by.Name, Email: by.Email, Time: at}, store.Delta{ComponentID: id, Entries: []store.Entry{entry}})
	})
	switch {
	case errors.Is(err, errSame):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("lock component %d: %w", id, err)
	}
	return true, nil
}
