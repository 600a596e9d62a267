package testrepos_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var must = gittest.Must

// TestServe clones, fetches and pushes with git, which asks for a password, and lets it
// check every object.
func TestServe(t *testing.T) {
	gittest.NeedGit(t)
	r := testrepos.Load(t, "merges")
	root, name := filepath.Split(r.Path())
	s := httptest.NewServer(testrepos.GitHost{Root: root, Password: "secret"})
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
