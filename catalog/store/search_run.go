package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// countSpans counts the matches of each span that is not counted yet.
func (s *Snapshot) countSpans(ctx context.Context, p *searchPlan, long bool) error {
	err := s.runShared(ctx, len(p.spans), long, func(s *Snapshot, each func(func(int) error) error) error {
		r := searcher{s: s, plan: p}
		defer r.leave()
		return each(func(n int) error {
			if p.spans[n].counted {
				return nil
			}
			return r.count(ctx, &p.spans[n])
		})
	})
	for i := range p.spans {
		p.total += p.spans[i].count
	}
	return err
}

// idsOf reads the ids of a page.
func (s *Snapshot) idsOf(ctx context.Context, p *searchPlan, offset int64, limit int) ([]int64, error) {
	r := searcher{s: s, plan: p}
	defer r.leave()
	var ids []int64
	for i := range p.spans {
		span := &p.spans[i]
		if offset >= span.count {
			offset -= span.count
			continue
		}
		if len(ids) >= limit {
			break
		}
		var err error
		if ids, err = r.ids(ctx, span, offset, limit-len(ids), ids); err != nil {
			return nil, err
		}
		offset = 0
	}
	return ids, nil
}

// searcher runs the statements of a plan on one session.
type searcher struct {
	s    *Snapshot
	plan *searchPlan

	part    int // the part of the fields below, if release is not nil
	release func()
	args    []any
}

// leave ends the use of a part.
func (r *searcher) leave() {
	if r.release != nil {
		r.release()
		r.release = nil
	}
}

// enter registers the predicates of a span's part and makes its arguments.
func (r *searcher) enter(span *searchSpan) *searchPart {
	part := &r.plan.parts[span.part]
	if r.release != nil && r.part == span.part {
		return part
	}
	r.leave()
	first, release := r.s.db.searches.predicates.register(part.predicates)
	r.part, r.release = span.part, release
	r.args = r.args[:0]
	for _, arg := range part.args {
		if n, ok := arg.(predicateArg); ok {
			arg = first + int64(n)
		}
		r.args = append(r.args, arg)
	}
	return part
}

// statement is the statement that reads what of a span. The arguments of the part
// come first, then those of the span.
func (r *searcher) statement(what string, span *searchSpan) *sqlText {
	part := r.enter(span)
	b := &sqlText{args: slices.Clone(r.args)}
	b.text.WriteString(`SELECT ` + what + part.from + ` WHERE u.removed = 0` + part.where)
	if span.ids == nil {
		b.add(` AND u.id >= `, span.lo)
		b.add(` AND u.id < `, span.hi)
		return b
	}
	n := sqldb.ListSize(len(span.ids))
	b.text.WriteString(` AND u.id IN ` + sqldb.List(len(b.args)+1, n))
	for i := range n {
		b.args = append(b.args, span.ids[min(i, len(span.ids)-1)])
	}
	return b
}

func (r *searcher) count(ctx context.Context, span *searchSpan) error {
	if r.plan.parts[span.part].holds != nil {
		return r.stream(ctx, span, func(int64) bool {
			span.count++
			return true
		})
	}
	b := r.statement(`COUNT(*)`, span)
	return r.s.s.QueryOnce(ctx, b.text.String(), b.args, func(scan sqldb.Scan) error { return scan(&span.count) })
}

func (r *searcher) ids(ctx context.Context, span *searchSpan, offset int64, limit int, ids []int64) ([]int64, error) {
	if r.plan.parts[span.part].holds != nil {
		err := r.stream(ctx, span, func(id int64) bool {
			if offset--; offset < 0 {
				ids = append(ids, id)
				limit--
			}
			return limit > 0
		})
		return ids, err
	}
	b := r.statement(`u.id`, span)
	b.add(` ORDER BY u.id LIMIT `, limit)
	b.add(` OFFSET `, offset)
	err := r.s.s.QueryOnce(ctx, b.text.String(), b.args, func(scan sqldb.Scan) error {
		var id int64
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// maxSearchers is the number of snapshots that one search uses.
const maxSearchers = 4

// runShared divides n pieces of work. It runs work on this snapshot and, if a
// search is long, on free sessions that see the same. Each work function
// passes each a function, which is called for the numbers of pieces that no other
// has taken.
func (s *Snapshot) runShared(ctx context.Context, n int, long bool, work func(s *Snapshot, each func(func(int) error) error) error) error {
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
		helpers = max(min(maxSearchers, runtime.GOMAXPROCS(0), n)-1, 0)
	}
	var same sameState
	if helpers > 0 {
		var err error
		if same, err = s.sameState(ctx); err != nil {
			return err
		}
	}
	errs := make([]error, helpers+1)
	var wg sync.WaitGroup
	for i := range len(errs) - 1 {
		wg.Go(func() {
			errs[i+1] = recovering(func() error {
				return s.db.runOnFree(ctx, same, func(s *Snapshot) error { return work(s, each) })
			})
		})
	}
	errs[0] = work(s, each)
	wg.Wait()
	return errors.Join(errs...)
}

// sameState is what other sessions must see to take part in a search.
type sameState struct {
	snapshot   string // to adopt; "": the engine has none
	generation int64  // without it
}

func (s *Snapshot) sameState(ctx context.Context) (same sameState, err error) {
	if same.snapshot, err = s.s.Conn.Export(ctx); err == nil && same.snapshot == "" {
		same.generation, err = s.Generation(ctx)
	}
	return same, err
}

// runOnFree runs work on a free session that sees the same, if there is one.
func (db *DB) runOnFree(ctx context.Context, same sameState, work func(*Snapshot) error) error {
	return db.pools.Readers.TryTransact(ctx, func(session *sqldb.Session) error {
		s := &Snapshot{db: db, s: session}
		if same.snapshot != "" {
			session.Conn.Adopt(same.snapshot)
			return work(s)
		}
		now, err := s.Generation(ctx)
		if err != nil || now != same.generation {
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
