package api

import (
	"context"
	"net/http"
	"time"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/session"
)

// The answers to writes whose turn does not come.
var (
	errWriteShare = &rest.Problem{Status: http.StatusTooManyRequests, Detail: "This client writes too much at a time.", RetryAfter: searchRetry}
	errWriteBusy  = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: "Too much is being written.", RetryAfter: searchRetry}
)

// storedRate bounds the bytes of edits that a token stores. Edits and their history stay
// in the database after they have come to the repository.
var storedRate = limit.Rate{Count: 256 << 20, Per: 24 * time.Hour}

// countStored counts bytes that a token is about to store.
func countStored(stored *limit.Limiter, token int64, bytes int) error {
	a, counted := stored.TakeN(limit.Token(token), bytes)
	if counted && !a.Allowed {
		return &rest.Problem{Status: http.StatusTooManyRequests, Detail: "This token has stored too much text today.", RetryAfter: a.Reset}
	}
	return nil
}

// writeTurn waits for a turn of a token. The store has one writer, and operations wait for
// hosts: a client that sends many at once would make everybody else's wait for all of them.
func writeTurn(ctx context.Context, p *limit.Pool, token int64) (free func(), err error) {
	lease, err := p.Turn(ctx, limit.Token(token), searchWait)
	return lease.Release, overPool(err, errWriteShare, errWriteBusy)
}

// writesInTurn makes what handlers write with. What is nil stays nil.
func (s *Server) writesInTurn(edits resource.Edits, files resource.Files, operations resource.Operations) {
	of := func(p *limit.Pool) resource.Turn {
		return func(ctx context.Context, bytes int) (func(), error) {
			token := rest.AccessOf(ctx).Token.ID
			if bytes > 0 {
				if err := countStored(s.stored, token, bytes); err != nil {
					return nil, err
				}
			}
			return writeTurn(ctx, p, token)
		}
	}
	if edits != nil {
		s.env.Edits = resource.EditsInTurn(edits, of(s.shares.writes))
	}
	if files != nil {
		s.env.Files = resource.FilesInTurn(files, of(s.shares.writes))
	}
	if operations != nil {
		s.env.Errands = resource.NewErrands(s.logger)
		s.env.Operations = resource.OperationsInTurn(operations, of(s.shares.operations))
	}
}

// EndOperations ends operations that go on without their clients, and waits for them. It
// may be called more than once.
func (s *Server) EndOperations() {
	if s.env.Errands != nil {
		s.env.Errands.End()
	}
}

// createSession begins a session of a token, in turn.
func (s *Server) createSession(ctx context.Context, token int64) (secret string, err error) {
	free, err := writeTurn(ctx, s.shares.writes, token)
	if err != nil {
		return "", err
	}
	defer free()
	return s.db.Access().CreateSession(ctx, token, session.Lifetime)
}
