package rows

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// CountAgainst counts the live units of translations of a component, by translation.
func CountAgainst(ctx context.Context, s *sqldb.Session, component int64, translations []int64) (map[int64]catalog.Against, error) {
	all := map[int64]catalog.Against{}
	return all, sqldb.Chunks(translations, func(chunk []any) error {
		args := append([]any{component * catalog.UnitsPerComponent, (component + 1) * catalog.UnitsPerComponent}, chunk...)
		return s.Query(ctx, `SELECT u.translation_id, CASE WHEN x.changed_to > 0 AND u.id <> x.source_id THEN 1 ELSE 0 END, u.state, s.words, COUNT(*)
			FROM translations t CROSS JOIN extra_strings x CROSS JOIN units u CROSS JOIN units s
			WHERE t.id IN `+sqldb.List(3, len(chunk))+` AND t.removed = 0 AND x.source_id >= $1 AND x.source_id < $2
			AND u.translation_id = t.id AND u.source_id = x.source_id AND u.removed = 0 AND s.id = x.source_id GROUP BY 1, 2, 3, 4`, args, func(scan sqldb.Scan) error {
			var id, changed, state, words, n int64
			err := scan(&id, &changed, &state, &words, &n)
			a := all[id]
			a.Add(n, words, changed != 0, catalog.State(state))
			all[id] = a
			return err
		})
	})
}

// AgainstColumns are the columns of a translation t with its catalog.Against.
const AgainstColumns = `t.extra, t.extra_words, t.changed, t.changed_translated, t.changed_translated_words, t.changed_fuzzy`

// AgainstOf returns pointers to the values of AgainstColumns.
func AgainstOf(a *catalog.Against) []any {
	return []any{&a.Extra, &a.ExtraWords, &a.Changed, &a.ChangedTranslated, &a.ChangedTranslatedWords, &a.ChangedFuzzy}
}
