package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/repoglot/repoglot/testrepos"
)

// isAPI reports whether a request is for the API of a forge, not for git.
func isAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// answers answers the API of a forge always the same, and leaves git alone.
func answers(status int, body string, header ...string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !isAPI(r) {
			return false
		}
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
		return true
	}
}

// TestForgeFaults: whatever a forge answers, edits wait, the reason is told without the
// token, and afterwards there is one request with all of them.
func TestForgeFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it starts servers and waits for pushes")
	}
	t.Parallel()
	w := newForgeWorld(t)
	p := w.add("gitea", map[string]string{"po/cs.po": forgeFile}, nil)
	w.text = p.documented()
	w.start()
	stranger := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	t.Cleanup(stranger.Close)
	p.edit("jana", "One", "Jedna")
	p.edit("jana", "Two", "Dva")
	for _, tt := range []struct {
		name, want string
		answer     func(http.ResponseWriter, *http.Request) bool
	}{
		{"a wrong token", "the forge refuses access: correct the token, or what it permits (status 401): Bad …", answers(401, `{"message":"Bad `+forgeToken+`"}`)},
		{"a token that may not", "what it permits (status 403): no write access", answers(403, `{"message":"no write access"}`)},
		{"a redirect", "redirects (status 307), which is not followed: correct forge_url", answers(307, "", "Location", stranger.URL)},
		{"garbage", "its answer is no JSON", answers(200, "<html>maintenance")},
		{"another JSON", "its answer is no JSON", answers(200, `{"a": 1}`)},
		{"a fault", "the forge does not answer (status 502)", answers(502, "Bad gateway")},
		{"a repository that is not there", "or hides it from the token (status 404)", answers(404, "")},
		{"a connection that breaks", "the forge does not answer: EOF", func(_ http.ResponseWriter, r *http.Request) bool {
			if isAPI(r) {
				panic(http.ErrAbortHandler)
			}
			return false
		}},
		{"a wrong password", "user or password is refused", func(w http.ResponseWriter, r *http.Request) bool {
			if !isAPI(r) {
				w.Header().Set("WWW-Authenticate", `Basic realm="forge"`)
				http.Error(w, "no", http.StatusUnauthorized)
			}
			return !isAPI(r)
		}},
		{"pushing is forbidden", "access is forbidden", func(w http.ResponseWriter, r *http.Request) bool {
			forbidden := r.URL.Query().Get("service") == "git-receive-pack"
			if forbidden {
				http.Error(w, "Permission to own/p0.git denied to l10n-bot.", http.StatusForbidden)
			}
			return forbidden
		}},
	} {
		if tt.name == "pushing is forbidden" { // else nothing is left to push
			p.edit("jana", "Two", "Dvojka")
		}
		w.host.Intercept(tt.answer)
		if got := p.operate("push"); !strings.Contains(got, tt.want) || strings.Contains(got, forgeToken) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got := p.state(); !strings.HasPrefix(got, "Jedna* Dv") || strings.Count(got, "pending") != 2 {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
	w.host.Intercept(nil)
	p.edit("jana", "Two", "Dva")
	p.opens(false)
	p.limited()
	p.hangs()
	if n := len(p.fake.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// documented is the configuration of docs/editing.md for requests, with the names here.
func (p *forgeProject) documented() string {
	p.t.Helper()
	page, err := os.ReadFile("../../docs/editing.md")
	must(p.t, err)
	_, text, _ := strings.Cut(string(page), "### Requests on GitHub, GitLab, Gitea and Forgejo")
	_, text, _ = strings.Cut(text, "```yaml\n")
	text, _, ok := strings.Cut(text, "```")
	if !ok {
		p.t.Fatal("docs/editing.md has no example of requests")
	}
	return "listen: 127.0.0.1:0\ndata_dir: data\npoll_interval: 10h\n" + strings.NewReplacer(
		"slug: app", "slug: "+p.slug, "slug: core", "slug: app", "own/app", p.fake.Repository, "forge: forgejo", "forge: "+p.fake.Kind,
		"git.example.org", strings.TrimPrefix(p.address, "https://"),
	).Replace(text)
}

// limited: a forge that asks to wait is asked nothing before then, also not by hand.
func (p *forgeProject) limited() {
	p.t.Helper()
	p.edit("jana", "Two", "Dvojka")
	p.host.Intercept(answers(429, "", "Retry-After", "2"))
	if why := p.operate("push"); !strings.Contains(why, "the forge wants no more requests for 2s") {
		p.t.Errorf("limited: %q", why)
	}
	var asked atomic.Int64
	p.host.Intercept(func(http.ResponseWriter, *http.Request) bool {
		asked.Add(1)
		return false
	})
	if why := p.operate("push"); !strings.Contains(why, "the forge wants no requests until ") || asked.Load() > 0 {
		p.t.Errorf("before the time is over: %q, %d requests", why, asked.Load())
	}
	if !until(func() bool { return p.operate("push") == "" }) || !strings.Contains(p.fake.Requests()[0].Body, "Dvojka") {
		p.t.Errorf("after the wait: %+v", p.fake.Requests())
	}
	p.host.Intercept(nil)
}

// hangs: while a forge does not answer, strings are served and edited, and whoever waits
// for the push may leave.
func (p *forgeProject) hangs() {
	p.t.Helper()
	asked, leave := make(chan struct{}), make(chan struct{})
	p.host.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if isAPI(r) {
			close(asked)
			select {
			case <-r.Context().Done():
			case <-leave:
			}
		}
		return isAPI(r)
	})
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/api/components/"+p.slug+"/app/repository/", strings.NewReader(`{"operation": "push"}`))
		if err != nil {
			return
		}
		req.Header.Set("Authorization", "Token "+p.tokens["ops"])
		req.Header.Set("Content-Type", "application/json")
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
		}
	}()
	<-asked
	p.edit("petr", "One", "Jednička")
	p.wants("Jednička* Dvojka* | Jednička pending, Dvojka pending", "while the forge hangs")
	cancel()
	<-ended
	close(leave)
	p.host.Intercept(nil)
	p.push()
	if body := p.fake.Requests()[0].Body; !strings.Contains(body, "Jednička") {
		p.t.Errorf("after the forge hung:\n%s", body)
	}
}

