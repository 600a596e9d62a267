package store

import (
	"context"
	"errors"
	"os"
)

const (
	// longReaders is the number of snapshots of ReadLong that can be open at once,
	// beside those of Read: who is slow takes no place from others.
	longReaders = 8
	// maxHeld is the length of the write-ahead log, in bytes, that snapshots of
	// ReadLong may hold back: SQLite cannot begin it anew while one needs it.
	maxHeld = 512 << 20
)

// ErrLongReads says that too many long reads are open: try again.
var ErrLongReads = errors.New("too many long reads are open")

// ErrSnapshotTooOld says that snapshots have been open for so long that the write-ahead
// log has become too long: end this one, try again in a while.
var ErrSnapshotTooOld = errors.New("the write-ahead log has become too long for a long read")

// ReadLong is Read for what takes as long as a client does, such as sending a
// list of a million units. It neither takes a place from Read nor holds up
// steps: while one runs the write-ahead log is not folded, and it is the next
// commit, or the end of the last one, that does it. So that the log does not
// grow without bound, fn has to ask Snapshot.Held now and then. It is ErrSnapshotTooOld
// if the log is too long already, and ErrLongReads if too many are open.
func (db *DB) ReadLong(ctx context.Context, fn func(ctx context.Context, s *Snapshot) error) error {
	if db.longReads.Add(1) > longReaders {
		db.longReads.Add(-1)
		return ErrLongReads
	}
	defer func() {
		if db.longReads.Add(-1) == 0 {
			db.foldFree(context.WithoutCancel(ctx))
		}
	}()
	if err := db.held(); err != nil {
		return err
	}
	return db.readFrom(ctx, db.long, fn)
}

// Held is ErrSnapshotTooOld if a snapshot of ReadLong has to end.
func (s *Snapshot) CheckAge() error { return s.db.held() }

func (db *DB) held() error {
	if info, err := os.Stat(db.where + "-wal"); err == nil && info.Size() > db.maxHeld {
		return ErrSnapshotTooOld
	}
	return nil
}
