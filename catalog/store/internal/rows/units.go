package rows

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Columns of units u, with the texts of their source units s and the failing checks f, and
// where they are from.
const (
	UnitColumns = `u.id, u.translation_id, u.source_id, u.id_hash, u.id_key, COALESCE(s.source, ''), COALESCE(s.context, ''),
		u.target, u.previous_source, u.note, u.flags, u.priority, u.state, COALESCE(s.words, 0), COALESCE(s.chars, 0), u.removed, u.created, u.remark,
		COALESCE(f.low, 0), COALESCE(f.high, 0)`
	UnitFrom = ` FROM units u LEFT JOIN units s ON s.id = u.source_id LEFT JOIN failing f ON f.unit_id = u.id`
)

// UnitFields are the fields that UnitColumns are copied to.
func UnitFields(u *catalog.Unit) []any {
	return []any{
		&u.ID, &u.TranslationID, &u.SourceID, &u.Identity.Hash, &u.Identity.Key, &u.Source, &u.Context,
		&u.Target, &u.PreviousSource, &u.Note, &u.Flags, &u.Priority, &u.State, &u.Words, &u.Chars, &u.Removed, &u.Created, &u.TranslatorBytes,
		&u.Failing[0], &u.Failing[1],
	}
}

// Units returns units by a condition, which may name an order.
func Units(ctx context.Context, s *sqldb.Session, where string, args ...any) ([]catalog.Unit, error) {
	return sqldb.Rows(ctx, s, `SELECT `+UnitColumns+UnitFrom+where, args, UnitFields)
}

// UnitsIn is Units for a condition with $ids.
func UnitsIn(ctx context.Context, s *sqldb.Session, ids []int64, where string, args ...any) ([]catalog.Unit, error) {
	return sqldb.RowsIn(ctx, s, `SELECT `+UnitColumns+UnitFrom+where, args, ids, UnitFields)
}
