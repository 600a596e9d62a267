package api

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/gitexport"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// clientKotlinSDK sends Bearer, and has ktor's HttpCache: it sends back what
// ETag and Last-Modified said.
func clientKotlinSDK(t *testing.T, s *sites) {
	target := s.big + "/api/translations/big/big/cs/file/"
	a := want(t, target, "Authorization", "Bearer k")
	if string(a.raw) != "# po/cs.po\n" {
		t.Errorf("the file is %q", a.raw)
	}
	etag, modified := a.header.Get("ETag"), a.header.Get("Last-Modified")
	if etag == "" || modified == "" {
		t.Fatalf("headers %v", a.header)
	}
	for _, header := range [][]string{{"If-None-Match", etag}, {"If-None-Match", etag, "If-Modified-Since", modified}} {
		if a := overWire(t, http.MethodGet, target, "", append(header, "Authorization", "Bearer k")...); a.status != http.StatusNotModified || len(a.raw) != 0 {
			t.Errorf("%v: %d, %d bytes", header, a.status, len(a.raw))
		}
	}
	if a := overWire(t, http.MethodGet, target, "", "Authorization", "Bearer k", "If-None-Match", `"other"`); a.status != http.StatusOK {
		t.Errorf("another ETag: %d", a.status)
	}
}

// clientSyncthing divides by total, and downloads what is translated enough.
func clientSyncthing(t *testing.T, s *sites) {
	token := []string{"Authorization", "Token k"}
	for _, e := range fields(t, s.big+"/api/components/big/big/statistics/", "code name total translated", token...).results() {
		stat := e.(map[string]any)
		if total, _ := stat["total"].(float64); total == 0 || stat["translated"].(float64)/total > 1 {
			t.Errorf("%v of %v", stat["translated"], stat["total"])
		}
		if file := want(t, s.big+"/api/translations/big/big/"+stat["code"].(string)+"/file/", token...); len(file.raw) == 0 {
			t.Errorf("an empty file of %v", stat["code"])
		}
	}
}

// clientCheckmkSyncer does not read the API: it clones what git_export names,
// and pulls it later.
func clientCheckmkSyncer(t *testing.T, _ *sites) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("skipped: there is no git program")
	}
	git := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.org")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	upstream := t.TempDir()
	git(upstream, "init", "-q", "-b", "main")
	push := func(text string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(upstream, "de.po"), []byte(text), 0o600))
		git(upstream, "add", "de.po")
		git(upstream, "commit", "-qm", text)
	}
	push("one")
	w := newWriter(t)
	w.Configure([]catalog.Project{{Slug: "p", Settings: projectDefaults("P")}}, []store.ComponentSpec{{Project: "p", Slug: "c", Settings: componentDefaults(""), Repo: upstream, Branch: "main"}})
	mirror, err := gitsource.Open(t.Context(), t.TempDir(), remote.Repository{URL: upstream, Branch: "main"}, gitsource.Options{})
	must(t, err)
	pull := func() {
		t.Helper()
		if _, err := mirror.Fetch(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	pull()
	one := func(*http.Request, string, string) (gitexport.Mirror, string, error) { return mirror, "", nil }
	mux := http.NewServeMux()
	mux.Handle(gitexport.Prefix, gitexport.New(one, func(r *http.Request) string { return r.RemoteAddr }, nil))
	mux.Handle("/", serve(w, Options{}))
	ts := httptest.NewServer(mux)
	t.Cleanup(ts.Close)
	address := want(t, ts.URL+"/api/components/p/c/").text("git_export")
	clone := filepath.Join(t.TempDir(), "clone")
	git(upstream, "clone", "-q", address, clone)
	push("two")
	pull()
	git(clone, "pull", "-q")
	if got := git(clone, "log", "--format=%s"); got != "two\none" {
		t.Errorf("history of the clone: %q", got)
	}
}
