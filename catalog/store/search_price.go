package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

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
