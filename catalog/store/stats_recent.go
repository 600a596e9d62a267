package store

import (
	"context"
	"errors"

	"github.com/repoglot/repoglot/catalog"
)

// errEnough ends a query early.
var errEnough = errors.New("enough rows")

// recentChanges counts the entries of a translation in the RecentSpan that ends at
// last, the time of its newest entry. Times of a component never decrease, so it
// reads from the end and stops at the first older delta.
func recentChanges(ctx context.Context, s *session, translation, last int64) (n int64, err error) {
	err = s.query(ctx, `SELECT n, at FROM deltas d WHERE translation_id = $1 ORDER BY first_in_translation DESC`, []any{translation}, func(scan scan) error {
		var count, at int64
		if err := scan(&count, &at); err != nil {
			return err
		}
		if at <= last-catalog.RecentSpan.Microseconds() {
			return errEnough
		}
		n += count
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return n, err
}
