// Package limit counts the requests of clients, or their bytes, reports when there are too many, and
// shares out what requests hold: bytes and turns.
//
// Goals: exact figures for X-RateLimit-*; bounded memory, whatever clients do; no goroutine and
// no clock of its own. Non-goals: HTTP, and what a client is: any text names one.
//
// Requests are counted in spans that begin with a client's first request, so what
// X-RateLimit-Reset promises is kept. 65,536 clients are remembered. A good token has its own
// count; a bad one counts for its address, so guessing is limited too.
package limit

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"
)

// maxClients bounds the clients in memory. If there are more, the client whose
// span began first is forgotten and may make all its requests again.
const maxClients = 1 << 16

// Rate is a number of requests in a span of time; the zero value means no bound.
type Rate struct {
	// Count is the number of requests, above 0.
	Count int
	// Per is the span, which begins with a client's first request.
	Per time.Duration
}

// Limiter counts requests by client, concurrently; a nil Limiter lets everything pass.
type Limiter struct {
	rate Rate
	max  int
	now  func() time.Time

	mu      sync.Mutex
	clients map[string]*span
	order   []*span // in the order in which they began
	shared  bool    // Exchange is called
	untold  []*span // that used a share since others were told
}

// span counts the requests of one client.
type span struct {
	client string
	ends   time.Time
	used   int
	told   int  // of used, what Exchange has told others
	untold bool // it is in untold
}

// Answer is the result for one request.
type Answer struct {
	// Allowed says that the request is within the bound.
	Allowed bool
	// Limit is the number of requests in a span, Remaining the rest of it.
	Limit, Remaining int
	// Reset is the time until the span ends, in seconds, rounded up.
	Reset int
}

// New makes a limiter with the clock now; nil for the zero rate.
func New(rate Rate, now func() time.Time) *Limiter {
	if rate.Count <= 0 || rate.Per <= 0 {
		return nil
	}
	return &Limiter{rate: rate, max: maxClients, now: now, clients: map[string]*span{}}
}

// Take counts a request of a client. counted is false for a nil Limiter.
func (l *Limiter) Take(client string) (a Answer, counted bool) { return l.TakeN(client, 1) }

// TakeN counts n of something at once, such as bytes; 0 only asks.
func (l *Limiter) TakeN(client string, n int) (a Answer, counted bool) {
	if l == nil {
		return a, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	s := l.clients[client]
	if s == nil || !now.Before(s.ends) {
		s = l.begin(client, now)
	}
	a = Answer{Limit: l.rate.Count, Reset: int((s.ends.Sub(now) + time.Second - 1) / time.Second)}
	if a.Allowed = n <= l.rate.Count-s.used; a.Allowed {
		s.used += n
		l.tell(s)
	}
	a.Remaining = max(0, l.rate.Count-s.used) // others may have let more pass
	return a, true
}

// begin starts a client's span and forgets the spans that have ended.
func (l *Limiter) begin(client string, now time.Time) *span {
	for len(l.order) > 0 && (len(l.clients) >= l.max || !now.Before(l.order[0].ends)) {
		if first := l.order[0]; l.clients[first.client] == first {
			delete(l.clients, first.client)
		}
		l.order[0] = nil
		l.order = l.order[1:]
	}
	s := &span{client: client, ends: now.Add(l.rate.Per)}
	l.clients[client] = s
	l.order = append(l.order, s)
	return s
}

// Address names the client of an address. Of IPv6 it is the network of 64 bits,
// within which a host chooses its addresses. All invalid addresses are one client.
func Address(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		network, _ := addr.Prefix(64) // it has more bits
		return network.String()
	}
	return addr.String()
}

// Token names the client that uses the token with an id.
func Token(id int64) string { return "token " + strconv.FormatInt(id, 10) }

// Spent is what a client used of a limit in its span: an alias, so that it is that of
// package cluster, which knows no package of the API.
type Spent = struct {
	// Client names it.
	Client string
	// Used is the number of requests.
	Used int
	// Left is the rest of the span.
	Left time.Duration
}

// A client is told of to other processes when it used a tellShare-th of the limit since the
// last time: those that come for a few requests cost nothing. maxTold of them are at once.
const (
	tellShare = 32
	maxTold   = 1000
)

// tell notes that others are to be told of a span. The caller holds l.mu.
func (l *Limiter) tell(s *span) {
	if l.shared && !s.untold && s.used-s.told >= max(1, l.rate.Count/tellShare) {
		s.untold = true
		l.untold = append(l.untold, s)
	}
}

// Exchange counts with other processes that have the same limit. send adds what is new
// to what they counted and returns the sums; it is not called if nothing is new. No
// request waits for it. A client can so make more requests than the limit: in each
// process fewer than a 32nd of it, and those between two calls.
func (l *Limiter) Exchange(ctx context.Context, send func(ctx context.Context, limit string, list []Spent) ([]Spent, error)) error {
	if l == nil {
		return nil
	}
	list, told := l.collect()
	if len(list) == 0 {
		return nil
	}
	sums, err := send(ctx, strconv.Itoa(l.rate.Count)+" in "+l.rate.Per.String(), list)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		for _, s := range told { // once more, with what is added until then
			if !s.untold {
				s.untold = true
				l.untold = append(l.untold, s)
			}
		}
		return err
	}
	now, index := l.now(), map[string]int{}
	for i := range list {
		index[list[i].Client] = i
	}
	for _, sum := range sums {
		i, asked := index[sum.Client]
		if !asked {
			continue
		}
		s := told[i]
		s.used += sum.Used - s.told - list[i].Used // what came meanwhile is not in the sum
		s.told = sum.Used
		s.ends = now.Add(min(sum.Left, l.rate.Per))
	}
	return nil
}

// collect returns what others are to be told of, and forgets that.
func (l *Limiter) collect() (list []Spent, told []*span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if !l.shared {
		l.shared = true
		for _, s := range l.clients { // from before
			l.tell(s)
		}
	}
	n := min(len(l.untold), maxTold)
	for _, s := range l.untold[:n] {
		s.untold = false
		if now.Before(s.ends) && l.clients[s.client] == s {
			list, told = append(list, Spent{s.client, s.used - s.told, s.ends.Sub(now)}), append(told, s)
		}
	}
	l.untold = slices.Delete(l.untold, 0, n)
	return list, told
}
