package gitexport_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/gitexport"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// connection names clients by their connections.
func connection(r *http.Request) string { return r.RemoteAddr }

// only finds a mirror as p/c.
func only(m gitexport.Mirror) gitexport.Find {
	return func(_ *http.Request, project, component string) (gitexport.Mirror, string, error) {
		if project != "p" || component != "c" {
			return nil, "", catalog.ErrNotFound
		}
		return m, "", nil
	}
}

// git runs the git program.
func git(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.org",
	}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func mustGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git(t, dir, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func commit(t *testing.T, dir, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, "de.po"), []byte(text), 0o600))
	mustGit(t, dir, "add", "de.po")
	mustGit(t, dir, "commit", "-qm", text)
}

// start makes a repository with two commits and a branch without a component, and
// a server of its mirror.
func start(t *testing.T) (work, url string, m *gitsource.Mirror) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI=true, and the git program is missing")
		}
		t.Skip("skipped: there is no git program on this machine")
	}
	work = t.TempDir()
	mustGit(t, work, "init", "-q", "-b", "main")
	commit(t, work, "one")
	commit(t, work, "two")
	mustGit(t, work, "checkout", "-qb", "secret")
	commit(t, work, "three")
	mustGit(t, work, "tag", "v1")
	mustGit(t, work, "checkout", "-q", "main")
	m, err := gitsource.Open(t.Context(), t.TempDir(), remote.Repository{URL: work, Branch: "main"}, gitsource.Options{})
	must(t, err)
	ts := httptest.NewServer(gitexport.New(only(m), connection, nil))
	t.Cleanup(ts.Close)
	return work, ts.URL + "/git/p/c/", m
}

func pull(t *testing.T, m *gitsource.Mirror) {
	t.Helper()
	if _, err := m.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestGit clones, lists, fetches and pushes.
func TestGit(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"0", "1", "2"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			work, url, m := start(t)
			version := []string{"-c", "protocol.version=" + protocol}
			if out, err := git(t, work, append(version, "ls-remote", url)...); err == nil || !strings.Contains(out, "503") {
				t.Errorf("before the first fetch: %v %s", err, out)
			}
			pull(t, m)
			head := mustGit(t, work, "rev-parse", "main")
			if got, want := mustGit(t, work, append(version, "ls-remote", url)...), head+"\tHEAD\n"+head+"\trefs/heads/main"; got != want {
				t.Errorf("ls-remote: %s, want %s", got, want)
			}
			clone := filepath.Join(t.TempDir(), "clone")
			mustGit(t, work, append(version, "clone", "-q", url, clone)...)
			mustGit(t, clone, "fsck", "--strict")
			if got := mustGit(t, clone, "log", "--format=%s"); got != "two\none" {
				t.Errorf("history of the clone: %s", got)
			}
			if out, err := git(t, clone, "cat-file", "-e", mustGit(t, work, "rev-parse", "v1")); err == nil {
				t.Errorf("the clone has what another branch holds: %s", out)
			}
			commit(t, work, "four")
			pull(t, m)
			mustGit(t, clone, append(version, "pull", "-q")...)
			if got := mustGit(t, clone, "log", "--format=%s"); got != "four\ntwo\none" {
				t.Errorf("history after a fetch: %s", got)
			}
			if out, err := git(t, clone, append(version, "push", url, "HEAD:x")...); err == nil || !strings.Contains(out, "403") {
				t.Errorf("push: %v %s", err, out)
			}
			shallow := filepath.Join(t.TempDir(), "shallow")
			out, err := git(t, work, append(version, "clone", "-q", "--depth", "1", url, shallow)...)
			switch {
			case err != nil:
				t.Errorf("shallow clone: %s", out)
			case mustGit(t, shallow, "log", "--format=%s") != "four":
				t.Error("a shallow clone has more than a commit")
			}
		})
	}
}

// TestNoGit: a server that may not use the git program says so.
func TestNoGit(t *testing.T) {
	t.Parallel()
	work, _, m := start(t)
	pull(t, m)
	without, err := gitsource.Open(t.Context(), t.TempDir(), m.Remote(), gitsource.Options{Remote: remote.Options{Transport: "builtin"}})
	must(t, err)
	pull(t, without)
	ts := httptest.NewServer(gitexport.New(only(without), connection, nil))
	defer ts.Close()
	if out, err := git(t, work, "ls-remote", ts.URL+"/git/p/c/"); err == nil || !strings.Contains(out, "503") {
		t.Errorf("%v %s", err, out)
	}
	res, err := http.Get(ts.URL + "/git/p/c/info/refs?service=git-upload-pack")
	must(t, err)
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); res.StatusCode != 503 || !strings.Contains(string(text), "has no git program") {
		t.Errorf("%d %s", res.StatusCode, text)
	}
}

// TestRefused sends requests that are refused.
func TestRefused(t *testing.T) {
	t.Parallel()
	_, url, m := start(t)
	pull(t, m)
	const kind = "application/x-git-upload-pack-request"
	for _, tc := range []struct {
		method, path, kind, encoding, body string
		status                             int
		says                               string
	}{
		{"GET", "info/refs?service=git-receive-pack", "", "", "", 403, "read-only copy"},
		{"POST", "git-receive-pack", "", "", "0000", 403, "read-only copy"},
		{"GET", "info/refs", "", "", "", 403, "smart protocol"},
		{"GET", "HEAD", "", "", "", 404, ""},
		{"GET", "objects/info/packs", "", "", "", 404, ""},
		{"GET", "../../../config", "", "", "", 404, ""},
		{"GET", "", "", "", "", 200, "git clone"},
		{"GET", "git-upload-pack", "", "", "", 405, ""},
		{"POST", "info/refs?service=git-upload-pack", "", "", "", 405, ""},
		{"POST", "git-upload-pack", "text/plain", "", "0000", 415, ""},
		{"POST", "git-upload-pack", kind, "gzip", "0000", 400, ""},
		{"POST", "git-upload-pack", kind, "", strings.Repeat("0", 4<<20+1), 413, "longer than"},
		{"POST", "git-upload-pack", kind, "", "no pkt-line", 400, "no request of git"},
		{"GET", "../x/info/refs?service=git-upload-pack", "", "", "", 404, "Not found."},
	} {
		target := strings.TrimSuffix(url, "/") + "/" + tc.path
		if name, ok := strings.CutPrefix(tc.path, "../x"); ok {
			target = strings.Replace(url, "/p/c/", "/p/x", 1) + name
		}
		req, err := http.NewRequest(tc.method, target, bytes.NewReader([]byte(tc.body)))
		must(t, err)
		req.Header.Set("Content-Type", tc.kind)
		req.Header.Set("Content-Encoding", tc.encoding)
		rec := httptest.NewRecorder()
		gitexport.New(only(m), connection, nil).ServeHTTP(rec, req)
		if rec.Code != tc.status || !strings.Contains(rec.Body.String(), tc.says) {
			t.Errorf("%s %s: %d %s, want %d %q", tc.method, tc.path, rec.Code, rec.Body, tc.status, tc.says)
		}
	}
}

var must = gittest.Must
