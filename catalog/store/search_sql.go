package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

// sqlText is a condition with its arguments in order.
type sqlText struct {
	text strings.Builder
	args []any
}

// add writes a piece and a placeholder for an argument.
func (b *sqlText) add(piece string, arg any) {
	b.text.WriteString(piece)
	b.args = append(b.args, arg)
	b.text.WriteByte('$')
	b.text.WriteString(strconv.Itoa(len(b.args)))
}

// conditions writes the SQL of expressions over a unit u and its source unit s, and makes
// the tests of what SQL cannot express.
type conditions struct {
	sqlText
	folder  *query.Folder
	sources bool     // whether s is used
	texts   []string // SQL of the texts that tests need
	numbers []string // SQL of the numbers that tests need
	bytes   int      // size of the tests
}

// expr writes an expression with the value 0 or 1, never NULL, since NOT of NULL
// is NULL.
func (b *conditions) expr(e query.Expr) error {
	switch e := e.(type) {
	case query.And:
		return b.joined(e, " AND ")
	case query.Or:
		return b.joined(e, " OR ")
	case query.Not:
		b.text.WriteString("NOT (")
		err := b.expr(e.X)
		b.text.WriteByte(')')
		return err
	case query.Const:
		b.text.WriteString(strings.ToUpper(strconv.FormatBool(bool(e))))
		return nil
	case query.Text:
		b.add(b.column(e.Column)+` = `, e.Match.Pattern)
		return nil
	case query.Filled:
		b.text.WriteString(b.column(e.Column) + ` <> ''`)
		return nil
	case query.Plural:
		b.add(b.column(query.Source)+` LIKE `, "%\x1e\x1e%")
		return nil
	case query.Failing:
		b.failing(e)
		return nil
	case query.Number:
		return b.number(e)
	case terms.CreatedIn:
		b.created(e)
		return nil
	case terms.InSet:
		b.listed(b.id(e.OfSource), e.Set)
		return nil
	case terms.InTranslations:
		b.listed(`u.translation_id`, e.Set)
		return nil
	}
	return fmt.Errorf("no SQL for a term of type %T", e)
}

func (b *conditions) joined(list []query.Expr, word string) error {
	b.text.WriteByte('(')
	for i, e := range list {
		if i > 0 {
			b.text.WriteString(word)
		}
		if err := b.expr(e); err != nil {
			return err
		}
	}
	b.text.WriteByte(')')
	return nil
}

// column is the SQL of a text column, never NULL.
func (b *conditions) column(c query.Column) string {
	switch c {
	case query.Source, query.Context:
		b.sources = true
		return `COALESCE(s.` + string(c) + `, '')`
	}
	return `u.` + string(c)
}

func (b *conditions) number(n query.Number) error {
	var column string
	switch n.Field {
	case query.ID, query.State, query.Priority:
		column = `+u.` + string(n.Field) // +: keeps the planner from using the index, it has the span
	case query.SourceState:
		b.sources = true
		column = fmt.Sprintf(`COALESCE(s.state, %d)`, catalog.StateAbsent)
	default:
		return fmt.Errorf("no column for %s", n.Field)
	}
	b.text.WriteByte('(')
	for i, s := range n.Spans {
		if i > 0 {
			b.text.WriteString(" OR ")
		}
		b.add(column+` BETWEEN `, s.Lo)
		b.add(` AND `, s.Hi)
	}
	b.text.WriteByte(')')
	return nil
}

// failing writes a condition on the row of failing that units with failing checks
// have.
func (b *conditions) failing(f query.Failing) {
	b.text.WriteString(`EXISTS (SELECT 1 FROM failing WHERE unit_id = u.id`)
	if id, ok := checks.ByName(f.Check); ok {
		mask := checks.Mask{}.With(id)
		b.add(` AND ((low & `, int64(mask[0]))
		b.add(`) <> 0 OR (high & `, int64(mask[1]))
		b.text.WriteString(`) <> 0)`)
	}
	b.text.WriteByte(')')
}

