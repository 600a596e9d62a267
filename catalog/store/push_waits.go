package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// PushWait says when the edits of a branch are pushed again. All processes go by it.
type PushWait struct {
	// Failures counts the pushes in a row that failed, Held those that left edits pending
	// which cannot be written.
	Failures, Held int
	// Unreached says that the repository could not be fetched: pulls try again with pauses
	// of their own, and one that succeeds is followed by a push.
	Unreached bool
	// Ended is when the last push ended; zero: there was none.
	Ended time.Time
	// Later is before when nothing is pushed, HeldTill before when what was left pending is
	// not tried again, Until before when the forge wants no requests.
	Later, HeldTill, Until time.Time
	// Wish is what a client of the cluster wished when a push failed; 0: nothing.
	Wish int64
}

// PushWait returns when the edits of a branch, by its ingest.BranchKey, are pushed again.
func (db *DB) PushWait(ctx context.Context, branch string) (w PushWait, err error) {
	err = db.pools.Readers.Transact(ctx, func(s *sqldb.Session) error {
		var unreached int64
		var ended, later, held, until sql.NullInt64
		found, err := s.First(ctx, `SELECT failures, held, unreached, ended, later, held_till, until, wish FROM push_waits WHERE branch = $1`, []any{branch},
			&w.Failures, &w.Held, &unreached, &ended, &later, &held, &until, &w.Wish)
		if found {
			w.Unreached, w.Ended, w.Later, w.HeldTill, w.Until = unreached != 0, sqldb.FromMicros(ended), sqldb.FromMicros(later), sqldb.FromMicros(held), sqldb.FromMicros(until)
		}
		return err
	})
	return w, db.fail(ctx, "read when edits are pushed again", err)
}

// SetPushWait stores when the edits of a branch are pushed again.
func (db *DB) SetPushWait(ctx context.Context, branch string, w PushWait) error {
	return db.fail(ctx, "store when edits are pushed again", db.write(ctx, func(s *sqldb.Session) error {
		return s.Do(ctx, `INSERT INTO push_waits (branch, failures, held, unreached, ended, later, held_till, until, wish) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (branch) DO UPDATE SET failures = excluded.failures, held = excluded.held, unreached = excluded.unreached, ended = excluded.ended,
			later = excluded.later, held_till = excluded.held_till, until = excluded.until, wish = excluded.wish`,
			branch, w.Failures, w.Held, sqldb.Smallint(w.Unreached), sqldb.Micros(w.Ended), sqldb.Micros(w.Later), sqldb.Micros(w.HeldTill), sqldb.Micros(w.Until), w.Wish)
	}))
}

// ForgetPushWaits has the edits of branches pushed, and their requests looked at, at once,
// unless a forge wants no requests.
func (db *DB) ForgetPushWaits(ctx context.Context, branches []string) error {
	return db.fail(ctx, "have edits pushed at once", db.write(ctx, func(s *sqldb.Session) error {
		for _, branch := range branches {
			if err := s.Do(ctx, `UPDATE push_waits SET failures = 0, held = 0, unreached = 0, ended = NULL, later = until, held_till = NULL WHERE branch = $1`, branch); err != nil {
				return err
			}
		}
		return nil
	}))
}
