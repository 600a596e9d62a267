package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// SumQuery selects live translations whose statistics are added up.
type SumQuery struct {
	// Components are the ids of the components whose translations count.
	Components []int64
	// Language, if not empty, leaves those with this code in their URLs.
	Language string
	// Sources leaves out the source-language translations if it is false.
	Sources bool
}

// Sum is the statistics of a set of translations added up (weblate-facts §6:
// aggregates are plain sums, the source-language translations among them).
type Sum struct {
	// Language is the code that the set has in common.
	Language string
	// Translations is how many there are.
	Translations int64
	// Stats and RecentChanges are sums.
	Stats         catalog.Stats
	RecentChanges int64
	// LastChange is the newest; zero if there is none.
	LastChange time.Time
}

// Add adds another set.
func (s *Sum) Add(o Sum) {
	s.Translations += o.Translations
	s.Stats.Add(o.Stats)
	s.RecentChanges += o.RecentChanges
	if o.LastChange.After(s.LastChange) {
		s.LastChange = o.LastChange
	}
}

// Sums adds up the statistics of translations, one Sum for each language, in the
// order of their codes. It reads the rows of translations, not units, and those
// of components that changed alone.
func (s *Snapshot) Sums(ctx context.Context, q SumQuery) ([]Sum, error) {
	sums := map[string]*Sum{}
	err := s.sumsOf(ctx, q.Components, func(_ int64, row *sumRow) {
		if row.source && !q.Sources || q.Language != "" && q.Language != row.Language {
			return
		}
		sum := sums[row.Language]
		if sum == nil {
			sum = &Sum{Language: row.Language}
			sums[row.Language] = sum
		}
		sum.Add(row.Sum)
	})
	out := make([]Sum, 0, len(sums))
	for _, code := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, *sums[code])
	}
	return out, s.db.fail(ctx, "add up statistics", err)
}

// Languages returns the codes of the live translations of components, sorted.
func (s *Snapshot) Languages(ctx context.Context, components []int64) ([]string, error) {
	seen := map[string]bool{}
	err := s.sumsOf(ctx, components, func(_ int64, row *sumRow) { seen[row.Language] = true })
	return slices.Sorted(maps.Keys(seen)), s.db.fail(ctx, "read languages", err)
}