// TestForgePushesRefused: a hook of the remote, and commits of others on the branch of
// ours, have edits wait until they are gone; nothing is overwritten.
func TestForgePushesRefused(t *testing.T) {
	t.Parallel()
	w := newForgeWorld(t)
	p := w.add("forgejo", map[string]string{"po/cs.po": forgeFile}, map[string]any{"push_branch": "l10n"})
	w.start()
	hook := filepath.Join(p.repo.Dir, "hooks", "pre-receive")
	must(t, os.MkdirAll(filepath.Dir(hook), 0o755))
	must(t, os.WriteFile(hook, []byte("#!/bin/sh\necho 'Forgejo: branch l10n is protected from force push' >&2\nexit 1\n"), 0o755))
	p.edit("jana", "One", "Jedna")
	p.edit("jana", "Two", "Dva")
	if why := p.operate("push"); !strings.Contains(why, "pre-receive hook declined") || !strings.Contains(why, "branch l10n is protected") {
		t.Errorf("a hook: %q", why)
	}
	p.wants(allPending, "after a hook")
	must(t, os.Remove(hook))
	p.push()
	theirs := p.repo.Commit(t, testrepos.Change{Branch: "l10n", Files: map[string]string{"x": "y"}})
	p.edit("jana", "Two", "Dvojka")
	if why := p.operate("push"); !strings.Contains(why, "the branch l10n has commits that are not of this server: merge the request 1, then edits go on") || p.repo.Tip("l10n") != theirs {
		t.Errorf("a branch of others: %q", why)
	}
	p.wants("Jedna* Dvojka* | Jedna pending, Dvojka pending", "after somebody moved the branch")
	w.stop() // and another branch is set
	p.settings["push_branch"] = "l10n-2"
	w.configure()
	w.serve()
	p.push()
	list := p.fake.Requests()
	if len(list) != 2 || list[1].Head != "l10n-2" || !strings.Contains(list[1].Body, "Dvojka") || p.repo.Tip("l10n") != theirs {
		t.Errorf("another branch: %+v", list)
	}
}

// TestForgeLeft: another push_mode closes the request, also where a forge leaves it open
// without its branch; the edits go where they go now.
func TestForgeLeft(t *testing.T) {
	t.Parallel()
	w := newForgeWorld(t)
	files := map[string]string{"po/cs.po": forgeFile}
	direct, branch := w.add("gitlab", files, nil), w.add("gitea", files, nil)
	w.start()
	for p, mode := range map[*forgeProject]string{direct: "direct", branch: "branch"} {
		p.opens(false)
		p.settings["push_mode"] = mode
	}
	w.configure()
	if !until(func() bool { return direct.fake.Requests()[0].State+branch.fake.Requests()[0].State == "closedclosed" }) {
		t.Errorf("requests: %+v, %+v", direct.fake.Requests(), branch.fake.Requests())
	}
	direct.push()
	direct.wants(allFlushed, "direct")
	branch.push()
	branch.wants(allPending, "without a request")
	if got := branch.ours(); !strings.Contains(got, "Jedna") || !strings.Contains(got, "Dva") {
		t.Errorf("the branch has\n%s", got)
	}
}
