package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pulls is a configuration that records the calls of its methods.
type pulls struct {
	branches   []Branch
	components map[string][]Component
	broken     error
	lists      int // calls of Components

	mu      sync.Mutex
	record  func() // called in Record
	pulling func() // called in Pull
	log     []string
}

func (p *pulls) add(b Branch, c Component) {
	p.branches = append(p.branches, b)
	p.components[b.Key] = append(p.components[b.Key], c)
}

func (p *pulls) Branches() []Branch { return p.branches }

func (p *pulls) Components(_ context.Context, key string) ([]Component, error) {
	p.lists++
	return p.components[key], p.broken
}

func (p *pulls) Record(_ context.Context, key string, ids []int64, event map[string]string) error {
	if p.record != nil {
		p.record()
	}
	p.note(fmt.Sprintf("53 %s %v %s %s", key, ids, event["service_long_name"], event["branch"]))
	return nil
}

func (p *pulls) Pull(key string) {
	if p.pulling != nil {
		p.pulling()
	}
	p.note("pull " + key)
}

func (p *pulls) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, what)
}

// did returns what happened since the last call.
func (p *pulls) did() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.log
	p.log = nil
	return list
}

// clock is a clock that tests move.
type clock struct {
	mu    sync.Mutex
	at    time.Time
	waits map[int]alarm
	next  int
}

type alarm struct {
	at time.Time
	do func()
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) after(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.next
	c.next++
	c.waits[n] = alarm{c.at.Add(d), f}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, waited := c.waits[n]
		delete(c.waits, n)
		return waited
	}
}

// pass lets time pass and does what comes due.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	c.at = c.at.Add(d)
	var due []func()
	for n, a := range c.waits {
		if !a.at.After(c.at) {
			due = append(due, a.do)
			delete(c.waits, n)
		}
	}
	c.mu.Unlock()
	for _, do := range due {
		do()
	}
}

// testServer is a server with a configuration.
type testServer struct {
	*Server
	t     *testing.T
	pulls *pulls
	clock *clock
}

// teapot is the repository that calls name.
const teapot = "https://github.com/kitchen/teapot.git"

