package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// SumQuery selects live translations to add up their statistics.
type SumQuery struct {
	// Components are the ids of the components of the translations.
	Components []int64
	// Language, if not empty, selects translations with this code in their URLs.
	Language string
	// Sources includes the source-language translations.
	Sources bool
}

// Sum holds the added up statistics of a set of translations. As in Weblate,
// aggregates include the source-language translations
// (docs/compatibility.md#statistics).
type Sum struct {
	// Language is the code that the translations have in common.
	Language string
	// Translations is the number of translations.
	Translations int64
	// Stats and RecentChanges are sums.
	Stats         catalog.Stats
	RecentChanges int64
	// Progress counts them for people: against the templates.
	Progress catalog.Progress
	// LastChange is the time of the newest change; zero without changes.
	LastChange time.Time
}

// Add adds another set.
func (s *Sum) Add(o Sum) {
	s.Translations += o.Translations
	s.Stats.Add(o.Stats)
	s.RecentChanges += o.RecentChanges
	s.Progress.Add(o.Progress)
	if o.LastChange.After(s.LastChange) {
		s.LastChange = o.LastChange
	}
}

// Sums adds up the statistics of translations, one Sum per language, ordered by
// code. It reads rows of translations, not units, and only of components that
// changed since the last call.
func (s *Snapshot) Sums(ctx context.Context, q SumQuery) ([]Sum, error) {
	defer s.s.About(q.Components...).End()
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
	return out, s.s.Fail(ctx, "add up statistics", err)
}

// Languages returns the codes of the live translations of components, sorted.
func (s *Snapshot) Languages(ctx context.Context, components []int64) ([]string, error) {
	defer s.s.About(components...).End()
	seen := map[string]bool{}
	err := s.sumsOf(ctx, components, func(_ int64, row *sumRow) { seen[row.Language] = true })
	return slices.Sorted(maps.Keys(seen)), s.s.Fail(ctx, "read languages", err)
}
