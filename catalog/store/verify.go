package store

import (
	"context"

	"github.com/repoglot/repoglot/catalog/store/internal/recount"
)

// Mismatch is a number in the database that differs from its recount.
type Mismatch = recount.Mismatch

// Verify recounts everything that is kept as a sum or was derived once, in this snapshot. It
// calls each for every difference, and returns what it has read.
func (s *Snapshot) Verify(ctx context.Context, each func(Mismatch)) (recount.Verified, error) {
	return recount.Run(ctx, s.s, s.db.codec, each)
}
