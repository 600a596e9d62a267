package store

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

const (
	// spanUnits is the number of ids in a span, and of entries that one statement
	// reads: a few milliseconds of work.
	spanUnits = 1 << 14
	// maxGap is the number of ids per unit of a translation above which a lookup
	// per unit is faster than reading all ids in between.
	maxGap = 8
)

// searchPlan is a search, divided into spans of ids with their counts. A page is
// read from the spans that contain it.
type searchPlan struct {
	parts []searchPart
	spans []searchSpan // ascending
	total int64
	bytes int // size of the parts
}

// maxSearchBytes limits the sets and tests of one search; a set for a million
// strings takes 125 kB.
const maxSearchBytes = 64 << 20

// searchPart is the search of one component.
type searchPart struct {
	all     *idset.Set // not nil: what is found, and nothing else counts
	tables  string     // without an index: one of translations would be read whole for each span
	where   string     // the condition after the span's
	args    []any      // of where, texts and numbers
	texts   []string   // that test needs
	numbers []string   // that test needs
	test    rowTest    // what rows must fulfil in Go; nil: nothing
}

// searchSpan is a range [lo, hi) of ids, or a list of ids.
type searchSpan struct {
	part   int
	lo, hi int64
	ids    []int64 // if not nil, only these ids
	count  int64

	counted bool // count is known
}

// size is the approximate size of a plan in bytes.
func (p *searchPlan) size() int {
	n := p.bytes + 64*len(p.spans)
	for i := range p.spans {
		n += 8 * len(p.spans[i].ids)
	}
	return n
}

// plan adds the search of one component.
func (s *Snapshot) plan(ctx context.Context, p *searchPlan, c *searchComponent) error {
	e, err := s.resolved(ctx, c)
	if err != nil || e == query.None || len(c.live) == 0 {
		return err
	}
	b := conditions{folder: &s.db.searches.folder}
	tests, err := b.where(query.And{c.place(), e})
	if err != nil {
		return err
	}
	part := searchPart{tables: ` FROM units u` + s.s.DB.Dialect.RowOrder, where: b.text.String(), args: b.args, texts: b.texts, numbers: b.numbers, test: all(tests)}
	if p.bytes += 200 + len(part.where) + 16*len(part.args) + b.bytes; p.bytes > maxSearchBytes {
		return ErrTooSlow
	}
	if b.sources {
		part.tables += ` LEFT JOIN units s ON s.id = u.source_id`
	}
	p.parts = append(p.parts, part)
	return s.addSpans(ctx, p, c, e)
}

// decide sets the expression for a component, with sets of translations in place of the terms
// about places. Translations in which nothing can match are left out.
func (c *searchComponent) decide(e query.Expr, fold *query.Folder) {
	c.expr = e
	isScope := func(term query.Expr) bool {
		_, is := term.(query.Scope)
		return is
	}
	if !query.Has(e, isScope) {
		return
	}
	c.live = slices.DeleteFunc(c.live, func(t searchTranslation) bool {
		here := terms.Decided(e, func(p query.Scope) query.Expr { return query.Const(inScope(p, c.ComponentRow, &t, fold)) })
		if here == query.None {
			c.other = append(c.other, t.id)
		}
		return here == query.None
	})
	c.expr = terms.Decided(e, func(p query.Scope) query.Expr {
		var in []int64
		for i := range c.live {
			if inScope(p, c.ComponentRow, &c.live[i], fold) {
				in = append(in, c.live[i].id)
			}
		}
		if len(in) == 0 || len(in) == len(c.live) {
			return query.Const(len(in) > 0)
		}
		return terms.InTranslations{Set: idset.New(in)}
	})
}

// resolved returns the expression of a component with sets in place of the terms that SQL
// cannot answer.
func (s *Snapshot) resolved(ctx context.Context, c *searchComponent) (query.Expr, error) {
	e, err := terms.Simplify(c.expr, terms.RewriteHistory)
	if err != nil {
		return nil, err
	}
	bytes := 0
	return terms.Simplify(e, func(e query.Expr) (query.Expr, error) {
		e, err := s.resolve(ctx, c, e)
		if in, ok := e.(terms.InSet); ok {
			bytes += in.Set.Size()
		}
		if err == nil && bytes > maxSearchBytes {
			err = ErrTooSlow
		}
		return e, err
	})
}

