package gitsource

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	gogit "github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/repoglot/repoglot/gitsource/derive"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
	"golang.org/x/crypto/ssh"
)

// derived is a commit that sets po/cs.po.
func derived(parent object.Hash, text string) derive.Commit {
	when := time.Unix(1_700_000_000, 0).UTC()
	return derive.Commit{
		Parent: parent, Files: []derive.File{{Path: "po/cs.po", Data: []byte(text)}},
		Author: object.Signature{Name: "J", When: when}, Committer: object.Signature{Name: "S", When: when}, Message: "m",
	}
}

// TestMatrix clones, fetches, pushes in all ways that a flush does, and follows a rewritten
// branch: from each kind of remote, with the git program and without one.
func TestMatrix(t *testing.T) {
	git := gittest.NeedGit(t)
	root, u := upstreamBelow(t)
	u.Write("config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[http]\n\treceivepack = true\n")
	srv, _ := guarded(t, backend(t, root))
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	client, host := newKey(t, key), newKey(t, filepath.Join(dir, "host"))
	sshd := listenSSH(t, client.PublicKey(), host, func(command string, ch ssh.Channel) error {
		service, path, _ := strings.Cut(strings.TrimPrefix(command, "git-"), " ")
		cmd := exec.Command(git, service, filepath.Join(root, strings.Trim(path, "'")))
		cmd.Stdout, cmd.Stderr = ch, ch.Stderr()
		in, err := cmd.StdinPipe() // Wait does not wait for it
		if err != nil {
			return err
		}
		go func() { _, _ = io.Copy(in, ch); _ = in.Close() }()
		return cmd.Run()
	})
	known := knownHosts(t, sshd, host.PublicKey())
	daemon(t, root) // git may have none
	address := inetd(t, git, "daemon", "--inetd", "--export-all", "--enable=receive-pack", "--base-path="+root)
	for name, repo := range map[string]remote.Repository{
		"local": {URL: u.Dir},
		"http":  {URL: srv.URL + "/up.git", Credential: &remote.Credential{Username: "anna", Password: "hunter2"}},
		"ssh":   {URL: "ssh://git@" + sshd + "/up.git", Credential: &remote.Credential{SSHKey: key}},
		"git":   {URL: "git://" + address + "/up.git"},
	} {
		repo.Branch = "main"
		for with, opts := range map[string]remote.Options{"with git": {}, "no git in PATH": {GitBinary: "no-such-git"}, "builtin": {Transport: "builtin"}} {
			t.Run(name+", "+with, func(t *testing.T) {
				opts.KnownHosts = []string{known}
				pushes(t, u, name+" "+strings.ReplaceAll(with, " ", "-"), repo, opts)
			})
		}
	}
}

