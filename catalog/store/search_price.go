package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

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
			c.translations, c.units = c.translations-1, c.units-t.units
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
		return terms.InTranslations{Set: idset.New(slices.Values(in))}
	})
}

// resolved returns the expression of a component with sets in place of the terms that no
// column of blocks answers.
func (s *Snapshot) resolved(ctx context.Context, c *searchComponent) (query.Expr, error) {
	e, err := terms.Simplify(c.expr, terms.RewriteHistory)
	if err != nil {
		return nil, err
	}
	bytes := 0
	e, err = terms.Simplify(e, func(e query.Expr) (query.Expr, error) {
		e, err := s.resolve(ctx, c, e)
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
	return terms.Simplify(e, terms.Lower)
}

// place is the condition that a unit is in one of the translations to search. It names
// those, or the others of the component if they are fewer.
func (c *searchComponent) place() query.Expr {
	if len(c.other) == 0 {
		return query.All
	}
	if len(c.other) < len(c.live) || c.live == nil {
		return query.Not{X: terms.InTranslations{Set: idset.New(slices.Values(c.other))}}
	}
	in := catalog.Each(c.live, func(t *searchTranslation) int64 { return t.id })
	return terms.InTranslations{Set: idset.New(slices.Values(in))}
}

// MaxSearchPrice bounds the price of a search: what takes about searchTime on two
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
// makes: those of one string, for each string of the translations. Conditions on ids leave
// fewer, but not of source strings, which are searched once for all translations.
func (s *Snapshot) searchPrice(list []searchComponent, e query.Expr) (price int64, err error) {
	lowered, err := terms.Simplify(e, terms.Lower)
	if err != nil {
		return 0, err
	}
	most, cost, sources := terms.Most(e), terms.PriceOfRow+terms.Price(e), int64(0)
	for i := range list {
		c := &list[i]
		c.decide(e, &s.db.searches.folder)
		if price += c.units; c.translations > 0 && query.Has(lowered, terms.IsOfSource) {
			sources += c.units / c.translations
		}
	}
	return min(price, min(price, most)+sources) * cost, nil
}
