package sqldb

import (
	"context"
	"fmt"
)

// idLock is the first half of the key of the advisory lock that every transaction
// holds that takes ids from the sequences of tables; the other is the id of the
// schema.
const idLock = 0x72657069

// takeIDs makes the sequences go on after the largest ids, so that a transaction
// that was rolled back, or a process that was killed, leaves no gap. Nothing is done
// if another transaction has taken ids that nobody sees yet: then a gap may stay. The
// exclusive lock ends with the inner block, the change of a sequence does not.
var takeIDs = fmt.Sprintf(`DO $$
DECLARE schema INTEGER = current_schema()::regnamespace::oid::int;
BEGIN
	BEGIN
		IF pg_try_advisory_xact_lock(%[1]d, schema) THEN
			PERFORM setval(pg_get_serial_sequence(t, 'id'), newest + 1, FALSE) FROM (
				SELECT 'projects' AS t, COALESCE(MAX(id), 0) AS newest FROM projects
				UNION ALL SELECT 'components', COALESCE(MAX(id), 0) FROM components
				UNION ALL SELECT 'translations', COALESCE(MAX(id), 0) FROM translations
				UNION ALL SELECT 'users', COALESCE(MAX(id), 0) FROM users
				UNION ALL SELECT 'compared_scopes', COALESCE(MAX(id), 0) FROM compared_scopes
				UNION ALL SELECT 'file_pieces', COALESCE(MAX(id), 0) FROM file_pieces) AS newest;
		END IF;
		RAISE EXCEPTION 'unlock';
	EXCEPTION WHEN raise_exception THEN
		NULL;
	END;
	PERFORM pg_advisory_xact_lock_shared(%[1]d, schema);
END $$`, idLock)

// WillTakeIDs is called before a statement that takes an id from a sequence.
func (s *Session) WillTakeIDs(ctx context.Context) error {
	if s.DB.Dialect.Sqlite || s.takesIDs {
		return nil
	}
	s.takesIDs = true
	return s.Do(ctx, takeIDs)
}
