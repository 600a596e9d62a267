package store

import (
	"context"
	"errors"
	"os"
)

// foldAbove is the length of SQLite's write-ahead log, in bytes, from which on
// it is folded into the database after a commit. SQLite does that by itself only
// as far as no reader is in the way; after the import of a million units it left
// a log of 420 MB, in which every page read is searched for: a page of 50 units
// took 10 ms instead of 1.
const foldAbove = 32 << 20

// fold copies the write-ahead log into the database and starts it anew, if it
// is long. Readers go on meanwhile; it waits for those that began before, at
// most for the busy timeout, so that it leaves it be while one of ReadLong is
// open. It is housekeeping: what it cannot do now the next commit does; where
// something was in the way, another process perhaps, only when the log has grown
// as much again, lest every commit wait.
func (db *DB) fold(ctx context.Context) {
	if db.foldable(db.foldAt.Load()) {
		db.folded(ctx, db.writer.lend(ctx, db.foldBy(ctx)))
	}
}

// foldFree is fold if nobody is writing: whose commit folds.
func (db *DB) foldFree(ctx context.Context) {
	if db.foldable(foldAbove) {
		db.folded(ctx, db.writer.lendFree(ctx, db.foldBy(ctx)))
	}
}

// foldable reports whether the log is that long and nothing of ours is in the way.
func (db *DB) foldable(above int64) bool {
	info, err := os.Stat(db.where + "-wal")
	return err == nil && info.Size() >= above && db.longReads.Load() == 0
}

func (db *DB) foldBy(ctx context.Context) func(*session) error {
	return func(s *session) error {
		var busy, frames, folded int64
		if _, err := s.first(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &frames, &folded); err != nil {
			return err
		}
		next := int64(foldAbove)
		if info, err := os.Stat(db.where + "-wal"); busy != 0 && err == nil {
			next += info.Size()
		}
		db.foldAt.Store(next)
		db.log.Debug("write-ahead log folded", "frames", folded, "readers in the way", busy != 0)
		return nil
	}
}

func (db *DB) folded(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, errClosed) {
		db.log.Warn("the write-ahead log cannot be folded into the database; reading gets slower until it can", "error", err)
	}
}
