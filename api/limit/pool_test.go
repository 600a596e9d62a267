package limit

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

// TestShares: a client gets its share and no more, all clients get no more than the
// total, and what was given back can be taken again.
func TestShares(t *testing.T) {
	t.Parallel()
	p := NewPool("p", 10, 6)
	a, b, c := p.Lease("a"), p.Lease("b"), p.Lease("a")
	for _, tt := range []struct {
		lease *Lease
		n     int64
		want  error
	}{{a, 4, nil}, {c, 3, ErrShare}, {c, 2, nil}, {b, 5, ErrFull}, {b, 4, nil}, {b, 1, ErrFull}} {
		if err := tt.lease.Take(tt.n); !errors.Is(err, tt.want) {
			t.Errorf("client %s takes %d: %v, want %v", tt.lease.client, tt.n, err, tt.want)
		}
	}
	a.Release()
	if err := b.Take(2); err != nil || p.Used() != 8 {
		t.Errorf("after a release: %v, %d in use", err, p.Used())
	}
	b.Release()
	c.Release()
	c.Release()
	if p.Used() != 0 || len(p.clients) != 0 {
		t.Errorf("in the end %d in use, clients %v", p.Used(), p.clients)
	}
}

// TestWaitingClients: who waits is served in order, except that one whose client
// holds its share lets others pass; one that leaves takes nothing.
func TestWaitingClients(t *testing.T) {
	t.Parallel()
	p := NewPool("p", 2, 1)
	first := p.Lease("greedy")
	must(t, first.Take(1))
	got := make(chan string)
	wait := func(ctx context.Context, client string) {
		before := waits(p)
		go func() {
			who := client
			if err := p.Lease(client).Wait(ctx, 1); err != nil {
				who += " left"
			}
			got <- who
		}()
		for waits(p) == before && client == "greedy" {
			runtime.Gosched() // until it is in the queue
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	wait(ctx, "greedy")
	wait(t.Context(), "greedy")
	wait(t.Context(), "honest")
	if name := <-got; name != "honest" {
		t.Errorf("%q has passed, want the honest client", name)
	}
	leave()
	if name := <-got; name != "greedy left" {
		t.Errorf("%q, want that the client left", name)
	}
	first.Release()
	if name := <-got; name != "greedy" {
		t.Errorf("%q, want the greedy client's turn", name)
	}
	if p.Used() != 2 || waits(p) != 0 {
		t.Errorf("%d in use, %d wait", p.Used(), waits(p))
	}
}

func waits(p *Pool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting)
}

// TestTooMany: a client may not let any number of requests wait, nor wait for more
// than its share.
func TestTooMany(t *testing.T) {
	t.Parallel()
	p := NewPool("p", 2, 1)
	held := p.Lease("a")
	must(t, held.Take(1))
	ctx, cancel := context.WithCancel(t.Context())
	var left sync.WaitGroup
	for range maxWaiting {
		left.Go(func() { _ = p.Lease("a").Wait(ctx, 1) })
	}
	for waits(p) < maxWaiting {
		runtime.Gosched() // until all wait
	}
	if err := p.Lease("a").Wait(t.Context(), 1); !errors.Is(err, ErrShare) {
		t.Errorf("one more: %v", err)
	}
	if err := p.Lease("b").Wait(t.Context(), 2); !errors.Is(err, ErrShare) {
		t.Errorf("more than a share: %v", err)
	}
	cancel()
	left.Wait()
	held.Release()
	if p.Used() != 0 || len(p.clients) != 0 {
		t.Errorf("in the end %d in use, clients %v", p.Used(), p.clients)
	}
}

// TestPoolTogether: whatever goroutines do, no bound is passed and in the end
// nothing is in use.
func TestPoolTogether(t *testing.T) {
	t.Parallel()
	p := NewPool("p", 7, 3)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range 200 {
				l := p.Lease(string(rune('a' + i%4)))
				ctx, cancel := context.WithCancel(t.Context())
				if random.IntN(4) == 0 {
					cancel()
				}
				if l.Wait(ctx, 1+random.Int64N(3)) == nil && p.Used() > 7 {
					t.Error("the total is passed")
				}
				_ = l.Take(random.Int64N(2))
				l.Release()
				cancel()
			}
		})
	}
	all.Wait()
	if p.Used() != 0 || len(p.clients) != 0 || len(p.waiting) != 0 {
		t.Errorf("in the end %d in use, clients %v, %d waiting", p.Used(), p.clients, len(p.waiting))
	}
}

// TestReadAll: a body is read into leased memory up to its bound.
func TestReadAll(t *testing.T) {
	t.Parallel()
	p := NewPool("p", 1<<20, 100<<10)
	for _, size := range []int{0, 1, firstBody - 1, firstBody, firstBody + 1, 50_000} {
		l := p.Lease("a")
		body, err := l.ReadAll(strings.NewReader(strings.Repeat("x", size)), 50_000)
		if err != nil || len(body) != size || l.held < int64(size) || l.held > 2*int64(size)+firstBody {
			t.Errorf("%d bytes: %d, %v; %d held", size, len(body), err, l.held)
		}
		l.Release()
	}
	l := p.Lease("a")
	if _, err := l.ReadAll(strings.NewReader(strings.Repeat("x", 50_001)), 50_000); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	l.Release()
	if _, err := l.ReadAll(strings.NewReader(strings.Repeat("x", 90_000)), 1<<20); !errors.Is(err, ErrShare) {
		t.Errorf("over the share: %v", err)
	}
	l.Release()
	if _, err := l.ReadAll(io.MultiReader(strings.NewReader("x"), broken{}), 10); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a broken body: %v", err)
	}
	l.Release()
	if _, err := l.ReadAll(io.MultiReader(strings.NewReader("x"), iotest.ErrReader(io.ErrUnexpectedEOF)), 10); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a body that was cut off: %v", err)
	}
	l.Release()
	if _, err := l.ReadAll(iotest.DataErrReader(strings.NewReader("0123456789")), 9); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large by the byte that comes with the end: %v", err)
	}
	if l.Release(); p.Used() != 0 {
		t.Errorf("%d in use", p.Used())
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

var must = gittest.Must

// TestYield: a lease that yields lets one that waits go first, and has its own again
// after it; alone it goes on.
func TestYield(t *testing.T) {
	t.Parallel()
	p := NewPool("cores", 1, 1)
	long, other := p.Lease("long"), p.Lease("other")
	if err := errors.Join(long.Take(1), long.Yield(t.Context())); err != nil || long.held != 1 {
		t.Fatalf("alone: %v, holds %d", err, long.held)
	}
	got := make(chan error)
	go func() { got <- other.Wait(t.Context(), 1) }()
	for p.Waiting() == 0 {
		runtime.Gosched()
	}
	again := make(chan error)
	go func() { again <- long.Yield(t.Context()) }()
	if err := <-got; err != nil || p.Used() != 1 {
		t.Fatalf("who waited: %v", err)
	}
	for p.Waiting() == 0 {
		runtime.Gosched()
	}
	other.Release()
	if err := <-again; err != nil || long.held != 1 {
		t.Errorf("after it: %v, holds %d", err, long.held)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	go func() { got <- other.Wait(t.Context(), 1) }()
	for p.Waiting() == 0 {
		runtime.Gosched()
	}
	if err := long.Yield(gone); !errors.Is(err, context.Canceled) && err != nil {
		t.Errorf("whose request ended: %v", err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	long.Release()
	other.Release()
	if p.Used() != 0 {
		t.Errorf("%d are left", p.Used())
	}
}
