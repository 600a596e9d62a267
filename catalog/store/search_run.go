package store

import (
	"context"
	"database/sql"
	"errors"
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
