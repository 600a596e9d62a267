package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog/query"
)

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

// searchPrice estimates how many comparisons a search makes: those of one string,
// for each string of the translations that are in the scope of the query.
func (s *Snapshot) searchPrice(list []searchComponent, e query.Expr) (price int64, err error) {
	scoped := hasScope(e)
	cost, most := priceOf(e), idBound(e)
	for i := range list {
		c := &list[i]
		for n := range c.live {
			here := e
			if scoped {
				if here, err = s.inScope(e, c, &c.live[n]); err != nil {
					return 0, err
				}
			}
			if here != query.None {
				price += c.live[n].units * cost
			}
		}
	}
	return min(price, most*cost), nil
}

// inScope decides the terms of an expression that are about the place of a
// translation.
func (s *Snapshot) inScope(e query.Expr, c *searchComponent, t *searchTranslation) (query.Expr, error) {
	return simplify(e, func(term query.Expr) (query.Expr, error) {
		if p, ok := term.(query.Scope); ok {
			return query.Const(inScope(p, c.ComponentRow, t, &s.db.searches.folder)), nil
		}
		return term, nil
	})
}

// The prices of terms, for one string. Reading the string is 2; regular expressions
// take some ten times as long as looking for a text.
const (
	priceOfRow    = 2
	priceOfText   = 1
	priceOfRegexp = 10
	priceOfTerm   = 1
	anyColumns    = 3 // that a text without a field is compared with
)

func priceOf(e query.Expr) int64 { return priceOfRow + priceOfTerms(e) }

func priceOfTerms(e query.Expr) (sum int64) {
	switch e := e.(type) {
	case query.And:
		for _, x := range e {
			sum += priceOfTerms(x)
		}
		return sum
	case query.Or:
		return priceOfTerms(query.And(e))
	case query.Not:
		return priceOfTerms(e.X)
	case query.Const, query.Scope:
		return 0
	case query.Text:
		sum = priceOfText
		if e.Match.Kind == query.Regexp {
			sum = priceOfRegexp
		}
		if e.Column == "" {
			sum *= anyColumns
		}
		return sum
	}
	return priceOfTerm
}

// hasScope reports whether an expression has a term about places.
func hasScope(e query.Expr) bool {
	found := false
	_, _ = simplify(e, func(term query.Expr) (query.Expr, error) {
		_, ok := term.(query.Scope)
		found = found || ok
		return term, nil
	})
	return found
}

// idBound returns how many ids a conjunction allows; without a condition on ids
// maxTime.
func idBound(e query.Expr) int64 {
	list, ok := e.(query.And)
	if !ok {
		list = query.And{e}
	}
	most := int64(maxTime) / (1 << 20) // times any price of a string, it stays in range
	for _, x := range list {
		n, ok := x.(query.Number)
		if !ok || n.Field != query.ID {
			continue
		}
		ids := int64(0)
		for _, span := range n.Spans {
			if width := span.Hi - span.Lo + 1; width > 0 && width < most {
				ids = min(ids+width, most)
			} else {
				ids = most
			}
		}
		most = min(most, ids)
	}
	return most
}
