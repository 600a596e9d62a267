package limit

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Errors of a Lease.
var (
	// ErrShare says that the client holds its share already.
	ErrShare = errors.New("the client's share is in use")
	// ErrFull says that all clients together hold everything, also after a wait.
	ErrFull = errors.New("everything is in use")
)

// Pool bounds a resource that requests hold, such as bytes of bodies or turns, in total and for
// each client, so that no client can take all of it. It is safe for concurrent use.
type Pool struct {
	// Name is that of metrics and of the manual.
	Name string
	// Total is how much all clients together may hold, Share how much one may; both stay.
	Total, Share int64

	mu      sync.Mutex
	used    int64
	refused [2]int64 // by ErrShare and by ErrFull or the end of a wait
	clients map[string]*holder
	waiting []*waiter // in the order in which they came
}

// holder is a client with leases in use or waiting.
type holder struct {
	used    int64
	waiting int
}

// waiter is a lease that waits for its turn.
type waiter struct {
	lease *Lease
	n     int64
	ready chan struct{} // closed when it got what it waits for
}

// maxWaiting bounds the leases of one client that wait.
const maxWaiting = 32

// NewPool makes a Pool of total units, of which one client may hold share, both above 0.
func NewPool(name string, total, share int64) *Pool {
	return &Pool{Name: name, Total: total, Share: min(share, total), clients: map[string]*holder{}}
}

// Used is how much is in use.
func (p *Pool) Used() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// Waiting is the number of leases that wait.
func (p *Pool) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting)
}

// Lease begins to hold nothing for a client. Its Release must be called.
func (p *Pool) Lease(client string) *Lease { return &Lease{pool: p, client: client} }

// Lease is what one request holds of a Pool. It belongs to one goroutine.
type Lease struct {
	pool   *Pool
	client string
	held   int64
}

// Take holds n more units, or returns ErrShare or ErrFull at once.
func (l *Lease) Take(n int64) error {
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.take(l, n)
	p.count(err)
	return err
}

func (p *Pool) count(err error) {
	switch {
	case errors.Is(err, ErrShare):
		p.refused[0]++
	case err != nil:
		p.refused[1]++
	}
}

// Wait holds n more units as soon as they are free: leases that wait are served in their order,
// except that one whose client holds its share lets others pass. It returns ErrShare at once if
// too many leases of the client wait or n is more than a share, and ctx's error when it ends.
func (l *Lease) Wait(ctx context.Context, n int64) error {
	p := l.pool
	p.mu.Lock()
	h := p.clients[l.client]
	if n > p.Share || h != nil && h.waiting >= maxWaiting {
		p.count(ErrShare)
		p.mu.Unlock()
		return ErrShare
	}
	if len(p.waiting) == 0 && p.take(l, n) == nil {
		p.mu.Unlock()
		return nil
	}
	w := &waiter{lease: l, n: n, ready: make(chan struct{})}
	p.waiting = append(p.waiting, w)
	p.holder(l.client).waiting++
	p.serve() // it may pass those that wait for their client
	p.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		return p.leave(ctx, w)
	}
}

// Turn is Wait for one unit of a client, for a time at most; after it ErrFull.
func (p *Pool) Turn(ctx context.Context, client string, most time.Duration) (*Lease, error) {
	waiting, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	l := p.Lease(client)
	err := l.Wait(waiting, 1)
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		err = ErrFull
	}
	return l, err
}

// Yield lets leases that wait go first, if there are any, and holds as much as before
// when it is its turn again. Errors are those of Wait; then it holds nothing.
func (l *Lease) Yield(ctx context.Context) error {
	if l.pool.Waiting() == 0 {
		return nil
	}
	n := l.held
	l.Release()
	return l.Wait(ctx, n)
}

// Release gives back all units. The lease may be used again.
func (l *Lease) Release() { l.give(l.held) }

func (l *Lease) give(n int64) {
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used -= n
	l.held -= n
	if h := p.clients[l.client]; h != nil {
		h.used -= n
		p.forget(l.client, h)
	}
	p.serve()
}

// take is Take with the lock held.
func (p *Pool) take(l *Lease, n int64) error {
	h := p.holder(l.client)
	defer p.forget(l.client, h)
	switch {
	case h.used+n > p.Share:
		return ErrShare
	case p.used+n > p.Total:
		return ErrFull
	}
	p.used += n
	h.used += n
	l.held += n
	return nil
}

