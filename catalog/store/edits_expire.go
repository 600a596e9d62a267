package store

import (
	"context"
	"fmt"
	"time"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// expireBatch bounds the edits that one call notes, returns or forgets.
const expireBatch = 500

// Clock is the time of the database, which the processes that share it agree on.
func (db *DB) Clock(ctx context.Context) (time.Time, error) {
	if !db.sql.Engine.Remote() {
		return db.now(), nil
	}
	var now int64
	err := db.pools.Readers.Transact(ctx, func(s *sqldb.Session) error {
		_, err := s.First(ctx, `SELECT `+clusterNow, nil, &now)
		return err
	})
	return time.UnixMicro(now).UTC(), db.fail(ctx, "read the clock", err)
}

// awayEdits are pending edits with a state of their string: gone from its file, or
// together with it.
const awayEdits = `SELECT e.id FROM edits e JOIN units u ON u.id = e.unit_id JOIN translations t ON t.id = e.translation_id WHERE e.status = 'pending'`

// NoteAway notes for pending edits since when files lack their strings, and that strings
// are back.
func (db *DB) NoteAway(ctx context.Context, now time.Time) error {
	return db.fail(ctx, "note whose strings are away", db.write(ctx, func(s *sqldb.Session) error {
		if err := s.Do(ctx, `UPDATE edits SET away_at = $1 WHERE id IN (`+awayEdits+` AND e.away_at = 0 AND (u.removed = 1 OR t.removed = 1) ORDER BY e.id LIMIT $2)`,
			now.UnixMicro(), expireBatch); err != nil {
			return err
		}
		return s.Do(ctx, `UPDATE edits SET away_at = 0 WHERE id IN (`+awayEdits+` AND e.away_at > 0 AND u.removed = 0 AND t.removed = 0 ORDER BY e.id LIMIT $1)`, expireBatch)
	}))
}

// AwaySince returns pending edits of configured components whose strings have been away
// since a time or longer, by translation and id.
func (s *Snapshot) AwaySince(ctx context.Context, since time.Time) ([]Edit, error) {
	list, err := editsWhere(ctx, s.s, ` WHERE e.status = 'pending' AND e.away_at > 0 AND e.away_at <= $1 AND e.translation_id IN (
		SELECT t.id FROM translations t JOIN components c ON c.id = t.component_id JOIN projects p ON p.id = c.project_id WHERE c.active = 1 AND p.active = 1)
		ORDER BY e.translation_id, e.id LIMIT $2`, since.UnixMicro(), expireBatch)
	return list, s.db.fail(ctx, "read edits whose strings are away", err)
}

// ForgetDiscarded deletes edits of strings and of files that were taken back, and
// suggestions that were answered, at a time or before it, and returns their number. The
// newest edit stays, so that no id is used twice. Texts that no branch of ours has since
// then cannot arrive any more.
func (db *DB) ForgetDiscarded(ctx context.Context, until time.Time) (n int, err error) {
	err = db.write(ctx, func(s *sqldb.Session) error {
		if n, err = forgetDiscarded(ctx, s, "edits", []string{"edit_authors WHERE edit_id", "edit_events WHERE edit_id", "edits WHERE id"}, until); err != nil {
			return err
		}
		files, err := forgetDiscarded(ctx, s, "file_edits", []string{"file_edits WHERE id"}, until)
		if n += files; err != nil {
			return err
		}
		return s.Do(ctx, `DELETE FROM sent WHERE left_at > 0 AND left_at <= $1 AND next_commit = ''
			AND NOT EXISTS (SELECT 1 FROM edits e WHERE e.unit_id = sent.unit_id AND e.status = 'pending')`, until.UnixMicro())
	})
	if err != nil {
		return 0, db.fail(ctx, fmt.Sprintf("forget edits that were taken back until %s", until.Format(time.DateOnly)), err)
	}
	return n, nil
}

// forgetDiscarded deletes such edits of one table from the tables that name them.
func forgetDiscarded(ctx context.Context, s *sqldb.Session, table string, columns []string, until time.Time) (n int, err error) {
	var ids []any
	err = s.Query(ctx, `SELECT id FROM `+table+` WHERE status = $1 AND updated_at <= $2 AND id < (SELECT MAX(id) FROM `+table+`) ORDER BY id LIMIT $3`,
		[]any{string(EditDiscarded), until.UnixMicro(), expireBatch}, func(scan sqldb.Scan) error {
			var id int64
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	for i := 0; err == nil && len(ids) > 0 && i < len(columns); i++ {
		err = s.Do(ctx, `DELETE FROM `+columns[i]+` IN `+sqldb.List(1, len(ids)), ids...)
	}
	return len(ids), err
}