func newServer(t *testing.T, components ...Component) *testServer {
	t.Helper()
	p := &pulls{components: map[string][]Component{}}
	for _, c := range components {
		key := "teapot#" + c.Branch
		if p.components[key] == nil {
			p.branches = append(p.branches, Branch{Key: key, Repo: teapot, Projects: nil})
		}
		i := slices.IndexFunc(p.branches, func(b Branch) bool { return b.Key == key })
		p.branches[i].Projects = append(p.branches[i].Projects, c.Project)
		p.components[key] = append(p.components[key], c)
	}
	p.add(Branch{Key: "pan", Repo: "https://github.com/kitchen/pan.git", Projects: []string{"pan"}}, Component{ID: 99, Project: "pan", Slug: "pan", Enabled: true})
	for i := range p.branches {
		b := &p.branches[i]
		for _, c := range p.components[b.Key] {
			if b.Open = b.Open || !c.Secured; c.Secret != "" {
				b.Secrets = append(b.Secrets, c.Secret)
			}
		}
	}
	c := &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), waits: map[int]alarm{}}
	s := New(Options{Pulls: p, Now: c.now, AfterFunc: c.after, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	t.Cleanup(s.Close)
	return &testServer{Server: s, t: t, pulls: p, clock: c}
}

// send plays a call and waits until everything is done.
func (s *testServer) send(method, path, body string, header ...string) (int, answer, string) {
	s.t.Helper()
	r := httptest.NewRequest(method, "http://h"+path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	s.work.Wait()
	var a answer
	text := w.Body.String()
	if w.Header().Get("Content-Type") == "application/json" {
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
			s.t.Errorf("%s %s: %v: %s", method, path, err, text)
		}
	}
	return w.Code, a, text
}

// push plays a push to main as GitHub tells of it.
func (s *testServer) push(header ...string) (int, answer, string) {
	s.t.Helper()
	return s.send("POST", "/hooks/github/", pushed, append(header, "X-GitHub-Event", "push")...)
}

const pushed = `{"ref":"refs/heads/main","repository":{"name":"teapot","owner":{"login":"kitchen"},"default_branch":"trunk","clone_url":"` + teapot + `"}}`

// TestAnswers checks the answers of docs/compatibility.md#webhooks.
func TestAnswers(t *testing.T) {
	t.Parallel()
	form := "hook=x&payload=%7B%22ref%22%3A%22refs%2Fheads%2Fmain%22%2C%22repository%22%3A%7B%22name%22%3A%22teapot%22%2C%22owner%22%3A%7B%22login%22%3A%22kitchen%22%7D%7D%7D"
	for _, tt := range []struct {
		name, method, path, body, kind, event string
		status                                int
		want                                  string // the message
	}{
		{"push", "POST", "/hooks/github/", pushed, "", "push", 200, "Update triggered: p/app"},
		{"no slash", "POST", "/hooks/github", pushed, "", "push", 200, "Update triggered: p/app"},
		{"form", "POST", "/hooks/github/", form, "application/x-www-form-urlencoded; charset=utf-8", "push", 200, "Update triggered: p/app"},
		{"form without it", "POST", "/hooks/github/", "hook=x", "application/x-www-form-urlencoded", "push", 400, "Could not parse JSON payload!"},
		{"bad escape", "POST", "/hooks/github/", "payload=%zz", "application/x-www-form-urlencoded", "push", 400, "Could not parse JSON payload!"},
		{"get", "GET", "/hooks/github/", "", "", "", 405, "Method not allowed."},
		{"unknown", "POST", "/hooks/sourceforge/", "{}", "", "", 404, "Not found."},
		{"none", "POST", "/hooks/", "{}", "", "", 404, "Not found."},
		{"deep", "POST", "/hooks/github/x/", "{}", "", "", 404, "Not found."},
		{"no JSON", "POST", "/hooks/github/", "push!", "", "push", 400, "Invalid data in json payload!"},
		{"nothing", "POST", "/hooks/github/", "", "", "push", 400, "Invalid data in json payload!"},
		{"empty", "POST", "/hooks/gitlab/", " { } ", "", "", 400, "Invalid data in json payload!"},
		{"null", "POST", "/hooks/github/", "null", "", "ping", 400, "Invalid data in json payload!"},
		{"list", "POST", "/hooks/gitlab/", "[]", "", "", 400, "Invalid data in json payload!"},
		{"no repository", "POST", "/hooks/github/", `{"ref":"refs/heads/main"}`, "", "push", 400, "Invalid data in json payload!"},
		{"wrong type", "POST", "/hooks/github/", `{"ref":1,"repository":[]}`, "", "push", 400, "Invalid data in json payload!"},
		{"ping", "POST", "/hooks/github/", `{"zen":"x"}`, "", "ping", 201, "Hook working"},
		{"elsewhere", "POST", "/hooks/github/", strings.ReplaceAll(pushed, "teapot", "cup"), "", "push", 202, "No matching repositories found!"},
		{"other branch", "POST", "/hooks/github/", strings.ReplaceAll(pushed, "/main", "/next"), "", "push", 202, "No matching repositories found!"},
		{"tag", "POST", "/hooks/github/", strings.ReplaceAll(pushed, "heads/main", "tags/main"), "", "push", 202, "No matching repositories found!"},
		{"update", "GET", "/hooks/update/p/", "", "", "", 200, "Update triggered"},
		{"update one", "POST", "/hooks/update/p/app", "", "", "", 200, "Update triggered"},
		{"update put", "PUT", "/hooks/update/p/app/", "", "", "", 200, "Update triggered"},
		{"update nobody", "GET", "/hooks/update/q/", "", "", "", 404, "Not found."},
		{"update nothing", "GET", "/hooks/update/p/q/", "", "", "", 404, "Not found."},
		{"update deep", "GET", "/hooks/update/p/app/cs/", "", "", "", 404, "Not found."},
		{"update none", "POST", "/hooks/update/", "", "", "", 404, "Not found."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true})
			status, a, text := s.send(tt.method, tt.path, tt.body, "Content-Type", tt.kind, "X-GitHub-Event", tt.event)
			if got := a.Message; status != tt.status || got != tt.want && (status != 400 || text != tt.want) {
				t.Errorf("%d %s, want %d %s", status, text, tt.status, tt.want)
			}
			if pulled := len(s.pulls.did()) > 0; pulled != (status == 200) {
				t.Errorf("status %d, pulled: %v", status, pulled)
			}
			if word := "success"; (a.Status == word) != (status < 202) && status != 400 {
				t.Errorf("status %d says %q", status, a.Status)
			}
		})
	}
}

