package sqldb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

const (
	// checkpointAbove is the length in bytes of SQLite's write-ahead log from which
	// it is written into the database after a commit, a checkpoint. SQLite's own
	// checkpoint goes only as far as readers allow; after the import of a million
	// units it left a log of 420 MB, in which every read searches for its pages: a
	// page of 50 units took 10 ms instead of 1.
	CheckpointAbove = 32 << 20
	// checkpointWait is how long a checkpoint, and with it the writer, waits for reads
	// that began before: longer than small ones take.
	checkpointWait = 100 * time.Millisecond
)

// wal is what is known of the write-ahead log.
type wal struct {
	CheckpointAt atomic.Int64  // length from which the next commit makes a checkpoint
	busyTimeout  time.Duration // of the writer otherwise
}

// logSize is the length of the log in bytes.
func (e *SQLite) logSize() (int64, error) {
	info, err := os.Stat(e.path + "-wal")
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Committed makes a checkpoint if the log is long. If something was in the way, such as a
// long list that is being read, the next attempt waits until the log has grown by the same
// length again, so that not every commit waits.
func (e *SQLite) Committed(ctx context.Context) {
	if size, err := e.logSize(); err == nil && size >= e.CheckpointAt.Load() {
		e.report(ctx, e.pools.Writer.Lend(ctx, e.checkpoint(ctx)))
	}
}

// CatchUp makes the checkpoint that was not possible after a commit, unless a step is being
// written: its commit may do it.
func (e *SQLite) CatchUp(ctx context.Context) {
	if e.CheckpointAt.Load() > CheckpointAbove {
		e.report(ctx, e.pools.Writer.TryLend(ctx, e.checkpoint(ctx)))
	}
}

func (*SQLite) Remote() bool   { return false }
func (*SQLite) Server() string { return "" }

// Listen does nothing: other processes do not tell.
func (*SQLite) Listen(context.Context, func(), func()) {}

func (e *SQLite) checkpoint(ctx context.Context) func(*Session) error {
	return func(s *Session) error {
		wait := func(d time.Duration) error {
			var set int64
			_, err := s.First(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()), nil, &set)
			return err
		}
		if err := wait(min(checkpointWait, e.busyTimeout)); err != nil {
			return err
		}
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
		return wait(e.busyTimeout)
	}
}

func (e *SQLite) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, errClosed) {
		e.log.Warn("no checkpoint of the write-ahead log: reads get slower until one succeeds", "error", err)
	}
}
