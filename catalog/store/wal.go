package store

import (
	"context"
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
// most for the busy timeout. It is housekeeping: what it cannot do now the next
// commit does.
func (db *DB) fold(ctx context.Context) {
	info, err := os.Stat(db.where + "-wal")
	if err != nil || info.Size() < foldAbove {
		return
	}
	err = db.writer.lend(ctx, func(s *session) error {
		var busy, frames, folded int64
		if _, err := s.first(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &frames, &folded); err != nil {
			return err
		}
		db.log.Debug("write-ahead log folded", "bytes", info.Size(), "readers in the way", busy != 0)
		return nil
	})
	if err != nil && ctx.Err() == nil {
		db.log.Warn("the write-ahead log cannot be folded into the database; reading gets slower until it can", "bytes", info.Size(), "error", err)
	}
}
