package ingest

// SetBatch bounds the entries of a replay's batches, so that a test sees the
// borders between them.
func (s *Syncer) SetBatch(entries int) { s.batchEntries = entries }
