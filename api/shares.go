package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/rest"
)

// The bounds of what requests hold, of all clients together and of one client.
const (
	// Bytes of bodies above largeBody that clients have not read yet.
	maxInFlight, clientInFlight = 128 << 20, 32 << 20
	// Downloads that are being sent.
	maxDownloads, clientDownloads = 32, 8
	// Lists of lines that are being sent: each holds a long read of the store, and
	// the rest of those is left to downloads.
	maxLines, clientLines = 5, 2
	// Streams of changes.
	maxStreams, clientStreams = 4096, 256
	// Searches that are being made: the other readers of the store are left to small
	// answers and to the look-up of tokens.
	maxSearches, clientSearches = 2, 1
	// searchWait bounds the wait for a search's turn.
	searchWait = 10 * time.Second
)

// largeBody is the size above which a body in memory is counted.
const largeBody = 64 << 10

// shares are the pools of what requests hold.
type shares struct {
	inFlight, downloads, lines, streams, searches *limit.Pool
}

func newShares() shares {
	return shares{
		inFlight:  limit.NewPool(maxInFlight, clientInFlight),
		downloads: limit.NewPool(maxDownloads, clientDownloads),
		lines:     limit.NewPool(maxLines, clientLines),
		streams:   limit.NewPool(maxStreams, clientStreams),
		searches:  limit.NewPool(maxSearches, clientSearches),
	}
}

// client names the client of a request: its token, or without a good one its
// address.
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
		return nil, cmp.Or(x.req.Context().Err(), overShare(err))
	}
	return lease.Release, nil
}

// search holds a turn of the searches, until free is called, as soon as there is one.
func (x exchange) search(ctx context.Context) (free func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, searchWait)
	defer cancel()
	lease := x.s.shares.searches.Lease(x.client())
	if err := lease.Wait(waiting, 1); err != nil {
		return nil, cmp.Or(ctx.Err(), overShare(err))
	}
	return lease.Release, nil
}

// errShare is the answer to a client that holds its share already, errBusy to any
// while all of it is in use.
var (
	errShare = &rest.Problem{Status: http.StatusTooManyRequests, Detail: "This client has too many long answers at a time.", RetryAfter: 1}
	errBusy  = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: "Too many long answers are being sent.", RetryAfter: 1}
)

// overShare is the answer to an error of a lease.
func overShare(err error) error {
	if errors.Is(err, limit.ErrShare) {
		return errShare
	}
	return errBusy
}

// hold counts a body in memory until free is called, if it is large, and gives each
// part of it a deadline: a client that stops reading would keep it in memory.
func (x *exchange) hold(body []byte) (free func(), err error) {
	if len(body) <= largeBody || x.req.Method != http.MethodGet {
		return func() {}, nil
	}
	release, err := x.take(x.s.shares.inFlight, min(int64(len(body)), x.s.shares.inFlight.Share()))
	if err != nil {
		return nil, err
	}
	out := newDeadlineWriter(x.w, x.s.streams.timeout)
	x.w = deadlineResponse{x.w, out}
	return func() { out.end(); release() }, nil
}
