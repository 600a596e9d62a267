package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

// held is a route whose answers wait until they may go on.
type held struct {
	route resource.Route
	ran   atomic.Int32
	begun chan struct{} // gets one for each that has begun
	goOn  chan struct{}
}

func newHeld(fail func(n int32) error) *held {
	h := &held{begun: make(chan struct{}, 100), goOn: make(chan struct{})}
	h.route = resource.Route{Path: "/held/", Handle: func(ctx context.Context, _ *store.Snapshot, _ *rest.Request) (any, error) {
		n := h.ran.Add(1)
		h.begun <- struct{}{}
		select {
		case <-h.goOn:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return map[string]int32{"n": n}, fail(n)
	}}
	return h
}

// ask sends a request to the route, past the router, and returns the status and
// the body of its answer.
func (h *held) ask(ctx context.Context, s *Server, target string) (status int, body string) {
	req := httptest.NewRequest(http.MethodGet, target, nil).WithContext(ctx)
	a := s.prepare(exchange{s: s, rt: &h.route, w: httptest.NewRecorder(), req: req}, nil, nil)
	if b, ok := a.body.(content); ok {
		body = string(b)
	}
	return a.status, body
}

// waitFor waits until n requests of a test wait for another one's rendering.
func waitFor(t *testing.T, n int) {
	t.Helper()
	for buf := make([]byte, 1<<20); ; runtime.Gosched() {
		waiting := 0
		for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(stack, "singleflight.(*Group).Do(") && strings.Contains(stack, "sync.(*WaitGroup).Wait(") && strings.Contains(stack, "."+t.Name()+".") {
				waiting++
			}
		}
		if waiting == n {
			return
		}
	}
}

// TestRenderedOnce: of many requests for the same, one is rendered. A request
// for something else, or one that comes after a pull, does not wait for it.
func TestRenderedOnce(t *testing.T) {
	t.Parallel()
	w := bigWorld(t, 60)
	s := serve(w, Options{CacheBytes: 1 << 20})
	h := newHeld(func(int32) error { return nil })
	var asking sync.WaitGroup
	bodies := make([]string, 8)
	for i := range bodies {
		asking.Go(func() { _, bodies[i] = h.ask(t.Context(), s, "/held/") })
	}
	waitFor(t, len(bodies)-1)
	<-h.begun
	var others sync.WaitGroup
	others.Go(func() { h.ask(t.Context(), s, "/held/?other=1") })
	<-h.begun
	pull(w, 0)
	others.Go(func() { h.ask(t.Context(), s, "/held/") })
	<-h.begun // and does not wait for what was begun before the pull
	close(h.goOn)
	asking.Wait()
	others.Wait()
	for _, body := range bodies {
		if body != bodies[0] || body == "" {
			t.Errorf("answers %q", bodies)
		}
	}
	if n := h.ran.Load(); n != 3 {
		t.Errorf("rendered %d times, want 3", n)
	}
}

// TestRenderedAfterFailure: a failure is answered to the one that it happened
// to; the others try for themselves.
func TestRenderedAfterFailure(t *testing.T) {
	t.Parallel()
	s := serve(bigWorld(t, 60), Options{CacheBytes: 1 << 20})
	h := newHeld(func(n int32) error {
		if n == 1 {
			return rest.ErrInternal
		}
		return nil
	})
	const n = 4
	var asking sync.WaitGroup
	var fine, failed atomic.Int32
	for range n {
		asking.Go(func() {
			if status, _ := h.ask(t.Context(), s, "/held/"); status == http.StatusOK {
				fine.Add(1)
			} else {
				failed.Add(1)
			}
		})
	}
	waitFor(t, n-1)
	close(h.goOn)
	asking.Wait()
	if fine.Load() != n-1 || failed.Load() != 1 {
		t.Errorf("%d are answered and %d failed, want %d and 1", fine.Load(), failed.Load(), n-1)
	}
}

// TestRenderedAfterCancellation: when the client whose request is rendered goes
// away, the waiting clients get an answer; a waiting client may go away, too.
func TestRenderedAfterCancellation(t *testing.T) {
	t.Parallel()
	s := serve(bigWorld(t, 60), Options{CacheBytes: 1 << 20})
	h := newHeld(func(int32) error { return nil })
	var asking sync.WaitGroup
	cancelled := make([]int, 2) // the first to ask, and one that waits
	gone := make([]context.CancelFunc, 2)
	ask := func(i int) {
		var ctx context.Context
		ctx, gone[i] = context.WithCancel(t.Context())
		asking.Go(func() { cancelled[i], _ = h.ask(ctx, s, "/held/") })
	}
	ask(0)
	<-h.begun
	ask(1)
	statuses := make([]int, 3)
	for i := range statuses {
		asking.Go(func() { statuses[i], _ = h.ask(t.Context(), s, "/held/") })
	}
	waitFor(t, 1+len(statuses))
	gone[1]()
	gone[0]()
	close(h.goOn)
	asking.Wait()
	for _, status := range statuses {
		if status != http.StatusOK {
			t.Errorf("statuses %v of the waiting clients", statuses)
		}
	}
	for _, status := range cancelled {
		if status != http.StatusServiceUnavailable {
			t.Errorf("statuses %v of the clients that went away", cancelled)
		}
	}
}