// TestSecrets: which callers pull what, and what other callers learn.
func TestSecrets(t *testing.T) {
	t.Parallel()
	open := Component{ID: 1, Project: "open", Slug: "app", Branch: "main", Enabled: true}
	signed := Component{ID: 2, Project: "signed", Slug: "app", Branch: "main", Enabled: true, Secured: true, Secret: "one"}
	unset := Component{ID: 3, Project: "unset", Slug: "app", Branch: "main", Enabled: true, Secured: true}
	private := Component{ID: 4, Project: "private", Slug: "app", Branch: "main", Enabled: true, Private: true}
	hidden := Component{ID: 5, Project: "hidden", Slug: "app", Branch: "main", Enabled: true, Private: true, Secured: true, Secret: "two"}
	none := []string(nil)
	for _, tt := range []struct {
		name       string
		components []Component
		secret     string
		push       int
		update     int // of the first component's project
		told, done []string
	}{
		{"open", []Component{open}, "", 200, 200, []string{"open/app"}, []string{"53 teapot#main [1] GitHub main", "pull teapot#main"}},
		{"open, signed with something", []Component{open}, "x", 200, 200, []string{"open/app"}, []string{"53 teapot#main [1] GitHub main", "pull teapot#main"}},
		{"signed", []Component{signed}, "one", 200, 200, []string{"signed/app"}, []string{"53 teapot#main [2] GitHub main", "pull teapot#main"}},
		{"wrong", []Component{signed}, "two", 403, 403, none, none},
		{"missing", []Component{signed}, "", 403, 403, none, none},
		{"no secret is set", []Component{unset}, "", 403, 403, none, none},
		{"no secret is set, signed", []Component{unset}, "x", 403, 403, none, none},
		{"both, unsigned", []Component{open, signed}, "", 200, 200, []string{"open/app"}, []string{"53 teapot#main [1] GitHub main", "pull teapot#main"}},
		{"both, signed", []Component{open, signed}, "one", 200, 200, []string{"open/app", "signed/app"}, []string{"53 teapot#main [1 2] GitHub main", "pull teapot#main"}},
		{"private", []Component{private}, "", 202, 404, none, []string{"53 teapot#main [4] GitHub main", "pull teapot#main"}},
		{"hidden, wrong", []Component{hidden}, "one", 202, 404, none, none},
		{"hidden, missing", []Component{hidden}, "", 202, 404, none, none},
		{"hidden, signed", []Component{hidden}, "two", 200, 200, []string{"hidden/app"}, []string{"53 teapot#main [5] GitHub main", "pull teapot#main"}},
		{"hidden and signed, wrong", []Component{signed, hidden}, "x", 403, 403, none, none},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, tt.components...)
			var header []string
			if tt.secret != "" {
				header = []string{"Authorization", "Bearer " + tt.secret}
			}
			status, a, text := s.push(header...)
			if diff := cmp.Diff(tt.told, a.Updated); diff != "" || status != tt.push {
				t.Errorf("status %d, want %d; told (-want +got):\n%s", status, tt.push, diff)
			}
			if status == 202 {
				_, _, other := s.send("POST", "/hooks/github/", strings.ReplaceAll(pushed, "teapot", "cup"), "X-GitHub-Event", "push")
				if text != other {
					t.Errorf("a stranger can tell:\n%s\n%s", text, other)
				}
			}
			if diff := cmp.Diff(tt.done, s.pulls.did()); diff != "" {
				t.Errorf("done (-want +got):\n%s", diff)
			}
			s = newServer(t, tt.components...)
			if status, _, _ := s.send("GET", "/hooks/update/"+tt.components[0].Project+"/", "", header...); status != tt.update {
				t.Errorf("update: %d, want %d", status, tt.update)
			}
			if done := len(s.pulls.did()) > 0; done != (len(tt.done) > 0) {
				t.Errorf("update pulled: %v", done)
			}
		})
	}
}

