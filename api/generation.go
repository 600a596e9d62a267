package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

// generationHeader names the state that an answer shows, "GENERATION-HISTORY", and in a
// request the newest state that the client saw. Where several processes answer, a
// client that sends it back is never shown an older one (docs/api.md#generations).
const generationHeader = "X-Repoglot-Generation"

// unknownHeader says why an answer is not compared with the state that the client
// named: its "generation" is none that the database has, or its "history" is another.
const unknownHeader = "X-Repoglot-Generation-Unknown"

// A request waits catchUpWait at most for what its client saw; maxCatchingUp do so at a time.
const (
	catchUpWait   = 2 * time.Second
	maxCatchingUp = 64
)

// errBehind is the answer to a request whose client saw what this process cannot learn now.
var errBehind = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: "This process does not know yet what you saw already.", RetryAfter: 1}

// catchUp returns once answers show what the client saw, for which it may ask the database.
func (s *Server) catchUp(h http.Header, r *http.Request, a rest.Access) error {
	seen, ok := parsePosition(r.Header[generationHeader])
	if !ok {
		return nil
	}
	if at := s.db.Position(&a.Token); seen.History == at.History && seen.Generation <= at.Generation {
		return nil
	}
	select {
	case s.catchingUp <- struct{}{}:
		defer func() { <-s.catchingUp }()
	default:
		return errBehind
	}
	ctx, cancel := context.WithTimeout(r.Context(), catchUpWait)
	defer cancel()
	if err := s.db.Refresh(ctx); err != nil {
		s.logger.Debug("a request names a generation that is not known, and the database cannot be asked", "error", err)
		return errBehind
	}
	switch at := s.db.Position(&a.Token); {
	case seen.History != at.History:
		put(h, unknownHeader, "history")
	case seen.Generation > at.Generation:
		put(h, unknownHeader, "generation")
	}
	return nil
}

// begin makes the exchange of a request. It must precede every look into the store.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) exchange {
	a := rest.AccessOf(r.Context())
	return exchange{s: s, w: w, req: r, started: s.now(), at: s.db.Position(&a.Token)}
}

// position is the value of generationHeader for an answer. A kept answer was made in
// its state, and has not changed until x.at. Answers to writes, and those that do not
// depend on the store, show nothing newer than what this process knows by now.
func (x exchange) position(h *header) string {
	at := h.at
	switch at.History {
	case "":
		a := rest.AccessOf(x.req.Context())
		at = x.s.db.Position(&a.Token)
	case x.at.History:
		at.Generation = max(at.Generation, x.at.Generation)
	}
	return strconv.FormatInt(at.Generation, 10) + "-" + at.History
}

// show makes everything that a snapshot shows known to this process, and returns the state
// that the client of a request is shown.
func show(ctx context.Context, snap *store.Snapshot) (store.Position, error) {
	if err := snap.Announce(ctx); err != nil {
		return store.Position{}, err
	}
	a := rest.AccessOf(ctx)
	return snap.Position(ctx, &a.Token)
}

// parsePosition parses the value of generationHeader. Any other counts as none.
func parsePosition(values []string) (at store.Position, ok bool) {
	if len(values) != 1 {
		return at, false
	}
	number, history, ok := strings.Cut(values[0], "-")
	if !ok {
		return at, false
	}
	generation, err := strconv.ParseInt(number, 10, 64)
	return store.Position{History: history, Generation: generation}, err == nil && generation >= 0
}
