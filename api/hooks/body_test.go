package hooks

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestBodies: the size of a body and of all bodies is bounded.
func TestBodies(t *testing.T) {
	t.Parallel()
	s := newServer(t, Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true})
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
	if n := s.bodies.inUse.Load(); n != 0 {
		t.Errorf("%d bytes are still in use", n)
	}
	s.bodies.inUse.Store(maxBodies)
	if status, _, _ := s.push(); status != 503 {
		t.Errorf("too many at a time: %d, want 503", status)
	}
}

// spaces is a body without an end.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
