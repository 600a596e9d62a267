package store

import (
	"context"
	"errors"
)

// longReaders is the number of snapshots of ReadLong that can be open at once.
// They do not count towards Options.Readers, so that slow clients do not block
// others.
const longReaders = 8

// ErrLongReads says that too many long reads are open: try again.
var ErrLongReads = errors.New("too many long reads are open")

// ErrSnapshotTooOld says that snapshots have been open for so long that the
// write-ahead log has become too long: end this one, try again later.
var ErrSnapshotTooOld = errors.New("the write-ahead log has become too long for a long read")

// ReadLong is Read for work that lasts as long as a client takes, such as sending
// a list of a million units. It neither takes a snapshot from Read nor delays
// steps, but it delays the checkpoints of SQLite's write-ahead log. So that the log
// does not grow without limit, fn must call Snapshot.CheckAge from time to time.
// ReadLong is ErrSnapshotTooOld if the log is too long already, and ErrLongReads if
// too many long reads are open.
func (db *DB) ReadLong(ctx context.Context, fn func(ctx context.Context, s *Snapshot) error) error {
	if !db.engine.beginLongRead() {
		return ErrLongReads
	}
	defer db.engine.endLongRead(context.WithoutCancel(ctx))
	if err := db.engine.checkAge(); err != nil {
		return err
	}
	return db.readFrom(ctx, db.engine.long, fn)
}

// CheckAge is ErrSnapshotTooOld if a snapshot of ReadLong must end.
func (s *Snapshot) CheckAge() error { return s.db.engine.checkAge() }
