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
	groups, err := s.resolved(ctx, c)
	if err != nil || len(groups) == 0 {
		return err
	}
	b := conditions{folder: &s.db.searches.folder}
	tests, err := b.where(whole(c, groups))
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
	return s.addSpans(ctx, p, c, groups)
}

// searchGroup is an expression with the translations to which it applies. The
// translations of a component are one group, unless the query distinguishes their
// languages.
type searchGroup struct {
	expr         query.Expr
	translations []searchTranslation
}

// groups returns the expression for each translation of a component, in which the terms
// about its place are decided. Translations in which nothing can match are in no group.
func (s *Snapshot) groups(c *searchComponent, e query.Expr) (groups []searchGroup, err error) {
	switch {
	case e == query.None:
		return nil, nil
	case !terms.HasScope(e):
		return []searchGroup{{e, c.live}}, nil
	}
	byText := map[string]int{}
	for i := range c.live {
		t := &c.live[i]
		here, err := terms.Simplify(e, func(term query.Expr) (query.Expr, error) {
			if p, ok := term.(query.Scope); ok {
				return query.Const(inScope(p, c.ComponentRow, t, &s.db.searches.folder)), nil
			}
			return term, nil
		})
		if err != nil {
			return nil, err
		}
		if here == query.None {
			continue
		}
		text := fmt.Sprintf("%#v", here)
		n, ok := byText[text]
		if !ok {
			n = len(groups)
			byText[text] = n
			groups = append(groups, searchGroup{expr: here})
		}
		groups[n].translations = append(groups[n].translations, *t)
	}
	return groups, nil
}

// resolved returns the groups of a component with sets in place of the terms that SQL
// cannot answer.
func (s *Snapshot) resolved(ctx context.Context, c *searchComponent) (groups []searchGroup, err error) {
	bytes := 0
	for _, g := range c.groups {
		if g.expr, err = terms.Simplify(g.expr, terms.RewriteHistory); err != nil {
			return nil, err
		}
		g.expr, err = terms.Simplify(g.expr, func(e query.Expr) (query.Expr, error) {
			e, err := s.resolve(ctx, c, g.translations, e)
			if in, ok := e.(terms.InSet); ok {
				bytes += in.Set.Size()
			}
			if err == nil && bytes > maxSearchBytes {
				err = ErrTooSlow
			}
			return e, err
		})
		if err != nil {
			return nil, err
		}
		if g.expr != query.None {
			groups = append(groups, g)
		}
	}
	return groups, nil
}

// whole is the expression of all groups of a component.
func whole(c *searchComponent, groups []searchGroup) query.Expr {
	if len(groups) == 1 {
		return query.And{place(c, groups[0].translations), groups[0].expr}
	}
	var all []searchTranslation
	var either query.Or
	for _, g := range groups {
		all = append(all, g.translations...)
		either = append(either, query.And{place(c, g.translations), g.expr})
	}
	return query.And{place(c, all), either}
}

// place is the condition that a unit is in one of some translations of a component. It
// names those, or the others if they are fewer.
func place(c *searchComponent, translations []searchTranslation) query.Expr {
	in := make([]int64, len(translations))
	for i := range in {
		in[i] = translations[i].id
	}
	slices.Sort(in)
	out := slices.Clone(c.other)
	for i := range c.live {
		if _, found := slices.BinarySearch(in, c.live[i].id); !found {
			out = append(out, c.live[i].id)
		}
	}
	slices.Sort(out)
	switch {
	case len(out) == 0:
		return query.All
	case len(out) < len(in):
		return query.Not{X: terms.InTranslations{Set: idset.New(out)}}
	}
	return terms.InTranslations{Set: idset.New(in)}
}

// addSpans divides the ids to look at into spans.
func (s *Snapshot) addSpans(ctx context.Context, p *searchPlan, c *searchComponent, groups []searchGroup) error {
	part := len(p.parts) - 1
	ids, known, lo, hi := candidates(groups)
	if known { // of any component: a query may name any id
		first, last := c.ID*catalog.UnitsPerComponent, (c.ID+1)*catalog.UnitsPerComponent
		p.few(part, slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return id < first || id >= last }))
		return nil
	}
	single := int64(0)
	if len(groups) == 1 && len(groups[0].translations) == 1 {
		single = groups[0].translations[0].id
	}
	from, to, err := s.idRange(ctx, c, single)
	if err != nil {
		return err
	}
	span := s.db.searches.spanUnits
	if single != 0 && to-from > span && to-from > maxGap*groups[0].translations[0].units {
		err := s.eachInLayout(ctx, groups[0].translations, func(p catalog.UnitPosition) {
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
	return s.countLive(ctx, p, c, groups)
}

// few adds spans with lists of ids.
func (p *searchPlan) few(part int, ids []int64) {
	for chunk := range slices.Chunk(ids, sqldb.ListSize(math.MaxInt)) {
		p.spans = append(p.spans, searchSpan{part: part, lo: chunk[0], hi: chunk[len(chunk)-1] + 1, ids: chunk})
	}
}

// candidates says which ids can match: if known is true only ids, otherwise ids
// within [lo, hi].
func candidates(groups []searchGroup) (ids []int64, known bool, lo, hi int64) {
	lo, hi = math.MaxInt64, math.MinInt64
	known = true
	for _, g := range groups {
		few, from, to := terms.Narrow(g.expr)
		known = known && few != nil
		ids = append(ids, few...)
		lo, hi = min(lo, from), max(hi, to)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if !known {
		ids = nil
	}
	return ids, known, lo, hi
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

// searchPrice groups the translations of components, and estimates how many comparisons a
// search makes: those of one string, for each string of the groups.
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
		if err == nil {
			list[i].groups, err = s.groups(&list[i], e)
		}
		for _, g := range list[i].groups {
			for _, t := range g.translations {
				price += t.units * cost
			}
		}
	}
	return min(price, most*cost), err
}
