package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

// shown is everything in answers that may come from the caches.
type shown struct {
	Sums         map[string][]Sum
	Languages    []string
	Totals       map[int64]int64
	Units        []int64
	Owners       map[int64]string
	Translations map[string]TranslationRow
	Points       map[string][]catalog.Point
}

func showAll(t *testing.T, db *DB) shown {
	t.Helper()
	components := []int64{1, 2, 3}
	all := shown{Sums: map[string][]Sum{}, Translations: map[string]TranslationRow{}, Owners: map[int64]string{}, Points: map[string][]catalog.Point{}}
	read(t, db, func(ctx context.Context, s *Snapshot) (err error) {
		for name, q := range map[string]SumQuery{
			"all": {Components: components, Sources: true}, "cs": {Components: components, Language: "cs", Sources: true},
			"no sources": {Components: components}, "one": {Components: components[:1], Sources: true},
		} {
			if all.Sums[name], err = s.Sums(ctx, q); err != nil {
				return err
			}
		}
		for name, q := range map[string]StatQuery{"all": {Components: components}, "cs": {Components: components, Language: "cs"}, "one": {Components: components[:1]}} {
			var l catalog.Timeline
			if err := s.Timeline(ctx, q, &l); err != nil {
				return err
			}
			all.Points[name] = l.Points(time.Time{}, time.Time{})
		}
		if all.Languages, err = s.Languages(ctx, components); err != nil {
			return err
		}
		if all.Totals, err = s.UnitTotals(ctx, components); err != nil {
			return err
		}
		units, owners, err := s.AllUnits(ctx, all.Totals, 0, 1000)
		if err != nil {
			return err
		}
		for i := range units {
			all.Units = append(all.Units, units[i].ID)
			all.Owners[units[i].ID] = owners[units[i].TranslationID].Language
		}
		for _, slug := range []string{"app", "docs", "more"} {
			for _, code := range []string{"en", "cs", "de", "fr"} {
				row, err := s.Translation(ctx, "demo", slug, code)
				if errors.Is(err, catalog.ErrNotFound) {
					continue
				}
				if err != nil {
					return err
				}
				all.Translations[slug+"/"+code] = row
			}
		}
		return nil
	})
	return all
}

// TestLookups: after a step the caches give what a new read gives.
func TestLookups(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := openAt(t, path)
	slugs := []string{"app", "docs", "more"}
	configure(t, db, slugs...)
	rnd := rand.New(rand.NewPCG(3, 4))
	heads := map[int64]int{}
	sources := map[int64][]FingerprintedUnit{}
	for n := range 40 {
		c := 1 + rnd.Int64N(3)
		from := heads[c]
		heads[c] = n + 1
		switch {
		case n%10 == 9: // a change of settings
			specs := []ComponentSpec{spec("demo", "app"), spec("demo", "docs"), spec("demo", "more")}
			specs[c-1].Settings.Name = fmt.Sprint("named ", n)
			heads[c] = from
			if err := db.Configure(t.Context(), projectsNamed("demo"), specs, nil); err != nil {
				t.Fatal(err)
			}
		case from == 0:
			step(t, db, info(from, n+1, c), func(ctx context.Context, tx *StepTx) error {
				_, source, err := fill(ctx, tx, c, "en", 5+n, nil)
				sources[c] = source
				if err == nil {
					_, _, err = fill(ctx, tx, c, "cs", 5+n, source)
				}
				return err
			})
		default:
			step(t, db, info(from, n+1, c), func(ctx context.Context, tx *StepTx) error {
				return anyStep(ctx, tx, rnd, c, n, sources[c])
			})
		}
		fresh := openAt(t, path)
		if diff := cmp.Diff(showAll(t, fresh), showAll(t, db), cmp.AllowUnexported(TranslationRow{})); diff != "" {
			t.Fatalf("step %d of component %d:\n%s", n, c, diff)
		}
		if err := fresh.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// anyStep changes something in a component.
func anyStep(ctx context.Context, tx *StepTx, rnd *rand.Rand, component int64, n int, source []FingerprintedUnit) error {
	all, err := tx.Translations(ctx, component)
	if err != nil {
		return err
	}
	tr := all[rnd.IntN(len(all))]
	switch rnd.IntN(5) {
	case 0: // another language
		for _, known := range all {
			if known.Language == "de" {
				return nil
			}
		}
		_, _, err = fill(ctx, tx, component, "de", len(source), source)
		return err
	case 1: // the file is removed, or unchanged
		tr.Removed = tr.Language == "de"
		return tx.PutTranslation(ctx, &tr)
	case 2: // other counts
		tr.Stats.Translated.Words += int64(n)
		if err := tx.PutTranslation(ctx, &tr); err != nil {
			return err
		}
		return tx.PutStatDay(ctx, stored.Day{TranslationID: tr.ID, Day: day(2 + n%20), Stats: tr.Stats})
	case 3: // only entries
		return tx.AddDelta(ctx, Delta{ComponentID: component, TranslationID: tr.ID, At: day(2 + n%20), Entries: newEntries(source[:1])})
	}
	return nil
}
