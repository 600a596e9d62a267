package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
)

// Missing returns up to limit strings of a component that a translation does not have, its
// live source units, by id, starting at offset. It looks at every string of the component
// up to the last one that it returns: ask for it where they are not too many.
func (s *Snapshot) Missing(ctx context.Context, component, translation int64, offset, limit int) ([]catalog.Unit, error) {
	defer s.about(component).end()
	var ids []int64
	err := s.s.query(ctx, `SELECT u.id FROM translations t JOIN units u ON u.translation_id = t.id AND u.source_id = u.id AND u.removed = 0
		WHERE t.component_id = $1 AND t.is_source = 1 AND NOT EXISTS (SELECT 1 FROM units o WHERE o.translation_id = $2 AND o.source_id = u.id AND o.removed = 0)
		ORDER BY u.id LIMIT $3 OFFSET $4`, []any{component, translation, limit, offset}, func(scan scan) error {
		var id int64
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, s.db.fail(ctx, fmt.Sprintf("read what translation %d does not have", translation), err)
	}
	return s.UnitsByID(ctx, []int64{component}, ids)
}