// place is the condition that a unit is in one of the translations to search. It names
// those, or the others of the component if they are fewer.
func (c *searchComponent) place() query.Expr {
	if len(c.other) == 0 {
		return query.All
	}
	if len(c.other) < len(c.live) {
		slices.Sort(c.other)
		return query.Not{X: terms.InTranslations{Set: idset.New(c.other)}}
	}
	in := make([]int64, len(c.live))
	for i := range in {
		in[i] = c.live[i].id
	}
	return terms.InTranslations{Set: idset.New(in)}
}

// addSpans divides the ids to look at into spans.
func (s *Snapshot) addSpans(ctx context.Context, p *searchPlan, c *searchComponent, e query.Expr) error {
	part := len(p.parts) - 1
	ids, lo, hi := terms.Narrow(e)
	if ids != nil { // of any component: a query may name any id
		first, last := c.ID*catalog.UnitsPerComponent, (c.ID+1)*catalog.UnitsPerComponent
		p.few(part, slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return id < first || id >= last }))
		return nil
	}
	single := int64(0)
	if len(c.live) == 1 {
		single = c.live[0].id
	}
	from, to, err := s.idRange(ctx, c, single)
	if err != nil {
		return err
	}
	span := s.db.searches.spanUnits
	if single != 0 && to-from > span && to-from > maxGap*c.live[0].units {
		err := s.eachInLayout(ctx, c.live, func(p catalog.UnitPosition) {
			if lo <= p.ID && p.ID <= hi {
				ids = append(ids, p.ID)
			}
		})
		p.few(part, ids)
		return err
	}
	from, to = max(from, lo), min(to-1, hi)+1
	for ; from < to; from += span {
		p.spans = append(p.spans, searchSpan{part: part, lo: from, hi: min(from+span, to)})
	}
	return s.countLive(ctx, p, c, e)
}

// few adds spans with lists of ids.
func (p *searchPlan) few(part int, ids []int64) {
	for chunk := range slices.Chunk(ids, sqldb.ListSize(math.MaxInt)) {
		p.spans = append(p.spans, searchSpan{part: part, lo: chunk[0], hi: chunk[len(chunk)-1] + 1, ids: chunk})
	}
}

// MaxSearchPrice terms.Bounds the price of a search: what takes about searchTime on two
// cores.
const MaxSearchPrice = 100_000_000

// ErrPrice says that a search is not run, since it would compare too much.
type ErrPrice struct {
	// Price is the estimated number of comparisons, Most what is allowed.
	Price, Most int64
}

func (e *ErrPrice) Error() string {
	return fmt.Sprintf("the search would make about %d comparisons; at most %d are made", e.Price, e.Most)
}

type priceKey struct{}

// WithSearchPrice returns a context in which searches above a price fail with
// *ErrPrice before they read any string. Searches whose result is kept cost nothing.
func WithSearchPrice(ctx context.Context, most int64) context.Context {
	return context.WithValue(ctx, priceKey{}, most)
}

// searchPrice decides the terms about places, and estimates how many comparisons a search
// makes: those of one string, for each string of the translations.
func (s *Snapshot) searchPrice(list []searchComponent, e query.Expr) (price int64, err error) {
	lowered, err := terms.Simplify(e, func(term query.Expr) (query.Expr, error) {
		if n, ok := term.(query.Number); ok {
			return terms.IDsToSet(n), nil
		}
		return term, nil
	})
	few, lo, hi := terms.Narrow(lowered)
	most := int64(min(uint64(hi)-uint64(lo), 1<<43)) + 1 // times any price of a string, it stays in range
	if few != nil {
		most = min(most, int64(len(few)))
	}
	cost := terms.PriceOfRow + terms.Price(e)
	for i := range list {
		list[i].decide(e, &s.db.searches.folder)
		for _, t := range list[i].live {
			price += t.units * cost
		}
	}
	return min(price, most*cost), err
}