func pushes(t *testing.T, u *upstream, name string, repo remote.Repository, opts remote.Options) {
	t.Setenv("HOME", t.TempDir())
	base := u.Push("A", files{"po/cs.po": "1", "x": "y"})
	m := openMirror(t, repo, Options{Remote: opts})
	checkFetch(t, m, "main", files{"po/cs.po": "1", "x": "y"})
	w, err := m.Writer(t.Context())
	gittest.Must(t, err)
	defer w.Close()
	commit := func(parent object.Hash, text string) object.Hash {
		t.Helper()
		id, err := w.Commit(t.Context(), derived(parent, text))
		gittest.Must(t, err)
		return id
	}
	first := commit(w.Head().Hash, "2 "+name)
	second := commit(first, "3")
	at := func(branch string, want object.Hash) {
		t.Helper()
		got, err := object.ReadRef(u.Dir, "refs/heads/"+branch)
		if err != nil && !want.IsZero() || got != want {
			t.Fatalf("%s is at %s, %v, want %s", branch, got, err, want)
		}
	}
	push := func(p remote.Push, want error) {
		t.Helper()
		if err := w.Push(t.Context(), remote.Repository{}, p); !errors.Is(err, want) {
			t.Fatalf("push: %v, want %v", err, want)
		}
	}
	if _, git := opts.Git(); !git && repo.URL == u.Dir {
		push(remote.Push{Branch: "main", Commit: second}, remote.ErrUnsupported) // hooks would not run
		gittest.Must(t, w.Store())
		gittest.RunGit(t, u.Dir, "fetch", "-q", w.gitDir, second.String()+":refs/heads/main")
	} else {
		push(remote.Push{Branch: "main", Commit: second}, nil)
		push(remote.Push{Branch: "main", Commit: second}, nil) // again
		push(remote.Push{Branch: "main", Commit: first}, remote.ErrMoved)
		gittest.RunGit(t, u.Dir, "fsck", "--strict", "--no-dangling")

		branch := "l10n/" + strings.ReplaceAll(name, " ", "/")
		push(remote.Push{Branch: branch, Commit: first, Replace: true}, nil)
		at(branch, first)
		push(remote.Push{Branch: branch, Commit: second, Replace: true}, remote.ErrMoved) // it is there
		push(remote.Push{Branch: branch, Commit: base, Replace: true, Expect: first}, nil)
		at(branch, base)
		push(remote.Push{Branch: branch, Commit: second, Replace: true, Expect: first}, remote.ErrMoved)
		push(remote.Push{Branch: branch, Replace: true, Expect: base}, nil)
		at(branch, object.Hash{})
	}
	at("main", second)
	theirs := u.Push("B", files{"po/cs.po": "9"}, second)
	if _, git := opts.Git(); git || repo.URL != u.Dir {
		push(remote.Push{Branch: "main", Commit: commit(second, "4")}, remote.ErrMoved)
		at("main", theirs)
	}
	if head, err := m.Head(); err != nil || head.Hash != base {
		t.Errorf("the mirror is at %v, %v, want %s", head, err, base)
	}
	checkFetch(t, m, "main", files{"po/cs.po": "9"})
	u.Push("C", files{"po/cs.po": "rewritten"}, base)
	r := checkFetch(t, m, "main", files{"po/cs.po": "rewritten"})
	if !r.Has(theirs) {
		t.Error("the last state of the rewritten branch is gone")
	}
	checkFetch(t, m, "main", files{"po/cs.po": "rewritten"}) // nothing new
}

// TestPushDeclined has remotes that refuse.
func TestPushDeclined(t *testing.T) {
	gittest.NeedGit(t)
	root, u := upstreamBelow(t)
	u.Write("config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[http]\n\treceivepack = true\n[receive]\n\tdenyDeletes = true\n")
	base := u.Push("A", files{"po/cs.po": "1"})
	hook := filepath.Join(u.Dir, "hooks", "pre-receive")
	gittest.Must(t, os.MkdirAll(filepath.Dir(hook), 0o700))
	gittest.Must(t, os.WriteFile(hook, []byte("#!/bin/sh\necho '====='; echo 'GH006: Protected branch update failed for hunter2.' >&2; echo; echo 'Changes must be made through a pull request.'\nexit 1\n"), 0o700))
	srv, _ := guarded(t, backend(t, root))
	forbidden := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Query().Get("service") == "git-receive-pack" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		backend(t, root).ServeHTTP(w, req)
	}))
	t.Cleanup(forbidden.Close)
	t.Setenv("HOME", t.TempDir())
	m := openMirror(t, remote.Repository{URL: u.Dir, Branch: "main"}, Options{})
	_, err := m.Fetch(t.Context())
	gittest.Must(t, err)
	w, err := m.Writer(t.Context())
	gittest.Must(t, err)
	defer w.Close()
	id, err := w.Commit(t.Context(), derived(base, "2"))
	gittest.Must(t, err)
	gittest.Must(t, w.Store())
	good := &remote.Credential{Username: "anna", Password: "hunter2"}
	for name, tt := range map[string]struct {
		to     remote.Repository
		want   error
		detail string
	}{
		"hook, local":        {remote.Repository{URL: u.Dir}, remote.ErrDeclined, "pre-receive hook declined: GH006: Protected branch update failed for hunter2.; Changes must be made through a pull request."},
		"hook, http":         {remote.Repository{URL: srv.URL + "/up.git", Credential: good}, remote.ErrDeclined, "Changes must be made through a pull request."},
		"wrong password":     {remote.Repository{URL: srv.URL + "/up.git", Credential: &remote.Credential{Username: "anna", Password: "x1y2z3"}}, remote.ErrAuth, "refused"},
		"no password":        {remote.Repository{URL: srv.URL + "/up.git"}, remote.ErrAuth, "it wants a user"},
		"forbidden":          {remote.Repository{URL: forbidden.URL + "/up.git"}, remote.ErrAuth, "forbidden"},
		"no repository":      {remote.Repository{URL: filepath.Join(root, "none.git")}, remote.ErrUnreachable, ""},
		"no server":          {remote.Repository{URL: "http://127.0.0.1:1/up.git"}, remote.ErrUnreachable, ""},
		"git's own protocol": {remote.Repository{URL: "git://127.0.0.1:1/up.git"}, remote.ErrUnreachable, ""},
		"without git":        {remote.Repository{URL: u.Dir}, remote.ErrUnsupported, "needs the git program"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, transport := range []string{"auto", "builtin"} {
				if (name == "without git") != (transport == "builtin") && !strings.Contains(tt.to.URL, "://") {
					continue // a path is pushed to by git
				}
				err := tt.to.Push(t.Context(), remote.Options{Transport: transport}, w.gitDir, remote.Push{Branch: "main", Commit: id})
				if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.detail) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: got %v, want %v: %s", transport, err, tt.want, tt.detail)
				}
				if tt.to.Credential != nil && strings.Contains(err.Error(), tt.to.Credential.Password) {
					t.Errorf("%s: the error has the password: %v", transport, err)
				}
			}
		})
	}
	if err := w.Push(t.Context(), remote.Repository{}, remote.Push{Branch: "-evil", Commit: id}); err == nil || !strings.Contains(err.Error(), "no name of a branch") {
		t.Errorf("a branch that is an option: %v", err)
	}
	if got, err := object.ReadRef(u.Dir, "refs/heads/main"); err != nil || got != base {
		t.Errorf("main is at %s, %v", got, err)
	}
}

