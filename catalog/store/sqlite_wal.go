package store

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
	checkpointAbove = 32 << 20
	// maxWAL is the default of Options.MaxWAL: SQLite cannot restart the log while
	// a snapshot needs it.
	maxWAL = 512 << 20
)

// wal is what is known of the write-ahead log.
type wal struct {
	maxWAL       int64        // length in bytes above which long reads must end
	checkpointAt atomic.Int64 // length from which the next commit makes a checkpoint
	longReads    atomic.Int32 // snapshots of ReadLong that are open
	maxLong      int32        // the most of them
}

// logSize is the length of the log in bytes.
func (e *sqliteEngine) logSize() (int64, error) {
	info, err := os.Stat(e.path + "-wal")
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// committed makes a checkpoint if the log is long. It waits for readers that began
// before, up to the busy timeout; others go on. It does nothing while a snapshot of
// ReadLong is open. If something was in the way, such as another process, the next
// attempt waits until the log has grown by the same length again, so that not
// every commit waits.
func (e *sqliteEngine) committed(ctx context.Context) {
	if e.checkpointDue(e.checkpointAt.Load()) {
		e.report(ctx, e.pools.writer.lend(ctx, e.checkpoint(ctx)))
	}
}

func (*sqliteEngine) remote() bool   { return false }
func (*sqliteEngine) server() string { return "" }

// listen does nothing: other processes do not tell.
func (*sqliteEngine) listen(context.Context, func(), func()) {}

func (e *sqliteEngine) beginLongRead() (end func(context.Context)) {
	if e.longReads.Add(1) > e.maxLong {
		e.longReads.Add(-1)
		return nil
	}
	return e.endLongRead
}

// endLongRead ends what beginLongRead began. The last one makes the checkpoint
// that was not possible meanwhile, unless a step is being written: its commit does
// it.
func (e *sqliteEngine) endLongRead(ctx context.Context) {
	if e.longReads.Add(-1) == 0 && e.checkpointDue(checkpointAbove) {
		e.report(ctx, e.pools.writer.tryLend(ctx, e.checkpoint(ctx)))
	}
}

// ErrSnapshotTooOld says that snapshots have been open for so long that the
// write-ahead log has become too long: end this one, try again later.
var ErrSnapshotTooOld = errors.New("the write-ahead log has become too long for a long read")

// checkAge says that the log is too long for long reads.
func (e *sqliteEngine) checkAge() error {
	if size, err := e.logSize(); err == nil && size > e.maxWAL {
		return ErrSnapshotTooOld
	}
	return nil
}

// checkpointDue reports whether the log is that long and no long read of this
// process needs it.
func (e *sqliteEngine) checkpointDue(above int64) bool {
	size, err := e.logSize()
	return err == nil && size >= above && e.longReads.Load() == 0
}

func (e *sqliteEngine) checkpoint(ctx context.Context) func(*session) error {
	return func(s *session) error {
		var busy, frames, written int64
		if _, err := s.first(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &frames, &written); err != nil {
			return err
		}
		next := int64(checkpointAbove)
		if size, err := e.logSize(); busy != 0 && err == nil {
			next += size
		}
		e.checkpointAt.Store(next)
		e.log.Debug("checkpoint of the write-ahead log", "frames", written, "readers in the way", busy != 0)
		return nil
	}
}

func (e *sqliteEngine) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, errClosed) {
		e.log.Warn("no checkpoint of the write-ahead log: reads get slower until one succeeds", "error", err)
	}
}
