package store

import (
	"context"
	"testing"
	"time"
)

// TestRecentChanges counts entries of the six hours up to the newest one, step
// by step.
func TestRecentChanges(t *testing.T) {
	t.Parallel()
	db := openWith(t, "app")
	var translation int64
	var units []FingerprintedUnit
	for i, tc := range []struct {
		hour    time.Duration
		n, want int64
	}{{0, 3, 3}, {5, 2, 5}, {6, 1, 3}, {12, 1, 1}, {12, 2, 3}, {112, 1, 1}} {
		step(t, db, info(i, i+1, 1), func(ctx context.Context, tx *StepTx) (err error) {
			if i == 0 {
				if translation, units, err = fill(ctx, tx, 1, "cs", 3, nil); err != nil {
					return err
				}
			}
			return tx.AddDelta(ctx, Delta{ComponentID: 1, TranslationID: translation, At: day(2).Add(tc.hour * time.Hour), Entries: newEntries(units)[:tc.n]})
		})
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			all, err := s.Translations(ctx, 1)
			if err == nil && all[0].RecentChanges != tc.want {
				t.Errorf("step %d: %d recent changes, want %d", i, all[0].RecentChanges, tc.want)
			}
			return err
		})
	}
}
