package editing

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// Lock locks a component, so that it takes no edits, or unlocks it. It returns whether
// that changed anything, which makes an entry 14 or 15.
func (d *Editor) Lock(ctx context.Context, id int64, by edit.Author, locked bool) (changed bool, err error) {
	err = again(func() error {
		changed, err = d.tryLock(ctx, id, by, locked)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("lock component %d: %w", id, err)
	}
	return changed, nil
}

func (d *Editor) tryLock(ctx context.Context, id int64, by edit.Author, locked bool) (bool, error) {
	row, err := d.DB.ComponentByID(ctx, id)
	switch {
	case err != nil:
		return false, err
	case row.Locked == locked:
		return false, nil
	case row.Head == "":
		return false, fmt.Errorf("the component is not imported yet: %w", catalog.ErrNotFound)
	}
	at := d.clock()
	entry := store.Entry{Action: catalog.ActionUnlock, State: catalog.StateAbsent, OldState: catalog.StateAbsent}
	if locked {
		entry.Action = catalog.ActionLock
	}
	return true, d.Syncer.AtHead(ctx, row, at, func(ctx context.Context, tx *store.StepTx) error {
		if err := tx.SetLocked(ctx, id, locked); err != nil {
			return err
		}
		return tx.AddDeltaBy(ctx, edit.Author{Name: by.Name, Email: by.Email, Time: at}, store.Delta{ComponentID: id, Entries: []store.Entry{entry}})
	})
}
