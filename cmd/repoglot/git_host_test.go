package main

import (
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

// gitHost serves the repositories below a folder over git's smart HTTP protocol, with the
// git program (git-http-backend(1)). It is an http.Handler.
type gitHost struct {
	// Root is the folder.
	Root string
	// User and Password must be sent by basic authentication; without them nothing is asked
	// for. A client that has sent a user may push, too.
	User, Password string
}

// ServeHTTP answers git.
func (h *gitHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	if h.Password != "" && (user == "" || h.User != "" && user != h.User || password != h.Password) {
		w.Header().Set("WWW-Authenticate", `Basic realm="testrepos"`)
		http.Error(w, "wrong user or password", http.StatusUnauthorized)
		return
	}
	git, err := exec.LookPath("git")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	backend := cgi.Handler{Path: git, Args: []string{"http-backend"}, Stderr: io.Discard, Env: []string{
		"GIT_PROJECT_ROOT=" + h.Root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=" + user,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_CONFIG_KEY_1=receive.autogc", "GIT_CONFIG_VALUE_1=false",
	}}
	backend.ServeHTTP(w, r)
}

// TestGitHost clones, fetches and pushes with git, which asks for a password, and lets it
// check every object.
func TestGitHost(t *testing.T) {
	gittest.NeedGit(t)
	r := testrepos.Load(t, "merges")
	root, name := filepath.Split(r.Path())
	s := httptest.NewServer(&gitHost{Root: root, Password: "secret"})
	t.Cleanup(s.Close)
	url := strings.Replace(s.URL, "//", "//anna:secret@", 1) + "/" + name
	dir := filepath.Join(t.TempDir(), "clone")
	gittest.RunGit(t, "", "clone", "-q", "--bare", url, dir)
	for r.Rest() > 0 {
		r.Advance(t)
		gittest.RunGit(t, dir, "fetch", "-q", "origin", "+refs/heads/*:refs/heads/*")
		if got := gittest.RunGit(t, dir, "rev-parse", "main"); got != r.Head() {
			t.Fatalf("fetched %s, want %s", got, r.Head())
		}
	}
	gittest.RunGit(t, dir, "fsck", "--strict")
	gittest.RunGit(t, dir, "push", "-q", "origin", "main:pushed")
	if r.Tip("pushed") != r.Head() {
		t.Errorf("pushed %q, want %s", r.Tip("pushed"), r.Head())
	}
	for path, want := range map[string]int{"/" + name: http.StatusUnauthorized, "/other.git": http.StatusNotFound} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path+"/info/refs?service=git-upload-pack", http.NoBody)
		must(t, err)
		if req.SetBasicAuth("anna", "secret"); want == http.StatusUnauthorized {
			req.SetBasicAuth("anna", "wrong")
		}
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		must(t, resp.Body.Close())
		if resp.StatusCode != want {
			t.Errorf("%s: %s, want %d", path, resp.Status, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	fromFile := filepath.Join(t.TempDir(), "file")
	gittest.RunGit(t, "", "clone", "-q", "--bare", r.URL(), fromFile)
	if got := gittest.RunGit(t, fromFile, "rev-parse", "HEAD"); got != r.Head() {
		t.Errorf("clone of %s has %s, want %s", r.URL(), got, r.Head())
	}
}
