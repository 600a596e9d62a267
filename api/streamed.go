package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

// streamedTime bounds the sending of an answer that is made while it is sent:
// it holds a snapshot.
const streamedTime = 10 * time.Minute

// mayGoOn returns an error if the answer has to end: the server ends, the token
// was revoked, or the store needs what the snapshot holds.
func (s *Server) mayGoOn(ctx context.Context, snap *store.Snapshot) error {
	select {
	case <-s.streams.ending:
		return errEnding
	default:
	}
	if a := rest.AccessOf(ctx); a.Token.ID != 0 {
		if err := s.db.Read(ctx, a.Recheck); err != nil { // the snapshot is as old as the answer
			return err
		}
	}
	if err := snap.CheckAge(); err != nil {
		return fmt.Errorf("%w: %w", errHeld, err)
	}
	return nil
}

// longProblem turns the errors of long reads into answers.
func longProblem(err error) error {
	switch {
	case errors.Is(err, store.ErrLongReads):
		return errBusy
	case errors.Is(err, store.ErrSnapshotTooOld):
		return errHeld
	}
	return err
}

// errHeld is the answer while long reads hold too much of the store.
var errHeld = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: "Too much is being written: try again in a while.", RetryAfter: rest.RetrySeconds}
