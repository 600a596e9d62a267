package store

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/cluster"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// Several processes change one string at a time, each in a project of its own: the
// clock is all that they share. fence is with the lease of a pull. Each process has
// connections of its own; PostgreSQL is the one of the tests, which does not wait for
// the disk, unless REPOGLOT_TEST_DATABASE names another.
func BenchmarkWriters(b *testing.B) {
	for _, writers := range []int{1, 2, 6} {
		for _, fence := range []bool{false, true} {
			if !pgtest.Chosen() && (writers > 1 || fence) {
				continue // SQLite has one writer and no leases
			}
			b.Run(fmt.Sprintf("writers=%d/fence=%t", writers, fence), func(b *testing.B) { benchmarkWriters(b, writers, fence) })
		}
	}
}

func benchmarkWriters(b *testing.B, writers int, fence bool) {
	path := filepath.Join(b.TempDir(), "test.db")
	var projects, branches []string
	var specs []ComponentSpec
	for w := range writers {
		s := spec(fmt.Sprintf("p%d", w), "app")
		s.Branch = fmt.Sprintf("b%d", w)
		projects, branches, specs = append(projects, s.Project), append(branches, fmt.Sprintf("p%d h%d b%d", w, w, w)), append(specs, s)
	}
	first := openAt(b, path)
	if err := first.Configure(b.Context(), projectsNamed(projects...), specs, nil); err != nil {
		b.Fatal(err)
	}
	if fence {
		adopt(b, first, testCopy, branches...)
	}
	all := make([]*writer, writers)
	for i := range all {
		all[i] = newWriter(b, path, int64(i+1), specs[i].Branch, fence)
	}
	var group sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	for _, w := range all {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				if err := w.change(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}

// writer is a process that pulls one branch.
type writer struct {
	ctx         context.Context
	db          *DB
	component   int64
	translation int64
	branch      string
	units       []FingerprintedUnit
	at          int
}

func newWriter(b *testing.B, path string, component int64, branch string, fence bool) *writer {
	w := &writer{ctx: b.Context(), db: openAt(b, path), component: component, branch: branch}
	if fence {
		lease, ok, err := w.db.Cluster().Take(w.ctx, room(fmt.Sprint(component), time.Hour))
		if err != nil || !ok {
			b.Fatal("no lease: ", err)
		}
		w.ctx = cluster.WithFence(w.ctx, lease.Fence)
	}
	if err := w.step(func(ctx context.Context, tx *StepTx) (err error) {
		w.translation, w.units, err = fill(ctx, tx, component, "en", 1000, nil)
		return err
	}); err != nil {
		b.Fatal(err)
	}
	return w
}

func (w *writer) step(fn func(ctx context.Context, tx *StepTx) error) error {
	i := info(w.at, w.at+1, w.component)
	i.Branch = w.branch
	_, err := w.db.Step(w.ctx, i, fn)
	w.at++
	return err
}

// change changes one string.
func (w *writer) change() error {
	return w.step(func(ctx context.Context, tx *StepTx) error {
		u := *w.units[w.at%len(w.units)].Unit
		u.Target = fmt.Sprint("changed ", w.at)
		if err := tx.UpdateUnits(ctx, []FingerprintedUnit{{Unit: &u, Text: int64(w.at), Meta: 1}}); err != nil {
			return err
		}
		return tx.AddDelta(ctx, Delta{ComponentID: w.component, TranslationID: w.translation, Entries: []Entry{
			{Action: catalog.ActionStringRepoUpdate, UnitID: u.ID, State: u.State, OldState: u.State, Target: u.Target, Old: "before"},
		}})
	})
}
