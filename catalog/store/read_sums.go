package store

import (
	"context"
	"database/sql"
	"fmt"
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

// Sums adds up the stored statistics of translations, one Sum for each language,
// in the order of their codes. It reads the rows of translations, not units.
func (s *Snapshot) Sums(ctx context.Context, q SumQuery) ([]Sum, error) {
	sums := map[string]*Sum{}
	err := chunks(q.Components, func(chunk []any) error {
		n := len(chunk)
		query := `SELECT language, COUNT(*), SUM(total), SUM(total_words), SUM(total_chars), SUM(translated), SUM(translated_words), SUM(translated_chars),
			SUM(fuzzy), SUM(fuzzy_words), SUM(fuzzy_chars), SUM(readonly), SUM(readonly_words), SUM(readonly_chars),
			SUM(failing), SUM(failing_words), SUM(failing_chars), SUM(suggestions), SUM(comments), SUM(recent_changes), MAX(last_change_at)
			FROM translations WHERE component_id IN ` + list(1, n) + fmt.Sprintf(` AND removed = 0 AND is_source <= $%d`, n+1)
		args := append(chunk, smallint(q.Sources))
		if q.Language != "" {
			query += fmt.Sprintf(` AND language = $%d`, n+2)
			args = append(args, q.Language)
		}
		return s.s.query(ctx, query+` GROUP BY language`, args, func(scan scan) error {
			sum, err := scanSum(scan)
			if err == nil {
				if sums[sum.Language] == nil {
					sums[sum.Language] = &Sum{Language: sum.Language}
				}
				sums[sum.Language].Add(sum)
			}
			return err
		})
	})
	out := make([]Sum, 0, len(sums))
	for _, code := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, *sums[code])
	}
	return out, s.db.fail(ctx, "add up statistics", err)
}

func scanSum(scan scan) (Sum, error) {
	var sum Sum
	var last sql.NullInt64
	dest := []any{&sum.Language, &sum.Translations}
	for _, n := range counts(&sum.Stats) {
		dest = append(dest, n)
	}
	err := scan(append(dest, &sum.Stats.Suggestions, &sum.Stats.Comments, &sum.RecentChanges, &last)...)
	sum.LastChange = fromMicros(last)
	return sum, err
}

// Languages returns the codes of the live translations of components, sorted.
func (s *Snapshot) Languages(ctx context.Context, components []int64) ([]string, error) {
	seen := map[string]bool{}
	err := chunks(components, func(chunk []any) error {
		return s.s.query(ctx, `SELECT DISTINCT language FROM translations WHERE component_id IN `+list(1, len(chunk))+` AND removed = 0`, chunk, func(scan scan) error {
			var code string
			err := scan(&code)
			seen[code] = true
			return err
		})
	})
	return slices.Sorted(maps.Keys(seen)), s.db.fail(ctx, "read languages", err)
}
