package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/labstack/echo/v4"

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
	h.route = resource.Route{Path: "/held/", Handle: func(context.Context, *store.Snapshot, *rest.Request) (any, error) {
		n := h.ran.Add(1)
		h.begun <- struct{}{}
		<-h.goOn
		return map[string]int32{"n": n}, fail(n)
	}}
	return h
}

// ask sends a request to the route, past the router.
func (h *held) ask(s *Server, target string) answer {
	req := httptest.NewRequest(http.MethodGet, target, nil)
	return s.answerCoded(&h.route, echo.New().NewContext(req, httptest.NewRecorder()))
}

// waitingNow is how many wait for others.
func (f *flights) waitingNow() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, own := range f.running {
		n += own.waiting
	}
	return n
}

// TestRenderedOnce: of many who ask for the same, one renders; who asks for
// something else, or has seen a newer generation, does not wait for it.
func TestRenderedOnce(t *testing.T) {
	t.Parallel()
	w := cacheWorld(t)
	s := serve(w, Options{CacheBytes: 1 << 20})
	h := newHeld(func(int32) error { return nil })
	const clients = 8
	var asking sync.WaitGroup
	bodies := make([]string, clients)
	for i := range clients {
		asking.Go(func() { bodies[i] = string(h.ask(s, "/held/").body) })
	}
	for s.flights.waitingNow() < clients-1 {
		runtime.Gosched()
	}
	<-h.begun
	var others sync.WaitGroup
	others.Go(func() { h.ask(s, "/held/?other=1") })
	<-h.begun
	pull(w, 0)
	others.Go(func() { h.ask(s, "/held/") })
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
	if len(s.flights.running) > 0 {
		t.Errorf("%d flights are left", len(s.flights.running))
	}
}

// TestRenderedAfterFailure: a failure is answered to the one that it happened
// to; the others try for themselves.
func TestRenderedAfterFailure(t *testing.T) {
	t.Parallel()
	s := serve(cacheWorld(t), Options{CacheBytes: 1 << 20})
	h := newHeld(func(n int32) error {
		if n == 1 {
			return rest.ErrInternal
		}
		return nil
	})
	const clients = 4
	var asking sync.WaitGroup
	var fine, failed atomic.Int32
	for range clients {
		asking.Go(func() {
			if h.ask(s, "/held/").status == http.StatusOK {
				fine.Add(1)
			} else {
				failed.Add(1)
			}
		})
	}
	for s.flights.waitingNow() < clients-1 {
		runtime.Gosched()
	}
	close(h.goOn)
	asking.Wait()
	if fine.Load() != clients-1 || failed.Load() != 1 {
		t.Errorf("%d are answered and %d failed, want %d and 1", fine.Load(), failed.Load(), clients-1)
	}
}
