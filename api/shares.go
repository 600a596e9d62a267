package api

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/catalog/store"
)

const (
	// cheapSearch is a second's work: searches that cost more never make cheap ones wait.
	cheapSearch = 5_000_000
	// makerWait bounds the wait for the place of a long answer.
	makerWait = 30 * time.Second
	// searchWait bounds the wait for a search's turn.
	searchWait  = 10 * time.Second
	searchRetry = 5 // seconds
)

// maxCores is how many cores make long pages and downloads: one is left to small answers.
func maxCores() int64 { return int64(max(runtime.GOMAXPROCS(0)-1, 1)) }

// largeBody is the size above which a body in memory is counted.
const largeBody = 64 << 10

type shares struct {
	inFlight, downloads, spooled, uploads, writes, operations, streams, searches, longSearches, makers, cores *limit.Pool
}

// newShares makes them for a store of so many readers: the bounds of all clients and of one.
func newShares(readers int) shares {
	return shares{
		// Bytes of bodies above largeBody that clients have not read yet.
		inFlight: limit.NewPool("answers", 128<<20, 32<<20),
		// Downloads and lists of lines that are being sent.
		downloads: limit.NewPool("downloads", 32, 8),
		// Their bytes in files, until they are sent.
		spooled: limit.NewPool("spooled", 16<<30, 4<<30),
		// Bytes of edits and uploads: one counts one and a half times while it is read.
		uploads: limit.NewPool("uploads", 96<<20, 48<<20),
		// Edits and sessions that are being stored or wait for the store's writer: a client
		// that sends many has two among those of others.
		writes: limit.NewPool("writes", 16, 2),
		// Pulls and pushes that somebody waits for.
		operations: limit.NewPool("operations", 16, 4),
		// Streams of changes.
		streams: limit.NewPool("streams", 4096, 256),
		// Searches that are being made: the other readers of the store are left to small
		// answers and to the look-up of tokens.
		searches: limit.NewPool("searches", 2, 1),
		// Searches that cost more than cheapSearch.
		longSearches: limit.NewPool("long_searches", 1, 1),
		// Long pages, downloads and lists of lines that are being made: at least half of the
		// store's readers are left to others. They work on maxCores cores in turn.
		makers: limit.NewPool("long_answers", max(1, min(4, int64(readers)/2)), 1),
		cores:  limit.NewPool("cores", maxCores(), maxCores()),
	}
}

// client names the client of a request: its token, or without a good one its address.
func (x exchange) client() string {
	if a := rest.AccessOf(x.req.Context()); a.Token.ID != 0 {
		return limit.Token(a.Token.ID)
	}
	return x.s.Client(x.req)
}

// take holds n of a pool at once, until free is called.
func (x exchange) take(p *limit.Pool, n int64) (free func(), err error) {
	lease := p.Lease(x.client())
	if err := lease.Take(n); err != nil {
		return nil, cmp.Or(x.req.Context().Err(), overAnswers.problem(err))
	}
	return lease.Release, nil
}

// searchInTurn calls search when the request has a turn. A cheap search has one at once or
// soon; for one above cheapSearch search fails before it has read a string, and is called again
// with one of the turns of those: no snapshot of the store is held while a request waits.
func (s *Server) searchInTurn(ctx context.Context, req *http.Request, search func(context.Context) error) error {
	x := exchange{s: s, req: req}
	err := x.inTurn(ctx, s.shares.searches, func() error { return search(store.WithSearchPrice(ctx, cheapSearch)) })
	if _, dear := errors.AsType[*store.ErrPrice](err); !dear {
		return err
	}
	return x.inTurn(ctx, s.shares.longSearches, func() error { return search(ctx) })
}

// inTurn calls fn in a turn of a pool, which ends with it, also by a panic.
func (x exchange) inTurn(ctx context.Context, p *limit.Pool, fn func() error) error {
	free, err := x.turn(ctx, p)
	if err != nil {
		return err
	}
	defer free()
	return fn()
}

// longPage is the size from which a page is made in turn.
const longPage = 1000

// pageInTurn returns when the request may make its page; free is called afterwards. A long page
// waits for its turn; a client that has not read its share of large answers gets no more.
func (x exchange) pageInTurn(ctx context.Context, rt *resource.Route, params rest.Params) (free func(), err error) {
	size, _ := params.Get("page_size")
	if n, err := strconv.Atoi(size); !rt.Long && (err != nil || n <= longPage) {
		return func() {}, nil
	}
	room, err := x.take(x.s.shares.inFlight, largeBody)
	if err != nil {
		return nil, err
	}
	room()
	_, free, err = x.makerTurn(ctx)
	return free, err
}

