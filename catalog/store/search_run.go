package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/repoglot/repoglot/catalog"
)

// countSpans counts the matches of each span that is not counted yet.
func (s *Snapshot) countSpans(ctx context.Context, p *searchPlan, long bool) error {
	err := s.runShared(ctx, len(p.spans), long, func(s *Snapshot, each func(func(int) error) error) error {
		r := searcher{s: s, plan: p}
		defer r.close()
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
	defer r.close()
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

// searcher runs the statements of a plan on one session. They are prepared for one
// search and then closed: the number of different searches has no limit.
type searcher struct {
	s    *Snapshot
	plan *searchPlan

	part    int // the part of the fields below, if release is not nil
	release func()
	args    []any
	stmts   map[string]*sql.Stmt
}

// maxPrepared is the number of statements that a searcher keeps: the statements of
// components often have the same text.
const maxPrepared = 16

func (r *searcher) close() {
	r.leave()
	r.forget()
}

func (r *searcher) leave() {
	if r.release != nil {
		r.release()
		r.release = nil
	}
}

func (r *searcher) forget() {
	for _, stmt := range r.stmts {
		_ = stmt.Close()
	}
	r.stmts = nil
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

// statement prepares a statement. The arguments of the span come first, then those
// in r.args, then more.
func (r *searcher) statement(ctx context.Context, what string, span *searchSpan, tail string, more ...any) (*sql.Stmt, []any, error) {
	part := r.enter(span)
	where, args := ` WHERE u.id >= ? AND u.id < ?`, []any{span.lo, span.hi}
	if span.ids != nil {
		where, args = ` WHERE u.id IN `+bindStyle(list(1, listSize(len(span.ids)))), nil
		for i := range listSize(len(span.ids)) {
			args = append(args, span.ids[min(i, len(span.ids)-1)])
		}
	}
	args = append(append(args, r.args...), more...)
	text := `SELECT ` + what + part.from + where + ` AND u.removed = 0` + bindStyle(part.where) + tail
	if stmt := r.stmts[text]; stmt != nil {
		return stmt, args, nil
	}
	if len(r.stmts) >= maxPrepared {
		r.forget()
	}
	stmt, err := r.s.s.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	if r.stmts == nil {
		r.stmts = map[string]*sql.Stmt{}
	}
	r.stmts[text] = stmt
	return stmt, args, nil
}

func (r *searcher) count(ctx context.Context, span *searchSpan) error {
	stmt, args, err := r.statement(ctx, `COUNT(*)`, span, ``)
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(ctx, args...).Scan(&span.count)
}

func (r *searcher) ids(ctx context.Context, span *searchSpan, offset int64, limit int, ids []int64) (_ []int64, err error) {
	stmt, args, err := r.statement(ctx, `u.id`, span, ` ORDER BY u.id LIMIT ? OFFSET ?`, limit, offset)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

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