// TestWriterHolds replaces a mirror while a Writer is open: its commits stay until it is
// closed.
func TestWriterHolds(t *testing.T) {
	_, u := upstreamBelow(t)
	base := u.Push("A", files{"po/cs.po": "1"})
	m := openMirror(t, remote.Repository{URL: u.Dir}, Options{})
	if _, err := m.Writer(t.Context()); !errors.Is(err, ErrNotFetched) {
		t.Errorf("before the first fetch: %v", err)
	}
	_, err := m.Fetch(t.Context())
	gittest.Must(t, err)
	w, err := m.Writer(t.Context())
	gittest.Must(t, err)
	_, err = m.Rebuild(t.Context())
	gittest.Must(t, err)
	id, err := w.Commit(t.Context(), derived(base, "2"))
	gittest.Must(t, err)
	_, err = w.Commit(t.Context(), derived(id, "3"))
	gittest.Must(t, err)
	if _, err := w.Commit(t.Context(), derived(base, "1")); !errors.Is(err, derive.ErrNothing) {
		t.Errorf("no change: %v", err)
	}
	dir := w.gitDir
	w.Close()
	if _, err := os.Stat(dir); err == nil {
		t.Error("the replaced git directory is still there")
	}
	full := errors.New("disk full")
	m = openMirror(t, remote.Repository{URL: u.Dir}, Options{})
	_, err = m.Fetch(t.Context())
	gittest.Must(t, err)
	m.opts.Room = func() error { return full }
	w, err = m.Writer(t.Context())
	gittest.Must(t, err)
	defer w.Close()
	if _, err := w.Commit(t.Context(), derived(base, "2")); !errors.Is(err, full) {
		t.Errorf("without room: %v", err)
	}
}

// TestGoGitAgrees: commits and trees of edits are, byte for byte, what go-git makes of them.
func TestGoGitAgrees(t *testing.T) {
	_, base, m := mirrored(t, files{"po/cs.po": "1", "x": "y"}, Options{})
	fetch(t, m)
	w, err := m.Writer(t.Context())
	gittest.Must(t, err)
	defer w.Close()
	id, err := w.Commit(t.Context(), derived(base, "2"))
	gittest.Must(t, err)
	gittest.Must(t, w.Store())
	repository := filesystem.NewStorage(osfs.New(w.gitDir), cache.NewObjectLRUDefault())
	commit, err := gogit.GetCommit(repository, plumbing.Hash(id))
	gittest.Must(t, err)
	tree, err := commit.Tree()
	gittest.Must(t, err)
	below, err := tree.Tree("po")
	gittest.Must(t, err)
	for _, o := range []gogit.Object{commit, tree, below} {
		var again plumbing.MemoryObject
		gittest.Must(t, o.Encode(&again))
		if again.Hash() != o.ID() {
			t.Errorf("%s %s is %s when go-git writes it", o.Type(), o.ID(), again.Hash())
		}
	}
}
