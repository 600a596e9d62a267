package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
)

// FailingUnits returns up to limit units of a translation that fail a check, by
// id, starting at offset. Position and Location are not set.
func (s *Snapshot) FailingUnits(ctx context.Context, translationID int64, offset, limit int) ([]catalog.Unit, error) {
	var units []catalog.Unit
	var r unitScan
	dest := r.dest()
	err := s.s.query(ctx, `SELECT `+unitColumns+unitFrom+` WHERE u.id IN (
		SELECT unit_id FROM failing WHERE translation_id = $1 ORDER BY unit_id LIMIT $2 OFFSET $3) ORDER BY u.id`,
		[]any{translationID, max(limit, 0), max(offset, 0)}, func(scan scan) error {
			err := scan(dest...)
			units = append(units, r.unit())
			return err
		})
	return units, s.db.fail(ctx, fmt.Sprintf("read failing units of translation %d", translationID), err)
}