func (b *conditions) created(c terms.CreatedIn) {
	column := `u.created`
	if c.OfSource {
		b.sources = true
		column = `s.created`
	}
	b.text.WriteString(`(` + column + ` IS NOT NULL`)
	if c.From != terms.MinTime {
		b.add(` AND `+column+` >= `, c.From)
	}
	if c.To != terms.MaxTime {
		b.add(` AND `+column+` < `, c.To)
	}
	b.text.WriteByte(')')
}

func (b *conditions) id(ofSource bool) string {
	if ofSource {
		return `u.source_id`
	}
	return `u.id`
}

// fewIDs is the number of ids up to which they are listed in the statement.
const fewIDs = 4

// isLarge reports whether a set is too large to be listed.
func isLarge(set *idset.Set) bool {
	ids, listed := set.Listed()
	return !listed || len(ids) > fewIDs
}

// listed writes the condition that a column is in a set.
func (b *conditions) listed(column string, set *idset.Set) {
	b.text.WriteString(`+` + column + ` IN `) // +: keeps the planner from using the index, it has the span
	ids, _ := set.Listed()
	for i, id := range ids {
		b.add([]string{`(`, `, `}[min(i, 1)], id)
	}
	b.text.WriteByte(')')
}

// countSpans counts the matches of each span that is not counted yet.
func (s *Snapshot) countSpans(ctx context.Context, p *searchPlan, long bool) error {
	err := s.runShared(ctx, len(p.spans), long, func(s *Snapshot, each func(func(int) error) error) error {
		return each(func(n int) error { return s.countSpan(ctx, p, &p.spans[n]) })
	})
	for i := range p.spans {
		p.total += p.spans[i].count
	}
	return err
}

func (s *Snapshot) countSpan(ctx context.Context, p *searchPlan, span *searchSpan) (err error) {
	part := &p.parts[span.part]
	switch b := part.from(span); {
	case span.counted:
	case part.test == nil:
		err = s.s.QueryOnce(ctx, `SELECT COUNT(*)`+b.text.String(), b.args, func(scan sqldb.Scan) error { return scan(&span.count) })
	default:
		span.count, err = s.s.QueryTested(ctx, part.tested(b), part.tester(&s.db.searches.folder), nil)
	}
	return err
}

// idsOf reads the ids of a page.
func (s *Snapshot) idsOf(ctx context.Context, p *searchPlan, offset int64, limit int) (ids []int64, err error) {
	for i := range p.spans {
		span := &p.spans[i]
		if offset >= span.count {
			offset -= span.count
			continue
		}
		most := int64(limit - len(ids))
		if most <= 0 {
			break
		}
		if err := s.eachFound(ctx, &p.parts[span.part], span, offset, most, func(id int64) { ids = append(ids, id) }); err != nil {
			return nil, err
		}
		offset = 0
	}
	return ids, nil
}

// from is what follows the selected columns in statements about a span. The arguments of
// the part come first, then those of the span.
func (p *searchPart) from(span *searchSpan) *sqlText {
	b := &sqlText{args: slices.Clone(p.args)}
	b.text.WriteString(p.tables + ` WHERE u.removed = 0` + p.where)
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
	var generation int64
	if helpers > 0 {
		var err error
		if generation, err = s.Generation(ctx); err != nil {
			return err
		}
	}
	errs := make([]error, helpers+1)
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

// runOnFree runs work on a free session that sees the same generation, if there is one.
func (db *DB) runOnFree(ctx context.Context, generation int64, work func(*Snapshot) error) error {
	return db.pools.Readers.TryTransact(ctx, func(session *sqldb.Session) error {
		s := &Snapshot{db: db, s: session}
		if now, err := s.Generation(ctx); err != nil || now != generation {
			return err
		}
		return work(s)
	})
}

// collect collects ids of a component, in n pieces of work.
func (s *Snapshot) collect(ctx context.Context, c *searchComponent, n int, piece func(s *Snapshot, i int, found *idset.Collector) error) (*idset.Collector, error) {
	first := c.ID * catalog.UnitsPerComponent
	all := &idset.Collector{First: first}
	var mu sync.Mutex
	err := s.runShared(ctx, n, c.long, func(s *Snapshot, each func(func(int) error) error) error {
		found := &idset.Collector{First: first}
		err := each(func(i int) error { return piece(s, i, found) })
		mu.Lock()
		defer mu.Unlock()
		all.Merge(found)
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
