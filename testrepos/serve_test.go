package testrepos_test

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"go.uber.org/goleak"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var must = gittest.Must

// TestServeGoGit clones and fetches with go-git, with a password.
func TestServeGoGit(t *testing.T) {
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	r := testrepos.Load(t, "demo")
	var requests atomic.Int64
	s := r.Serve(t, testrepos.ServeOptions{
		Username: "anna", Password: "secret",
		Hook: func(http.ResponseWriter, *http.Request) bool { requests.Add(1); return false },
	})
	if _, err := git.PlainClone(t.TempDir(), true, &git.CloneOptions{URL: s.URL}); !errors.Is(err, transport.ErrAuthenticationRequired) {
		t.Errorf("without a password: %v", err)
	}
	if requests.Load() != 0 {
		t.Errorf("the hook saw a request without the password")
	}
	auth := &githttp.BasicAuth{Username: "anna", Password: "secret"}
	c, err := git.PlainClone(t.TempDir(), true, &git.CloneOptions{URL: s.URL, Auth: auth})
	must(t, err)
	head, err := c.Head()
	if err != nil || head.Hash().String() != r.Head() || head.Name() != "refs/heads/main" {
		t.Errorf("head %v, %v, want main at %s", head, err, r.Head())
	}
	r.AdvanceAll(t)
	must(t, c.Fetch(&git.FetchOptions{Auth: auth}))
	ref, err := c.Reference("refs/remotes/origin/main", true)
	if err != nil || ref.Hash().String() != r.Head() {
		t.Errorf("fetched %v, %v, want %s", ref, err, r.Head())
	}
	if _, err := c.CommitObject(plumbing.NewHash(r.Hash("20"))); err != nil {
		t.Errorf("a commit of the merged branch did not come: %v", err)
	}
	if err := c.Fetch(&git.FetchOptions{Auth: auth}); !errors.Is(err, git.NoErrAlreadyUpToDate) {
		t.Errorf("second fetch: %v", err)
	}
	if requests.Load() == 0 {
		t.Errorf("the hook saw nothing")
	}
}

// TestServeFault: a hook can break an answer, and an empty repository and other
// paths are answered as by git.
func TestServeFault(t *testing.T) {
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	r := testrepos.Load(t, "forcepush")
	s := r.Serve(t, testrepos.ServeOptions{Hook: func(w http.ResponseWriter, req *http.Request) bool {
		if strings.HasSuffix(req.URL.Path, "/git-upload-pack") {
			http.Error(w, "disk on fire", http.StatusInternalServerError)
			return true
		}
		return false
	}})
	if _, err := git.PlainClone(t.TempDir(), true, &git.CloneOptions{URL: s.URL}); err == nil {
		t.Error("a clone from a broken server succeeded")
	}
	if _, err := git.PlainClone(t.TempDir(), true, &git.CloneOptions{URL: s.URL + "x"}); !errors.Is(err, transport.ErrRepositoryNotFound) {
		t.Errorf("another path: %v", err)
	}
	empty := testrepos.Empty(t).Serve(t, testrepos.ServeOptions{})
	if _, err := git.PlainClone(t.TempDir(), true, &git.CloneOptions{URL: empty.URL}); !errors.Is(err, transport.ErrEmptyRemoteRepository) {
		t.Errorf("empty repository: %v", err)
	}
}

// TestServeGit clones and fetches with git, which negotiates differently from
// go-git, and lets it check every object.
func TestServeGit(t *testing.T) {
	bin, err := exec.LookPath("git")
	if err != nil {
		t.Skip("skipped: there is no git binary")
	}
	r := testrepos.Load(t, "merges")
	s := r.Serve(t, testrepos.ServeOptions{})
	dir := filepath.Join(t.TempDir(), "clone")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(bin, args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("clone", "-q", "--bare", s.URL, dir)
	for r.Rest() > 0 {
		r.Advance(t)
		run("-C", dir, "fetch", "-q", "origin", "+refs/heads/*:refs/heads/*")
		if got := run("-C", dir, "rev-parse", "main"); got != r.Head() {
			t.Fatalf("fetched %s, want %s", got, r.Head())
		}
	}
	run("-C", dir, "fsck", "--strict")
	fromFile := filepath.Join(t.TempDir(), "file")
	run("clone", "-q", "--bare", r.URL(), fromFile)
	if got := run("-C", fromFile, "rev-parse", "HEAD"); got != r.Head() {
		t.Errorf("clone of %s has %s, want %s", r.URL(), got, r.Head())
	}
}
