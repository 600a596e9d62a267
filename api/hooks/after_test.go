package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// TestSignedForm: Gitea and Forgejo sign the payload, also when they send it in a form.
func TestSignedForm(t *testing.T) {
	t.Parallel()
	payload := `{"ref":"refs/heads/main","repository":{"full_name":"cup/teapot","clone_url":"https://example.org/cup/teapot.git"}}`
	form := "payload=" + url.QueryEscape(payload)
	for service, headers := range map[string][]string{"gitea": {"X-Gitea-Signature"}, "forgejo": {"X-Forgejo-Signature", "X-Gitea-Signature"}} {
		for _, header := range headers {
			for signed, want := range map[string]int{payload: 200, form: 403} {
				s := newServer(t, Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true, Secured: true, Secret: "s"})
				s.pulls.branches[0].Repo = "https://example.org/cup/teapot.git"
				m := hmac.New(sha256.New, []byte("s"))
				m.Write([]byte(signed))
				r := httptest.NewRequest(http.MethodPost, "http://h/hooks/"+service+"/", strings.NewReader(form))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.Header.Set(header, hex.EncodeToString(m.Sum(nil)))
				rec := httptest.NewRecorder()
				s.ServeHTTP(rec, r)
				if rec.Code != want {
					t.Errorf("%s, %s of %.12s: %d %s", service, header, signed, rec.Code, rec.Body)
				}
			}
		}
	}
}

// TestNothingBeforeAnswer: what depends on private components, a line of the log and a
// pull, comes after the answer.
func TestNothingBeforeAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		component Component
		target    string
	}{
		"refused":         {Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true, Private: true, Secured: true, Secret: "s"}, "/hooks/github/"},
		"pulled":          {Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true, Private: true}, "/hooks/github/"},
		"refused, update": {Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true, Private: true, Secured: true, Secret: "s"}, "/hooks/update/p/app/"},
		"pulled, update":  {Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true, Private: true}, "/hooks/update/p/app/"},
	} {
		s := newServer(t, c.component)
		w := &watched{ResponseRecorder: httptest.NewRecorder()}
		s.pulls.pulling = func() { w.event("pull") }
		s.Logger = slog.New(slog.NewTextHandler(w.log(), nil))
		r := httptest.NewRequest(http.MethodPost, "http://h"+c.target, strings.NewReader(pushed))
		r.Header.Set("X-GitHub-Event", "push")
		s.ServeHTTP(w, r)
		s.work.Wait()
		if w.first() != "answer" || len(w.events) < 2 {
			t.Errorf("%s: %q", name, w.events)
		}
	}
}

// watched notes what happens before an answer is sent.
type watched struct {
	*httptest.ResponseRecorder
	mu     sync.Mutex
	events []string
}

func (w *watched) event(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, name)
}

func (w *watched) first() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append(w.events, "")[0]
}

// Flush sends the answer.
func (w *watched) Flush() { w.event("answer") }

func (w *watched) log() logged { return logged{w} }

// logged notes lines of the log about components.
type logged struct{ w *watched }

// Write notes a line.
func (l logged) Write(p []byte) (int, error) {
	l.w.event("log")
	return len(p), nil
}
