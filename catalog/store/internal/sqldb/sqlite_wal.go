package sqldb

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
)

const (
	// checkpointAbove is the length in bytes of SQLite's write-ahead log from which
	// it is written into the database after a commit, a checkpoint. SQLite's own
	// checkpoint goes only as far as readers allow; after the import of a million
	// units it left a log of 420 MB, in which every read searches for its pages: a
	// page of 50 units took 10 ms instead of 1.
	CheckpointAbove = 32 << 20
	// maxWAL is the default of Options.MaxWAL: SQLite cannot restart the log while
	// a snapshot needs it.
	maxWAL = 512 << 20
)

// wal is what is known of the write-ahead log.
type wal struct {
	MaxWAL       int64        // length in bytes above which long reads must end
	CheckpointAt atomic.Int64 // length from which the next commit makes a checkpoint
	longReads    atomic.Int32 // snapshots of ReadLong that are open
	maxLong      int32        // the most of them
}

// logSize is the length of the log in bytes.
func (e *SQLite) logSize() (int64, error) {
	info, err := os.Stat(e.path + "-wal")
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Committed makes a checkpoint if the log is long. It waits for readers that began
// before, up to the busy timeout; others go on. It does nothing while a snapshot of
// ReadLong is open. If something was in the way, such as another process, the next
// attempt waits until the log has grown by the same length again, so that not
// every commit waits.
func (e *SQLite) Committed(ctx context.Context) {
	if e.checkpointDue(e.CheckpointAt.Load()) {
		e.report(ctx, e.pools.Writer.Lend(ctx, e.checkpoint(ctx)))
	}
}

func (*SQLite) Remote() bool   { return false }
func (*SQLite) Server() string { return "" }

// Listen does nothing: other processes do not tell.
func (*SQLite) Listen(context.Context, func(), func()) {}

func (e *SQLite) BeginLongRead() (end func(context.Context)) {
	if e.longReads.Add(1) > e.maxLong {
		e.longReads.Add(-1)
		return nil
	}
	return e.endLongRead
}

// endLongRead ends what beginLongRead began. The last one makes the checkpoint
// that was not possible meanwhile, unless a step is being written: its commit does
// it.
func (e *SQLite) endLongRead(ctx context.Context) {
	if e.longReads.Add(-1) == 0 && e.checkpointDue(CheckpointAbove) {
		e.report(ctx, e.pools.Writer.TryLend(ctx, e.checkpoint(ctx)))
	}
}

// ErrSnapshotTooOld says that snapshots have been open for so long that the
// write-ahead log has become too long: end this one, try again later.
var ErrSnapshotTooOld = errors.New("the write-ahead log has become too long for a long read")

// CheckAge says that the log is too long for long reads.
func (e *SQLite) CheckAge() error {
	if size, err := e.logSize(); err == nil && size > e.MaxWAL {
		return ErrSnapshotTooOld
	}
	return nil
}

// checkpointDue reports whether the log is that long and no long read of this
// process needs it.
func (e *SQLite) checkpointDue(above int64) bool {
	size, err := e.logSize()
	return err == nil && size >= above && e.longReads.Load() == 0
}

func (e *SQLite) checkpoint(ctx context.Context) func(*Session) error {
	return func(s *Session) error {
		var busy, frames, written int64
		if _, err := s.First(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &frames, &written); err != nil {
			return err
		}
		next := int64(CheckpointAbove)
		if size, err := e.logSize(); busy != 0 && err == nil {
			next += size
		}
		e.CheckpointAt.Store(next)
		e.log.Debug("checkpoint of the write-ahead log", "frames", written, "readers in the way", busy != 0)
		return nil
	}
}

func (e *SQLite) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, errClosed) {
		e.log.Warn("no checkpoint of the write-ahead log: reads get slower until one succeeds", "error", err)
	}
}
