package store

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

// TestRecentChanges counts entries of the six hours up to the newest one, step
// by step.
func TestRecentChanges(t *testing.T) {
	t.Parallel()
	db := openWith(t, "app")
	var translation int64
	var units []FingerprintedUnit
	for i, tc := range []struct {
		hour    time.Duration // TestRecentChangesMigrated: a migrated database has the same numbers as one that counted from the first step.
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

// TestRecentChangesMigrated: a database of an older version gets the same
// numbers as one that counted from the first step on.
func TestRecentChangesMigrated(t *testing.T) {
	t.Parallel()
	db := openWith(t, "app")
	step(t, db, info(0, 1, 1), writeAll)
	step(t, db, info(1, 2, 1), func(ctx context.Context, tx *StepTx) error {
		all, err := tx.Translations(ctx, 1)
		if err != nil {
			return err
		}
		return tx.AddDelta(ctx, Delta{ComponentID: 1, TranslationID: all[1].ID, At: day(3), Entries: []Entry{
			{Action: catalog.ActionStringRepoUpdate, UnitID: 1<<28 + 1}, {Action: catalog.ActionStringRepoUpdate, UnitID: 1<<28 + 2},
		}})
	})
	counts := func() (n []int64) {
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			all, err := s.Translations(ctx, 1)
			for i := range all {
				n = append(n, all[i].RecentChanges)
			}
			return err
		})
		return n
	}
	want := counts()
	if !slices.Contains(want, 2) {
		t.Fatalf("recent changes %v", want)
	}
	sql, err := migrationFiles.ReadFile("migrations/00005_serving.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, update, _ := strings.Cut(string(sql), "UPDATE translations")
	update, _, _ = strings.Cut("UPDATE translations"+update, ";")
	err = db.write(t.Context(), func(s *session) error {
		if _, err := s.exec(t.Context(), `UPDATE translations SET recent_changes = 0`); err != nil {
			return err
		}
		_, err := s.exec(t.Context(), update)
		return err
	})
	if diff := cmp.Diff(want, counts()); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}
