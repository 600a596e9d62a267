package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
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
	err = sqldb.Chunks(components, func(chunk []any) error {
		return s.Query(ctx, `UPDATE components SET `+setFailure("push_problem")+`
			WHERE (push_problem <> $1 OR push_problem_kind <> $2) AND id IN `+sqldb.List(4, len(chunk))+` RETURNING id`,
			append([]any{problem.Words, string(problem.Kind), sqldb.Micros(problem.Since)}, chunk...), func(scan sqldb.Scan) error {
				var id int64
				err := scan(&id)
				changed = append(changed, id)
				return err
			})
	})
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
	err = sqldb.Chunks(components, func(chunk []any) error {
		rows, err := editsWhere(ctx, s, ` WHERE e.status = 'pending' AND e.reason <> '' AND e.component_id IN `+sqldb.List(1, len(chunk)), chunk...)
		for _, e := range rows {
			if now, still := want[e.ID]; !still {
				e.Reason = ""
				want[e.ID] = e
			} else if now.Reason == e.Reason {
				delete(want, e.ID)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
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
