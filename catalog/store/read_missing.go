package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
)

// Missing returns up to limit strings of the template that a translation's file does not
// have in any form, as live source units, by id, starting at offset. It looks at every
// string of the component up to the last one that it returns: ask for it where they are
// not too many.
func (s *Snapshot) Missing(ctx context.Context, component, translation int64, offset, limit int) ([]catalog.Unit, error) {
	const has = `SELECT 1 FROM units o WHERE o.translation_id = $2 AND o.removed = 0 AND o.source_id = `
	return s.against(ctx, component, `SELECT u.id FROM translations t JOIN units u ON u.translation_id = t.id AND u.source_id = u.id AND u.removed = 0
		WHERE t.component_id = $1 AND t.is_source = 1 AND t.template = 1 AND NOT EXISTS (`+has+`u.id)
		AND NOT EXISTS (SELECT 1 FROM extra_strings x WHERE x.source_id = u.id)
		AND NOT EXISTS (SELECT 1 FROM extra_strings x WHERE x.changed_to = u.id AND EXISTS (`+has+`x.source_id)) ORDER BY u.id LIMIT $3 OFFSET $4`, component, translation, limit, offset)
}

// Changed returns up to limit units of a translation whose string the template has with
// another msgid_plural or without one, by id, starting at offset.
func (s *Snapshot) Changed(ctx context.Context, component, translation int64, offset, limit int) ([]catalog.Unit, error) {
	return s.against(ctx, component, `SELECT o.id FROM extra_strings x JOIN units o ON o.translation_id = $3 AND o.source_id = x.source_id AND o.removed = 0
		WHERE x.source_id >= $1 AND x.source_id < $2 AND x.changed_to > 0 ORDER BY o.id LIMIT $4 OFFSET $5`,
		component*catalog.UnitsPerComponent, (component+1)*catalog.UnitsPerComponent, translation, limit, offset)
}

func (s *Snapshot) against(ctx context.Context, component int64, query string, args ...any) ([]catalog.Unit, error) {
	defer s.s.About(component).End()
	var ids []int64
	err := s.s.IDs(ctx, query, args, &ids)
	if err != nil {
		return nil, s.s.Fail(ctx, fmt.Sprintf("compare with the template of component %d", component), err)
	}
	return s.UnitsByID(ctx, []int64{component}, ids)
}
