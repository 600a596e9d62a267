package store

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/history"
)

// The figures of docs/benchmarks.md: go test -run=^$ -bench=. ./catalog/store

func reportRate(b *testing.B, n int, what string) {
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), what+"/s")
}

// A whole step of new units, including commit and fsync, but not making the units.
func BenchmarkAddUnits(b *testing.B) {
	for _, n := range []int{2000, 50000} {
		for _, kind := range []string{"source", "translated"} {
			b.Run(fmt.Sprintf("units=%d/%s", n, kind), func(b *testing.B) {
				db := openWith(b, "app")
				var source []FingerprintedUnit
				step(b, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
					_, source, err = fill(ctx, tx, 1, "en", n, nil)
					return err
				})
				if kind == "source" {
					source = nil
				}
				b.ReportAllocs()
				at := 1
				for b.Loop() {
					step(b, db, info(at, at+1, 1), func(ctx context.Context, tx *StepTx) error {
						b.StopTimer()
						t := catalog.Translation{ComponentID: 1, Language: fmt.Sprint(at), FileCode: "x", Filename: "x"}
						if err := tx.PutTranslation(ctx, &t); err != nil {
							return err
						}
						units := makeUnits(t.ID, "xx", n, source)
						b.StartTimer()
						return tx.AddUnits(ctx, units)
					})
					at++
				}
				reportRate(b, n, "units")
			})
		}
	}
}

func BenchmarkKnown(b *testing.B) {
	const n = 50000
	db := openWith(b, "app")
	var id int64
	step(b, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
		id, _, err = fill(ctx, tx, 1, "en", n, nil)
		return err
	})
	b.Run(fmt.Sprintf("units=%d", n), func(b *testing.B) {
		b.ReportAllocs()
		step(b, db, info(1, 2, 1), func(ctx context.Context, tx *StepTx) error {
			for b.Loop() {
				known, err := tx.Known(ctx, id)
				if err != nil || len(known) != n {
					return fmt.Errorf("%d units: %w", len(known), err)
				}
			}
			return nil
		})
	})
}

// Every line number of a file shifts by one.
func BenchmarkPutLayout(b *testing.B) {
	const n = 50000
	db := openWith(b, "app")
	b.Run(fmt.Sprintf("units=%d", n), func(b *testing.B) {
		b.ReportAllocs()
		step(b, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
			id, units, err := fill(ctx, tx, 1, fmt.Sprintf("l%d", b.N), n, nil)
			if err != nil {
				return err
			}
			placed := make([]catalog.UnitPosition, n)
			round := 0
			for b.Loop() {
				round++
				for i, u := range units {
					placed[i] = catalog.UnitPosition{ID: u.ID, Position: i + 1, Location: fmt.Sprintf("src/file%d.c:%d", i/100, i+round)}
				}
				if err := tx.PutLayout(ctx, id, placed); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// One string of a translation with 20,000 entries changes: everything that a pull
// writes.
func BenchmarkSmallStep(b *testing.B) {
	const n = 20000
	db := openWith(b, "app")
	var id int64
	var units []FingerprintedUnit
	step(b, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
		id, units, err = fill(ctx, tx, 1, "en", n, nil)
		return err
	})
	at := 1
	for b.Loop() {
		step(b, db, info(at, at+1, 1), func(ctx context.Context, tx *StepTx) error {
			if _, err := tx.Known(ctx, id); err != nil {
				return err
			}
			u := *units[at%n].Unit
			u.Target = fmt.Sprint("changed ", at)
			if err := tx.UpdateUnits(ctx, []FingerprintedUnit{{Unit: &u, Text: int64(at), Meta: 1}}); err != nil {
				return err
			}
			return tx.AddDelta(ctx, Delta{ComponentID: 1, TranslationID: id, Entries: []Entry{
				{Action: catalog.ActionStringRepoUpdate, UnitID: u.ID, State: u.State, OldState: u.State, Target: u.Target, Old: "before"},
			}})
		})
		at++
	}
}

// Pages of one translation, the first and a far one.
func BenchmarkUnitsPage(b *testing.B) {
	for _, n := range []int{50000, 1000000} {
		if n > 50000 && testing.Short() {
			continue
		}
		db := openWith(b, "app")
		var id int64
		step(b, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
			id, _, err = fill(ctx, tx, 1, "en", n, nil)
			return err
		})
		for _, page := range slices.Compact([]int{1, 500, 1000, n / 50}) {
			b.Run(fmt.Sprintf("units=%d/page=%d/size=50", n, page), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					read(b, db, func(ctx context.Context, s *Snapshot) error {
						units, err := s.Units(ctx, id, (page-1)*50, 50)
						if err != nil || len(units) != 50 {
							return fmt.Errorf("%d units: %w", len(units), err)
						}
						return nil
					})
				}
			})
		}
	}
}

func BenchmarkUnit(b *testing.B) {
	const n = 50000
	db := openWith(b, "app")
	var units []FingerprintedUnit
	step(b, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
		_, units, err = fill(ctx, tx, 1, "en", n, nil)
		return err
	})
	for b.Loop() {
		read(b, db, func(ctx context.Context, s *Snapshot) error {
			_, err := s.Unit(ctx, units[n/2].ID)
			return err
		})
	}
}

