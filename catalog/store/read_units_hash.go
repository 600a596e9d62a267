package store

import (
	"context"
	"fmt"
)

// UnitByHash returns the id of the unit of a translation with an id_hash. The hash
// is not unique: of several units a live one comes first, then the lowest id.
func (s *Snapshot) UnitByHash(ctx context.Context, translationID, hash int64) (id int64, found bool, err error) {
	const query = `SELECT id FROM units WHERE translation_id = $1 AND id_hash = $2 ORDER BY removed, id LIMIT 1`
	err = s.s.query(ctx, query, []any{translationID, hash}, func(scan scan) error {
		found = true
		return scan(&id)
	})
	return id, found, s.db.fail(ctx, fmt.Sprintf("find a string of translation %d by its hash", translationID), err)
}
