package hooks

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/limit"
)

// TestBodies: the size of a body and of all bodies is bounded.
func TestBodies(t *testing.T) {
	t.Parallel()
	s := newServer(t, Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true})
	const firstBody = 16 << 10
	for _, size := range []int{0, 1, firstBody - 1, firstBody, firstBody + 1, 5 * firstBody} {
		spaces := strings.Repeat(" ", size)
		if status, _, text := s.send("POST", "/hooks/github/", spaces+pushed, "X-GitHub-Event", "push"); status != 200 {
			t.Errorf("%d bytes: %d %s", size, status, text)
		}
	}
	r := httptest.NewRequest("POST", "http://h/hooks/github/", io.LimitReader(spaces{}, maxBody+1))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != 413 {
		t.Errorf("a larger body: %d, want 413", w.Code)
	}
	r = httptest.NewRequest("POST", "http://h/hooks/github/", spaces{})
	r.ContentLength = maxBody + 1
	w = httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != 413 {
		t.Errorf("a larger body that says so: %d, want 413", w.Code)
	}
	if n := s.bodies.Used(); n != 0 {
		t.Errorf("%d bytes are still in use", n)
	}
}

// TestBodiesOfClients: a client whose bodies are not complete keeps no other client
// from sending one, until everything is in use.
func TestBodiesOfClients(t *testing.T) {
	t.Parallel()
	s := newServer(t, Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true})
	client := "hostile"
	s.Client = func(*http.Request) string { return client }
	hostile := s.bodies.Lease("hostile")
	if err := hostile.Take(maxClientBodies); err != nil {
		t.Fatal(err)
	}
	if status, _, text := s.push(); status != 429 {
		t.Errorf("a client over its share: %d %s, want 429", status, text)
	}
	client = "honest"
	if status, _, text := s.push(); status != 200 {
		t.Errorf("another client: %d %s, want 200", status, text)
	}
	other := s.bodies.Lease("other")
	if err := other.Take(maxClientBodies); err != nil {
		t.Fatal(err)
	}
	if status, _, text := s.push(); status != 503 {
		t.Errorf("everything is in use: %d %s, want 503", status, text)
	}
	hostile.Release()
	s.clock.pass(time.Hour)
	if status, _, text := s.push(); status != 200 {
		t.Errorf("after that: %d %s, want 200", status, text)
	}
}

// TestVolume: what a client sends in a minute is bounded; a body whose length is known is
// refused before it is read; other clients, and callers whose headers prove a secret, go
// on.
func TestVolume(t *testing.T) {
	t.Parallel()
	s := newServer(t, Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true})
	s.volume = limit.New(limit.Rate{Count: 3*len(pushed) + 50, Per: time.Minute}, s.clock.now)
	client := "hostile"
	s.Client = func(*http.Request) string { return client }
	expect := func(want int, length int64, read bool) {
		t.Helper()
		var got bool
		r := httptest.NewRequest("POST", "http://h/hooks/github/", reading{strings.NewReader(pushed), &got})
		r.Header.Set("X-GitHub-Event", "push")
		r.ContentLength = length
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != want || got != read || (want == 429) != (w.Header().Get("Retry-After") == "60") {
			t.Errorf("%s: %d %s, read %v, want %d, %v", client, w.Code, w.Body, got, want, read)
		}
	}
	for range 3 {
		expect(200, int64(len(pushed)), true)
	}
	expect(429, int64(len(pushed)), false)
	expect(429, -1, true)
	client = "honest"
	expect(200, -1, true)
	client = "hostile"
	s.clock.pass(time.Minute)
	expect(200, int64(len(pushed)), true)
}

// spaces is a body without an end.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
