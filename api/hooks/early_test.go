package hooks

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// secured is a server whose components all have secrets.
func secured(t *testing.T) *testServer {
	t.Helper()
	s := newServer(t,
		Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true, Secured: true, Secret: "one"},
		Component{ID: 2, Project: "p", Slug: "lib", Branch: "main", Enabled: true, Secured: true, Secret: "two"})
	s.pulls.branches = s.pulls.branches[:1]
	return s
}

// TestRefusedBeforeBody: where every component has a secret, nothing is read of a call
// that proves none and signs nothing; a plain call is never read unless it is signed.
func TestRefusedBeforeBody(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path   string
		header []string
		read   bool
		want   int
	}{
		{"/hooks/github/", nil, false, 403},
		{"/hooks/github/", []string{"X-Gitlab-Token", "one"}, false, 403},
		{"/hooks/github/", []string{"Authorization", "Bearer three"}, false, 403},
		{"/hooks/github/", []string{"Authorization", "Bearer two"}, true, 200},
		{"/hooks/github/", []string{"X-Hub-Signature-256", "sha256=00"}, true, 403},
		{"/hooks/gitlab/", []string{"X-Gitlab-Token", "three"}, false, 403},
		{"/hooks/gitlab/", []string{"X-Gitlab-Token", "one"}, true, 201}, // no push of GitLab's
		{"/hooks/azure/", []string{"X-Hub-Signature-256", "sha256=00"}, false, 403},
		{"/hooks/update/p/", nil, false, 403},
		{"/hooks/update/p/", []string{"Authorization", "Bearer two"}, false, 200},
		{"/hooks/update/p/", []string{"X-Hub-Signature-256", "sha256=00"}, true, 403},
		{"/hooks/update/q/", nil, false, 404},
	} {
		s := secured(t)
		read := false
		body := io.Reader(strings.NewReader(pushed))
		if strings.Contains(tt.path, "gitlab") {
			body = strings.NewReader(`{"object_kind":"x"}`)
		}
		r := httptest.NewRequest(http.MethodPost, "http://h"+tt.path, reading{body, &read})
		for i := 0; i < len(tt.header); i += 2 {
			r.Header.Set(tt.header[i], tt.header[i+1])
		}
		r.Header.Set("X-GitHub-Event", "push")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != tt.want || read != tt.read {
			t.Errorf("%s %v: %d, want %d; read: %v, want %v; %s", tt.path, tt.header, w.Code, tt.want, read, tt.read, w.Body)
		}
	}
}

// reading notes that it is read.
type reading struct {
	io.Reader
	read *bool
}

func (r reading) Read(p []byte) (int, error) {
	*r.read = true
	return r.Reader.Read(p)
}

// TestProvenHaveRoom: strangers who hold all bytes of bodies keep nobody out who
// proves a secret by a header.
func TestProvenHaveRoom(t *testing.T) {
	t.Parallel()
	s := secured(t)
	for _, client := range []string{"a", "b"} {
		if err := s.bodies.Lease(client).Take(maxClientBodies); err != nil {
			t.Fatal(err)
		}
	}
	if status, _, text := s.push("X-Hub-Signature-256", "sha256=00"); status != 503 {
		t.Errorf("a stranger: %d %s", status, text)
	}
	if status, _, text := s.push("Authorization", "Bearer one"); status != 200 {
		t.Errorf("a caller with a secret: %d %s", status, text)
	}
}

// TestSameWork: the number of secrets that are checked, and of lists that are read,
// does not depend on what a call names.
func TestSameWork(t *testing.T) {
	t.Parallel()
	work := func(body string) [2]int {
		s := newServer(t,
			Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true, Private: true, Secured: true, Secret: "one"},
			Component{ID: 2, Project: "q", Slug: "lib", Branch: "main", Enabled: true, Private: true, Secured: true, Secret: "two"},
			Component{ID: 3, Project: "p", Slug: "old", Branch: "stable", Enabled: true, Private: true, Secured: true, Secret: "one"})
		checked := 0
		counting := github
		counting.signed = func(*call, string) bool { checked++; return false }
		r := httptest.NewRequest(http.MethodPost, "http://h/hooks/github/", strings.NewReader(body))
		r.Header.Set("X-GitHub-Event", "push")
		if a := s.notice(r, &counting); a.status != 202 {
			t.Errorf("%s: %d", body, a.status)
		}
		return [2]int{checked, s.pulls.lists}
	}
	private := work(pushed)
	for _, body := range []string{strings.ReplaceAll(pushed, "teapot", "cup"), strings.ReplaceAll(pushed, "/main", "/next")} {
		if got := work(body); got != private {
			t.Errorf("%s: %v checks and lists, a private repository %v", body, got, private)
		}
	}
	update := func(project string) int {
		s := secured(t)
		s.pulls.branches = append(s.pulls.branches, Branch{Key: "x", Repo: "x", Projects: []string{"x"}}, Branch{Key: "y", Repo: "y", Projects: []string{"p"}}, Branch{Key: "z", Repo: "z"})
		if status, _, text := s.send(http.MethodPost, "/hooks/update/"+project+"/", ""); status == 200 {
			t.Errorf("%d %s", status, text)
		}
		return s.pulls.lists
	}
	if update("p") != update("none") {
		t.Error("the lists that are read tell of a project")
	}
}

// TestLoggedPayload: no line of the log grows with a payload.
func TestLoggedPayload(t *testing.T) {
	t.Parallel()
	s := newServer(t, Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true})
	var log bytes.Buffer
	s.Logger = slog.New(slog.NewTextHandler(&log, nil))
	long := strings.Repeat("ž", maxText/2)
	s.send(http.MethodPost, "/hooks/gitlab/", `{"ref":"`+long+`","repository":{"url":"`+long+`","homepage":"`+long+`"}}`)
	if log.Len() == 0 || log.Len() > 4*maxLogged {
		t.Errorf("%d bytes are logged: %s", log.Len(), log.String())
	}
}