// A ledger of a million entries in deltas of 20, in 20 translations.
func BenchmarkChanges(b *testing.B) {
	entries, perDelta, languages := 1000000, 20, 20
	if testing.Short() {
		entries = 50000
	}
	db := openWith(b, "app")
	started := time.Now()
	ids := fillLedger(b, db, entries, perDelta, languages)
	b.Logf("ledger: %.0f entries/s, units included", float64(entries)/time.Since(started).Seconds())
	for _, l := range []struct {
		name string
		q    ChangeQuery
		n    int
	}{
		{"translation", ChangeQuery{TranslationID: ids[3]}, entries / languages},
		{"component", ChangeQuery{ComponentID: 1}, entries},
		{"project", ChangeQuery{ProjectID: 1}, entries},
		{"server", ChangeQuery{}, entries},
	} {
		for _, offset := range []int{0, l.n / 2, l.n - 20} {
			q := l.q
			q.Offset, q.Limit = offset, 20
			b.Run(fmt.Sprintf("entries=%d/%s/offset=%d/size=20", entries, l.name, offset), func(b *testing.B) { page(b, db, q) })
		}
		for _, back := range []int{20, entries / 2} {
			q := l.q
			q.AfterID, q.Limit = int64(entries-back), 20
			want := 20
			if l.name == "translation" && back == 20 {
				want = 1
			}
			b.Run(fmt.Sprintf("entries=%d/%s/after=-%d/size=20", entries, l.name, back), func(b *testing.B) { pageOf(b, db, q, want) })
		}
	}
}

// Filtered pages over the ledger of BenchmarkChanges: first, deep, and counts;
// cold is the first query of a ledger, which reads its sums.
func BenchmarkFilteredChanges(b *testing.B) {
	entries, perDelta, languages := 1000000, 20, 20
	if testing.Short() {
		entries = 50000
	}
	db := openWith(b, "app")
	ids := fillLedger(b, db, entries, perDelta, languages)
	updates := []catalog.Action{catalog.ActionStringRepoUpdate}
	for _, l := range []struct {
		name string
		q    ChangeQuery
		n    int
	}{
		{"translation/action", ChangeQuery{TranslationID: ids[3], Actions: updates}, entries / languages},
		{"component/action", ChangeQuery{ComponentID: 1, Actions: updates}, entries},
		{"project/action", ChangeQuery{ProjectID: 1, Actions: updates}, entries},
		{"server/action", ChangeQuery{Actions: updates}, entries},
		{"server/time", ChangeQuery{From: day(1), To: day(2)}, entries},
		{"server/hidden", ChangeQuery{Components: []int64{1}}, entries},
		{"server/user", ChangeQuery{User: "author-7"}, 0},
	} {
		name := fmt.Sprintf("entries=%d/%s", entries, l.name)
		b.Run(name+"/count/cold", func(b *testing.B) {
			for b.Loop() {
				db.spans = history.NewSpans(history.SpanWidth, history.MaxSpans)
				countOf(b, db, l.q)
			}
		})
		b.Run(name+"/count", func(b *testing.B) {
			for b.Loop() {
				countOf(b, db, l.q)
			}
		})
		for _, offset := range []int{0, l.n / 2, l.n - 20} {
			if offset >= 0 && l.n > 0 {
				q := l.q
				q.Offset, q.Limit = offset, 20
				b.Run(fmt.Sprintf("%s/offset=%d/size=20", name, offset), func(b *testing.B) { page(b, db, q) })
			}
		}
	}
}

func countOf(b *testing.B, db *DB, q ChangeQuery) {
	read(b, db, func(ctx context.Context, s *Snapshot) error {
		_, err := s.Count(ctx, q)
		return err
	})
}

func page(b *testing.B, db *DB, q ChangeQuery) { pageOf(b, db, q, 20) }

func pageOf(b *testing.B, db *DB, q ChangeQuery, atLeast int) {
	b.ReportAllocs()
	for b.Loop() {
		read(b, db, func(ctx context.Context, s *Snapshot) error {
			if _, err := s.Count(ctx, q); err != nil {
				return err
			}
			got, err := s.Changes(ctx, q)
			if err != nil || len(got) < min(atLeast, q.Limit) && atLeast > 1 {
				return fmt.Errorf("%d entries: %w", len(got), err)
			}
			return nil
		})
	}
}

// fillLedger writes steps of 50 deltas over units that exist once.
func fillLedger(tb testing.TB, db *DB, entries, perDelta, languages int) []int64 {
	ids := make([]int64, languages)
	units := make([][]FingerprintedUnit, languages)
	step(tb, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
		var source []FingerprintedUnit
		for l := range ids {
			if ids[l], units[l], err = fill(ctx, tx, 1, fmt.Sprintf("l%d", l), 1000, source); err != nil {
				return err
			}
			source = units[0]
		}
		return nil
	})
	for at, n := 1, 0; n < entries; at++ {
		step(tb, db, info(at, at+1, 1), func(ctx context.Context, tx *StepTx) error {
			author, err := tx.User(ctx, fmt.Sprint("Author ", at%50), fmt.Sprintf("a%d@example.org", at%50), day(1))
			for d := 0; d < 1000 && n < entries && err == nil; d++ {
				l := (n / perDelta) % languages
				delta := Delta{ComponentID: 1, TranslationID: ids[l], AuthorID: author, Commit: head(at), CommitTime: day(1)}
				for i := range perDelta {
					u := units[l][(n+i)%1000]
					delta.Entries = append(delta.Entries, Entry{Action: catalog.ActionStringRepoUpdate, UnitID: u.ID, State: 20, OldState: 20, Target: u.Target, Old: "text before"})
				}
				n += perDelta
				err = tx.AddDelta(ctx, delta)
			}
			return err
		})
	}
	return ids
}
