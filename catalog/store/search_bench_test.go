package store

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
)

// BenchmarkSearch measures the count and the first page of searches among
// 200,000 strings of a translation with as many changes. Run it with
//
//	go test ./catalog/store -run '^$' -bench Search
func BenchmarkSearch(b *testing.B) {
	const units = 200_000
	db := openWith(b, "app")
	step(b, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
		_, source, err := fill(ctx, tx, 1, "en", units, nil)
		if err != nil {
			return err
		}
		id, translated, err := fill(ctx, tx, 1, "cs", units, source)
		if err != nil {
			return err
		}
		d := Delta{ComponentID: 1, TranslationID: id, Commit: head(1), At: day(1)}
		for _, u := range translated {
			d.Entries = append(d.Entries, Entry{Action: catalog.ActionStringRepoUpdate, UnitID: u.ID, State: u.State, Target: u.Target, Old: "before"})
		}
		return tx.AddDelta(ctx, d)
	})
	for _, q := range []string{
		`state:>=%d`, `target:text%d`, `"string number%d"`, `source:o note:="a note" NOT x%d`, `source:string target:x OR source:z context:y%d`,
		`source:r"[a-z]+ numbers$|x%d"`, `x%d OR aa OR bb OR cc OR dd OR ee OR ff OR gg OR hh OR ii`, `change_time:>=20%02d`, `changed:>=2%03d`,
	} {
		b.Run(q, func(b *testing.B) {
			n, before := 0, cpuTime()
			for b.Loop() {
				n++
				expr, err := query.Parse(fmt.Sprintf(q, n))
				if err != nil {
					b.Fatal(err)
				}
				read(b, db, func(ctx context.Context, s *Snapshot) error {
					c, err := s.Component(ctx, "demo", "app")
					if err != nil {
						return err
					}
					found, err := s.Search(ctx, SearchQuery{Components: map[int64]*ComponentRow{1: &c}, TranslationID: 2, Expr: expr})
					if err != nil {
						return err
					}
					_, _, err = found.Page(ctx, 0, 50)
					return err
				})
			}
			b.ReportMetric(float64((cpuTime()-before).Microseconds())/1000/float64(n), "cpu-ms/op")
		})
	}
}

// BenchmarkMissing measures pages of the strings that a file lacks, of a template of 100,000:
// one with 50,000 of them and one with 5,000. It compares both once, or for each page. Run it with
//
//	go test ./catalog/store -run '^$' -bench Missing
func BenchmarkMissing(b *testing.B) {
	const template = 100_000
	db := openWith(b, "app")
	step(b, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
		source, strings, err := fill(ctx, tx, 1, "en", template, nil)
		if err == nil {
			err = tx.s.Do(ctx, `UPDATE translations SET template = 1 WHERE id = $1`, source)
		}
		for _, n := range []int{50_000, 5000} {
			if err == nil {
				_, _, err = fill(ctx, tx, 1, fmt.Sprint("l", n), n, strings)
			}
		}
		return err
	})
	for id, has := range map[int64]int{2: 50_000, 3: 5000} {
		for _, place := range []string{"first", "last"} {
			for _, kept := range []bool{true, false} {
				b.Run(fmt.Sprintf("has=%d/%s/kept=%t", has, place, kept), func(b *testing.B) {
					for b.Loop() {
						if !kept {
							db.searches = newSearches(1)
						}
						read(b, db, func(ctx context.Context, s *Snapshot) error {
							c, err := s.Component(ctx, "demo", "app")
							if err != nil {
								return err
							}
							found, err := s.Search(ctx, SearchQuery{Components: map[int64]*ComponentRow{1: &c}, TranslationID: id, Missing: true, Expr: query.All})
							if err != nil || found.Count() != int64(template-has) {
								b.Fatal(found, err)
							}
							offset := int64(0)
							if place == "last" {
								offset = found.Count() - 50
							}
							units, _, err := found.Page(ctx, offset, 50)
							if len(units) != 50 {
								b.Fatal(len(units))
							}
							return err
						})
					}
				})
			}
		}
	}
}

// cpuTime is what the process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
