package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/repoglot/repoglot/catalog"
)

// maxSearchers is the number of snapshots that one search uses.
const maxSearchers = 4

// runShared divides n pieces of work. It runs work on this snapshot and, if a
// search is long, on free snapshots of the same generation. Each work function
// passes each a function, which is called for the numbers of pieces that no other
// has taken.
func (s *Snapshot) runShared(ctx context.Context, n int, long bool, work func(s *Snapshot, each func(func(int) error) error) error) error {
	generation, err := s.Generation(ctx)
	if err != nil {
		return err
	}
	var next atomic.Int64
	var failed atomic.Bool
	each := func(do func(int) error) error {
		for i := next.Add(1) - 1; i < int64(n) && !failed.Load(); i = next.Add(1) - 1 {
			if err := do(int(i)); err != nil {
				failed.Store(true)
				return err
			}
		}
		return nil
	}
	helpers := 0
	if long {
		helpers = min(maxSearchers, runtime.GOMAXPROCS(0), n) - 1
	}
	errs := make([]error, max(helpers, 0)+1)
	var wg sync.WaitGroup
	for i := range len(errs) - 1 {
		wg.Go(func() {
			errs[i+1] = recovering(func() error {
				return s.db.runOnFree(ctx, generation, func(s *Snapshot) error { return work(s, each) })
			})
		})
	}
	errs[0] = work(s, each)
	wg.Wait()
	return errors.Join(errs...)
}

// runOnFree runs work on a free snapshot of a generation, if there is one.
func (db *DB) runOnFree(ctx context.Context, generation int64, work func(*Snapshot) error) error {
	return db.engine.readers.tryTransact(ctx, snapshotOptions(), func(session *session) error {
		s := &Snapshot{db: db, s: session}
		now, err := s.Generation(ctx)
		if err != nil || now != generation {
			return err
		}
		return work(s)
	})
}

// collect collects ids of a component, in n pieces of work.
func (s *Snapshot) collect(ctx context.Context, c *searchComponent, n int, piece func(s *Snapshot, i int, found *idCollector) error) (*idCollector, error) {
	first := c.ID * catalog.UnitsPerComponent
	all := &idCollector{first: first}
	var mu sync.Mutex
	err := s.runShared(ctx, n, c.long, func(s *Snapshot, each func(func(int) error) error) error {
		found := &idCollector{first: first}
		err := each(func(i int) error { return piece(s, i, found) })
		mu.Lock()
		defer mu.Unlock()
		all.merge(found)
		return err
	})
	return all, err
}

// recovering turns a panic into an error, for code that no caller can recover
// from.
func recovering(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return fn()
}
