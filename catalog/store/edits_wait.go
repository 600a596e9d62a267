package store

import (
	"context"
	"fmt"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/cluster"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// NotePush stores what a push of the edits of components came to at a time: why it failed,
// or with the zero failure that it did not. Then held are the edits that stay pending, with
// the reason; the others have none. Reasons of texts that changed meanwhile are not stored.
// What failed before keeps its Since.
func (db *DB) NotePush(ctx context.Context, components []int64, problem catalog.Failure, held []Edit, at time.Time) error {
	return db.fail(ctx, "store what a push came to", db.write(ctx, func(s *sqldb.Session) error {
		changed, err := notePushProblem(ctx, s, components, StoredFailure(problem))
		if err == nil && !problem.Failed() {
			var others []int64
			others, err = noteHeld(ctx, s, components, held, at)
			changed = append(changed, others...)
		}
		if err != nil {
			return err
		}
		return noteChanged(ctx, s, changed)
	}))
}

func notePushProblem(ctx context.Context, s *sqldb.Session, components []int64, problem catalog.Failure) (changed []int64, err error) {
	err = s.IDsIn(ctx, `UPDATE components SET `+setFailure("push_problem")+` WHERE (push_problem <> $1 OR push_problem_kind <> $2) AND id IN $ids RETURNING id`,
		[]any{problem.Words, string(problem.Kind), sqldb.Micros(problem.Since)}, components, &changed)
	return changed, err
}

// noteHeld stores the reasons of pending edits, for those of files also since when they
// cannot be done, and returns the components of those whose reason changed.
func noteHeld(ctx context.Context, s *sqldb.Session, components []int64, held []Edit, at time.Time) (changed []int64, err error) {
	want := make(map[int64]Edit, len(held))
	for _, e := range held {
		e.Reason = problemText(e.Reason)
		want[e.ID] = e
	}
	noted, err := editsIn(ctx, s, components, ` WHERE e.status = 'pending' AND e.reason <> '' AND e.component_id IN $ids`)
	if err != nil {
		return nil, err
	}
	for _, e := range noted {
		if now, still := want[e.ID]; !still {
			e.Reason = ""
			want[e.ID] = e
		} else if now.Reason == e.Reason {
			delete(want, e.ID)
		}
	}
	for _, id := range sqldb.SortedKeys(want) {
		e := want[id]
		found, err := s.First(ctx, `UPDATE edits SET reason = $1, away_at = CASE WHEN unit_id <> 0 THEN away_at WHEN $1 = '' THEN 0 WHEN away_at = 0 THEN $5 ELSE away_at END
			WHERE id = $2 AND status = 'pending' AND target = $3 AND state = $4 RETURNING id`,
			[]any{e.Reason, id, e.Ours.Target, int64(e.Ours.State), at.UnixMicro()}, &id)
		if err != nil {
			return nil, err
		}
		if found {
			changed = append(changed, e.ComponentID)
		}
	}
	return changed, nil
}

// expireBatch bounds the edits that one call notes, returns or forgets.
const expireBatch = 500

// Clock is the time of the database, which the processes that share it agree on.
func (db *DB) Clock(ctx context.Context) (time.Time, error) {
	if !db.sql.Engine.Remote() {
		return db.now(), nil
	}
	var now time.Time
	err := db.pools.Readers.Transact(ctx, func(s *sqldb.Session) error {
		_, err := s.First(ctx, `SELECT `+cluster.Now, nil, &now)
		return err
	})
	return now, db.fail(ctx, "read the clock", err)
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
		var ids []int64
		err := s.IDs(ctx, `SELECT id FROM edits WHERE status = 'discarded' AND updated_at <= $1 AND id < (SELECT MAX(id) FROM edits) ORDER BY id LIMIT $2`,
			[]any{until.UnixMicro(), expireBatch}, &ids)
		n = len(ids)
		for _, rows := range []string{"edit_authors WHERE edit_id", "edit_events WHERE edit_id", "edits WHERE id"} {
			if err == nil {
				err = s.DoIn(ctx, `DELETE FROM `+rows+` IN $ids`, nil, ids)
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
