package ingest

// SetBatch bounds the entries of a replay's batches, so that a test sees the
// borders between them.
func (s *Syncer) SetBatch(entries int) { s.batchEntries = entries }

// SetAhead bounds what a replay reads ahead, in bytes: of all commits, and of
// one.
func (s *Syncer) SetAhead(all, commit int64) { s.ahead = aheadBounds{all: all, commit: commit} }
