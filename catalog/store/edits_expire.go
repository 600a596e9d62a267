package store

import (
	"context"
	"fmt"
	"time"

	"github.com/repoglot/repoglot/catalog/store/cluster"
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
		_, err := s.First(ctx, `SELECT `+cluster.Now, nil, &now)
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

// AwaySince returns pending edits of configured components that cannot be done since a time
// or longer, by component, translation and id: those of texts whose strings have been away,
// or those of files.
func (s *Snapshot) AwaySince(ctx context.Context, since time.Time, files bool) ([]Edit, error) {
	list, err := editsWhere(ctx, s.s, ` WHERE e.status = 'pending' AND e.away_at > 0 AND e.away_at <= $1 AND (e.unit_id = 0) = (CAST($2 AS BIGINT) = 1) AND c.active = 1 AND p.active = 1
		ORDER BY e.component_id, e.translation_id, e.id LIMIT $3`, since.UnixMicro(), sqldb.Smallint(files), expireBatch)
	return list, s.s.Fail(ctx, "read edits that cannot be done", err)
}

// ForgetDiscarded deletes edits that were taken back, and
// suggestions that were answered, at a time or before it, and returns their number. The
// newest edit stays, so that no id is used twice. Texts that no branch of ours has since
// then cannot arrive any more.
func (db *DB) ForgetDiscarded(ctx context.Context, until time.Time) (n int, err error) {
	err = db.write(ctx, func(s *sqldb.Session) error {
		var ids []any
		err := s.Query(ctx, `SELECT id FROM edits WHERE status = 'discarded' AND updated_at <= $1 AND id < (SELECT MAX(id) FROM edits) ORDER BY id LIMIT $2`,
			[]any{until.UnixMicro(), expireBatch}, func(scan sqldb.Scan) error {
				var id int64
				err := scan(&id)
				ids = append(ids, id)
				return err
			})
		n = len(ids)
		for _, rows := range []string{"edit_authors WHERE edit_id", "edit_events WHERE edit_id", "edits WHERE id"} {
			if err == nil && n > 0 {
				err = s.Do(ctx, `DELETE FROM `+rows+` IN `+sqldb.List(1, n), ids...)
			}
		}
		if err != nil {
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
