package rows

import (
	"context"
	"errors"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// RecentChanges counts the entries of a translation in the RecentSpan that ends at
// last, the time of its newest entry. Times of a component never decrease, so it
// reads from the end and stops at the first older delta.
func RecentChanges(ctx context.Context, s *sqldb.Session, translation, last int64) (n int64, err error) {
	err = s.Query(ctx, `SELECT n, at FROM deltas d WHERE translation_id = $1`+NotSuggestions+` ORDER BY first_in_translation DESC`, []any{translation}, func(scan sqldb.Scan) error {
		var count, at int64
		if err := scan(&count, &at); err != nil {
			return err
		}
		if at <= last-catalog.RecentSpan.Microseconds() {
			return sqldb.ErrEnough
		}
		n += count
		return nil
	})
	if errors.Is(err, sqldb.ErrEnough) {
		err = nil
	}
	return n, err
}

// Conditions of deltas d. OfSuggestions selects those that are about suggestions, of the
// ones that have no entries 31, 59 and 63; NotSuggestions selects all others.
var (
	OfSuggestions = fmt.Sprintf(`EXISTS (SELECT 1 FROM changes c WHERE c.delta_id = d.id AND c.n = 0 AND c.action IN (%d, %d))`,
		catalog.ActionSuggestion, catalog.ActionSuggestionDelete)
	NotSuggestions = ` AND (d.added + d.updated + d.removed > 0 OR NOT ` + OfSuggestions + `)`
)

// SuggestionCount counts the units of a translation with suggestions.
func SuggestionCount(ctx context.Context, s *sqldb.Session, translation int64) (n int64, err error) {
	_, err = s.First(ctx, `SELECT COUNT(DISTINCT n.unit_id) FROM suggestions n JOIN units u ON u.id = n.unit_id WHERE n.translation_id = $1 AND u.removed = 0`, []any{translation}, &n)
	return n, err
}
