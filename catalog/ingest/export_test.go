package ingest

import (
	"context"
	"time"
)

// SetBatch bounds the entries of a replay's batches, so that a short history
// has several.
func (s *Syncer) SetBatch(entries int) { s.bounds.batchEntries = entries }

// SetAhead bounds the bytes that a replay reads ahead: of all commits, and of
// one.
func (s *Syncer) SetAhead(all, commit int64) { s.bounds.aheadBytes, s.bounds.commitBytes = all, commit }

// SetPart bounds the files of components that are replayed in one walk.
func (s *Syncer) SetPart(bytes int64) { s.bounds.partBytes = bytes }

// SetPartSize sets the size of parts in which large files are read.
func (s *Syncer) SetPartSize(bytes int) { s.partSize = bytes }

// SetTables bounds the units that a replay keeps between commits, in bytes.
func (s *Syncer) SetTables(bytes int) { s.bounds.tableBytes = bytes }

// SetCompared bounds the units that are kept and that are compared in one transaction after
// imports, and the changes of their groups that are stored at a time.
func (s *Syncer) SetCompared(units int64, together int) {
	s.compareUnits, s.compareTogether = units, together
}

// SetCompareTime bounds the time of a comparison.
func (s *Syncer) SetCompareTime(most time.Duration) { s.compareTime = most }

// Failed records that the pull of a branch failed.
func (s *Syncer) Failed(ctx context.Context, b Branch, cause error) error {
	p := &pull{s: s, branch: b, at: time.Now().UTC().Truncate(time.Microsecond), changes: map[int64]int64{}}
	return p.failed(ctx, cause)
}