// makerTurn waits until a long answer may be made, on the core that it returns, until free.
func (x exchange) makerTurn(ctx context.Context) (core *limit.Lease, free func(), err error) {
	place, err := x.s.shares.makers.Turn(ctx, x.client(), makerWait)
	if err == nil {
		core, err = x.s.shares.cores.Turn(ctx, x.client(), makerWait)
	}
	if err != nil {
		place.Release()
		return nil, nil, overTurns.problem(err)
	}
	return core, func() { core.Release(); place.Release() }, nil
}

// turn waits for a turn of a pool, which ends when free is called.
func (x exchange) turn(ctx context.Context, p *limit.Pool) (free func(), err error) {
	lease, err := p.Turn(ctx, x.client(), searchWait)
	return lease.Release, overTurns.problem(err)
}

// overPool has the answers to requests that get nothing of a pool: share to a client that
// holds its share, busy to any while all is in use.
type overPool struct {
	share, busy string
	retry       int // seconds
}

var (
	overTurns   = overPool{"This client has too many searches or long answers at a time.", "Too many searches are running, or long answers are being made.", searchRetry}
	overAnswers = overPool{"This client has too many long answers at a time.", "Too many long answers are being sent.", 1}
	overUploads = overPool{"This client sends too much at a time.", "Too much is being sent.", 1}
	overWrites  = overPool{"This client writes too much at a time.", "Too much is being written.", searchRetry}
)

// problem is the answer to an error of the pool; any other error stays as it is.
func (o *overPool) problem(err error) error {
	switch {
	case errors.Is(err, limit.ErrShare):
		return &rest.Problem{Status: http.StatusTooManyRequests, Detail: o.share, RetryAfter: o.retry}
	case errors.Is(err, limit.ErrFull):
		return &rest.Problem{Status: http.StatusServiceUnavailable, Detail: o.busy, RetryAfter: o.retry}
	}
	return err
}

// hold counts a body in memory until free is called, if it is large, and gives each
// part of it a deadline: a client that stops reading would keep it in memory.
func (x *exchange) hold(body []byte) (free func(), err error) {
	if asks := x.rt != nil && x.rt.Asks != nil; len(body) <= largeBody || x.req.Method != http.MethodGet && !asks {
		return func() {}, nil
	}
	release, err := x.take(x.s.shares.inFlight, min(int64(len(body)), x.s.shares.inFlight.Share))
	if err != nil {
		return nil, err
	}
	out := newDeadlineWriter(x.w, x.s.streams.timeout)
	x.w = out
	return func() { out.end(); release() }, nil
}

// holdBody counts the body of a write; free is called when it is answered.
func (x exchange) holdBody() (read func(io.Reader, int64) ([]byte, error), free func()) {
	lease := x.s.shares.uploads.Lease(x.client())
	return func(body io.Reader, most int64) ([]byte, error) {
		raw, err := lease.ReadAll(body, most)
		if errors.Is(err, limit.ErrTooLarge) {
			err = rest.ErrTooLarge
		}
		return raw, overUploads.problem(err)
	}, lease.Release
}

// storedRate bounds the bytes of edits that a token stores. Edits and their history stay
// in the database after they have come to the repository.
var storedRate = limit.Rate{Count: 256 << 20, Per: 24 * time.Hour}

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
	return lease.Release, overWrites.problem(err)
}

func (s *Server) writesInTurn(edits resource.Edits, operations resource.Operations) {
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
	s.env.Edits = resource.NewInTurn(edits, of(s.shares.writes))
	s.env.Operations = resource.NewInTurn(operations, of(s.shares.operations))
}

// EndOperations ends operations that go on without their clients, and waits for them.
func (s *Server) EndOperations() { s.env.Errands.End() }

// createSession begins a session of a token, in turn.
func (s *Server) createSession(ctx context.Context, token int64) (secret string, err error) {
	free, err := writeTurn(ctx, s.shares.writes, token)
	if err != nil {
		return "", err
	}
	defer free()
	return s.db.Access().CreateSession(ctx, token, session.Lifetime)
}