// serve gives leases that wait what they wait for. One that the total is too small
// for holds up those behind it, or large ones would never get their turn.
func (p *Pool) serve() {
	kept := p.waiting[:0]
	full := false
	for _, w := range p.waiting {
		err := ErrFull
		if !full {
			err = p.take(w.lease, w.n)
		}
		if err != nil {
			full = full || errors.Is(err, ErrFull)
			kept = append(kept, w)
			continue
		}
		p.gone(w)
		close(w.ready)
	}
	clear(p.waiting[len(kept):])
	p.waiting = kept
}

// leave ends a wait, unless it was just served.
func (p *Pool) leave(ctx context.Context, w *waiter) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.waiting, w)
	if i < 0 {
		return nil // it holds what it waited for
	}
	p.waiting = slices.Delete(p.waiting, i, i+1)
	p.gone(w)
	p.serve()
	p.count(ctx.Err())
	return ctx.Err()
}

// gone counts a lease that waits no more.
func (p *Pool) gone(w *waiter) {
	h := p.holder(w.lease.client)
	h.waiting--
	p.forget(w.lease.client, h)
}

func (p *Pool) holder(client string) *holder {
	h := p.clients[client]
	if h == nil {
		h = new(holder)
		p.clients[client] = h
	}
	return h
}

// forget drops a client that holds nothing and waits for nothing.
func (p *Pool) forget(client string, h *holder) {
	if h.used == 0 && h.waiting == 0 {
		delete(p.clients, client)
	}
}

// ErrTooLarge says that a body is longer than it may be.
var ErrTooLarge = errors.New("the body is too large")

// firstBody is the first size of a body's buffer, which doubles.
const firstBody = 16 << 10

// ReadAll reads a body of at most most bytes into memory that the lease holds, byte for byte,
// so that what a client claims to send costs nothing before it is sent. Errors are ErrTooLarge,
// ErrShare, ErrFull and those of r; the lease must be released in any case.
func (l *Lease) ReadAll(r io.Reader, most int64) ([]byte, error) {
	var body []byte
	for size := min(firstBody, most); ; size = min(2*size, most) {
		if err := l.Take(size); err != nil { // the old buffer is copied: both count
			return nil, err
		}
		grown := make([]byte, len(body), size)
		copy(grown, body)
		l.give(int64(cap(body)))
		body = grown
		var n int
		var err error
		for err == nil && len(body) < cap(body) { // io.ReadFull would take a body that was cut off for whole
			n, err = r.Read(body[len(body):cap(body)])
			body = body[:len(body)+n]
		}
		for beyond := [1]byte{}; err == nil && int64(len(body)) == most; {
			if n, err = r.Read(beyond[:]); n > 0 {
				return nil, ErrTooLarge
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, err
		}
	}
}

// The metrics of pools, by name.
var (
	usedDesc = prometheus.NewDesc("repoglot_share_used",
		"How much of what clients share is in use: bytes, connections, turns.", []string{"pool"}, nil)
	totalDesc = prometheus.NewDesc("repoglot_share_total",
		"How much of it all clients together may hold.", []string{"pool"}, nil)
	waitingDesc = prometheus.NewDesc("repoglot_share_waiting",
		"Requests that wait for some of it.", []string{"pool"}, nil)
	refusedDesc = prometheus.NewDesc("repoglot_share_refused_total",
		"Requests that got none: the client held its share (client), or all was in use, or the wait took too long (all).", []string{"pool", "reason"}, nil)
)

// Pools are pools with their metrics.
type Pools []*Pool

// Describe implements prometheus.Collector: a registry may have several Pools, so none
// claims the names.
func (Pools) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (ps Pools) Collect(ch chan<- prometheus.Metric) {
	for _, p := range ps {
		p.mu.Lock()
		used, waiting, refused := p.used, len(p.waiting), p.refused
		p.mu.Unlock()
		ch <- prometheus.MustNewConstMetric(usedDesc, prometheus.GaugeValue, float64(used), p.Name)
		ch <- prometheus.MustNewConstMetric(totalDesc, prometheus.GaugeValue, float64(p.Total), p.Name)
		ch <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(waiting), p.Name)
		ch <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(refused[0]), p.Name, "client")
		ch <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(refused[1]), p.Name, "all")
	}
}