// TestPrivateWaitsForNothing: the time of an answer does not reveal private
// components.
func TestPrivateWaitsForNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true, Private: true})
	stuck := make(chan struct{})
	s.pulls.record = func() { <-stuck }
	r := httptest.NewRequest("POST", "http://h/hooks/github/", strings.NewReader(pushed))
	r.Header.Set("X-GitHub-Event", "push")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r) // hangs if it waits
	if w.Code != 202 {
		t.Errorf("status %d", w.Code)
	}
	close(stuck)
	s.work.Wait()
	if got := len(s.pulls.did()); got != 2 {
		t.Errorf("%d things done, want 2", got)
	}
}

// TestHostile: payloads that are large, deep or long.
func TestHostile(t *testing.T) {
	t.Parallel()
	const n = 1 << 17
	s := newServer(t, Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true})
	for name, tt := range map[string]struct {
		path, body, event string
		status            int
	}{
		"deep":     {"github", strings.Repeat(`{"repository":`, n), "push", 400},
		"lists":    {"github", `{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}", "push", 400},
		"links":    {"bitbucket", `{"repository":{"full_name":"a/b","links":{"clone":[` + strings.Repeat("{},", n) + `{}]}}}`, "repo:push", 202},
		"changes":  {"bitbucket", `{"repository":{"full_name":"a/b"},"push":{"changes":[` + strings.Repeat(`{"new":{"name":"x"}},`, n) + `{}]}}`, "repo:push", 202},
		"no list":  {"bitbucket", `{"repository":{"full_name":"a/b"},"push":{"changes":{}}}`, "repo:push", 400},
		"no links": {"bitbucket", `{"repository":{"full_name":"a/b","owner":{"x":[1]},"links":{"clone":null}}}`, "repo:push", 202},
		"updates":  {"azure", `{"eventType":"git.push","resource":{"repository":{"name":"a","remoteUrl":"x"},"refUpdates":[` + strings.Repeat("{},", n) + `{}]}}`, "", 202},
		"name":     {"github", `{"ref":"r","repository":{"name":"` + strings.Repeat("n", n) + `","owner":{"login":"o"}}}`, "push", 202},
	} {
		status, _, text := s.send("POST", "/hooks/"+tt.path+"/", tt.body, "X-GitHub-Event", tt.event, "X-Event-Key", tt.event)
		if status != tt.status {
			t.Errorf("%s: %d %.200s, want %d", name, status, text, tt.status)
		}
	}
	if did := s.pulls.did(); did != nil {
		t.Errorf("done: %v", did)
	}
}

// TestStoreFails: an answer does not say what broke.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	s := newServer(t, Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true})
	s.pulls.broken = errors.New("disk of /srv is gone")
	for _, path := range []string{"/hooks/github/", "/hooks/update/p/"} {
		if status, _, text := s.send("POST", path, pushed, "X-GitHub-Event", "push"); status != http.StatusServiceUnavailable || strings.Contains(text, "/srv") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

func FuzzCall(f *testing.F) {
	for name, p := range payloads(f) {
		service, _, _ := strings.Cut(name, "-")
		f.Add(service, p.payload, "push", "")
		f.Add(service, "payload="+p.payload, "repo:push", "application/x-www-form-urlencoded")
	}
	f.Add("update/p/app", "", "", "")
	f.Fuzz(func(t *testing.T, path, body, event, kind string) {
		p := &pulls{
			branches:   []Branch{{Key: "k", Repo: "https://nobody.example/nothing/there", Projects: []string{"p"}}},
			components: map[string][]Component{"k": {{ID: 1, Project: "p", Slug: "app", Enabled: true, Secured: true, Secret: "not to be guessed"}}},
		}
		s := New(Options{Pulls: p})
		defer s.Close()
		r := httptest.NewRequest("POST", "http://h/hooks/", strings.NewReader(body))
		r.URL.Path = "/hooks/" + path
		for _, key := range []string{"X-GitHub-Event", "X-Gitea-Event", "X-Event-Key"} {
			r.Header.Set(key, event)
		}
		r.Header.Set("Content-Type", kind)
		r.Header.Set("X-Hub-Signature-256", "sha256="+event)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if !slices.Contains([]int{201, 202, 400, 403, 404, 405}, w.Code) {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		s.work.Wait()
		if did := p.did(); did != nil {
			t.Errorf("done without the secret: %v", did)
		}
	})
}
