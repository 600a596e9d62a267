package store

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// An engine that cannot call functions in Go evaluates the other conditions of a
// search: their rows have the texts and ids that the functions need, and the values
// of conditions that are combined with them.

// holds says whether a row of a stream is found; nil: what SQL selects is found.
type holds func(values []driver.Value) bool

// streamed writes an expression that every found row fulfils, and returns what else
// they must fulfil. In a negated expression the function's place is taken by FALSE
// instead of TRUE. conj says that the expression must hold: SQL sees to the
// conditions that it can express.
func (b *conditions) streamed(e query.Expr, negated, conj bool) (holds, error) {
	if _, ok := textTerms(e); ok {
		return b.streamedTexts(e, negated)
	}
	switch e := e.(type) {
	case query.And:
		list := gathered(e, func(list []query.Expr) query.Expr { return query.And(list) })
		all, err := b.streamedList(list, " AND ", negated, conj)
		if len(all) == 0 {
			return nil, err
		}
		return func(values []driver.Value) bool {
			return !slices.ContainsFunc(all, func(is holds) bool { return !is(values) })
		}, err
	case query.Or:
		list := gathered(e, func(list []query.Expr) query.Expr { return query.Or(list) })
		all, err := b.streamedList(list, " OR ", negated, false)
		return func(values []driver.Value) bool {
			return slices.ContainsFunc(all, func(is holds) bool { return is(values) })
		}, err
	case query.Not:
		b.text.WriteString("NOT (")
		is, err := b.streamed(e.X, !negated, false)
		b.text.WriteByte(')')
		return func(values []driver.Value) bool { return !is(values) }, err
	case inSet:
		return b.streamedMember(b.id(e.ofSource), e.set, negated, conj), nil
	case inTranslations:
		return b.streamedMember(`u.translation_id`, e.set, negated, conj), nil
	}
	return b.atom(conj, func() error { return b.expr(e) })
}

func (b *conditions) streamedList(list []query.Expr, word string, negated, conj bool) (all []holds, err error) {
	b.text.WriteByte('(')
	for i, e := range list {
		if i > 0 {
			b.text.WriteString(word)
		}
		is, err := b.streamed(e, negated, conj)
		if err != nil {
			return nil, err
		}
		if is != nil {
			all = append(all, is)
		}
	}
	b.text.WriteByte(')')
	return all, nil
}

// atom writes a condition that SQL can express. Its value is selected, unless it
// must hold.
func (b *conditions) atom(conj bool, write func() error) (holds, error) {
	start := b.text.Len()
	if err := write(); err != nil || conj {
		return nil, err
	}
	at := b.selected(`(` + b.text.String()[start:] + `)`)
	return func(values []driver.Value) bool { return values[at] != int64(0) }, nil
}

// selected adds to what is selected, and returns its place.
func (b *conditions) selected(what string) int {
	if at := slices.Index(b.columns, what); at >= 0 {
		return at
	}
	b.columns = append(b.columns, what)
	return len(b.columns) - 1
}

// inGo takes the place of a condition that is tested in Go.
func (b *conditions) inGo(negated bool) {
	b.text.WriteString(strings.ToUpper([]string{"true", "false"}[sqldb.Smallint(negated)]))
}

func (b *conditions) streamedTexts(e query.Expr, negated bool) (holds, error) {
	c := rowTest{fold: b.folder}
	test, err := c.predicate(e)
	if err != nil {
		return nil, err
	}
	at := make([]int, len(c.columns))
	for i, column := range c.columns {
		at[i] = b.selected(b.column(column))
	}
	b.inGo(negated)
	return func(values []driver.Value) bool {
		args := make([]driver.Value, len(at)+1)
		for i, n := range at {
			args[i+1] = values[n]
		}
		return test.row(args)
	}, nil
}

func (b *conditions) streamedMember(column string, set *idSet, negated, conj bool) holds {
	if !needsFunction(set) {
		is, _ := b.atom(conj, func() error { b.member(column, set); return nil })
		return is
	}
	at := b.selected(column)
	b.inGo(negated)
	return func(values []driver.Value) bool {
		id, _ := values[at].(int64)
		return set.has(id)
	}
}

// joinGroups is what a row must fulfil in Go if it must be in one of the groups.
func joinGroups(groups []holds) holds {
	if len(groups) == 1 {
		return groups[0]
	}
	return func(values []driver.Value) bool {
		return slices.ContainsFunc(groups, func(is holds) bool { return is == nil || is(values) })
	}
}

// stream calls found for the ids of a span, in order, until it returns false.
func (r *searcher) stream(ctx context.Context, span *searchSpan, found func(id int64) bool) error {
	part := &r.plan.parts[span.part]
	b := r.statement(strings.Join(append([]string{`u.id`}, part.columns...), ", "), span)
	b.text.WriteString(` ORDER BY u.id`)
	var id int64
	values := make([]driver.Value, len(part.columns))
	dest := []any{&id}
	for i := range values {
		dest = append(dest, (*any)(&values[i]))
	}
	more := true
	return r.s.s.QueryOnce(ctx, b.text.String(), b.args, func(scan sqldb.Scan) error {
		if !more {
			return nil
		}
		err := scan(dest...)
		if err == nil && part.holds(values) {
			more = found(id)
		}
		return err
	})
}
