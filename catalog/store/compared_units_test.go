package store

import (
	"context"
	"errors"
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

// A translation that another process checked meanwhile is not checked first: what a
// caller has in memory of its failing checks may be old.
func TestSetFirstChecked(t *testing.T) {
	db := open(t)
	must(t, db.Configure(t.Context(), projectsNamed("one"), []ComponentSpec{spec("one", "app")}, nil))
	var de int64
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
		de, _, err = fill(ctx, tx, 1, "de", 3, nil)
		return err
	})
	first := func(ctx context.Context, tx *StepTx) error { return tx.SetFirstChecked(ctx, de, "rules", 1) }
	step(t, db, info(1, 1, 1), first)
	if _, err := db.Step(t.Context(), info(1, 1, 1), first); !errors.Is(err, catalog.ErrConflict) {
		t.Errorf("a translation that was checked: %v", err)
	}
}
