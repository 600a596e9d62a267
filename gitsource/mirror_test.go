package gitsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zlib"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

var everything = filemask.Matcher{}

// checkFetch fetches and compares branch and files.
func checkFetch(t *testing.T, m *Mirror, branch string, want files) *Reader {
	t.Helper()
	head := fetch(t, m)
	r := open(t, m)
	if head.Branch != branch || r.Head() != head {
		t.Errorf("head is %+v, reader's %+v; want branch %q", head, r.Head(), branch)
	}
	if d := cmp.Diff(want, contents(t, r, head.Hash, everything)); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	return r
}

func TestFetchLocalKinds(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work tree")
	gittest.Must(t, os.MkdirAll(work, 0o700))
	u := gittest.NewUpstreamAt[object.Hash](t, filepath.Join(work, ".git"))
	want := files{"po/de.po": "1"} // symlinks are left out
	head := u.Push("A", files{"po/de.po": "1", "a": "->po/de.po"})
	side := u.Commit("B", files{"side": "2"}, head)
	u.Write("packed-refs", "# pack-refs with: peeled fully-peeled sorted\n"+side.String()+" refs/heads/feature/side\n")

	// A linked work tree: .git is a file, HEAD is its own, refs are shared.
	linked := filepath.Join(dir, "linked")
	gittest.Must(t, object.WriteText(filepath.Join(linked, ".git"), "gitdir: ../work tree/.git/worktrees/linked\n"))
	u.Write("worktrees/linked/HEAD", "ref: refs/heads/feature/side\n")
	u.Write("worktrees/linked/commondir", "../..\n")

	// Two that borrow objects, by an absolute and by a relative path.
	for name, line := range map[string]string{"abs.git": filepath.Join(u.Dir, "objects"), "rel.git": "../../work tree/.git/objects"} {
		gittest.Must(t, object.Init(filepath.Join(dir, name)))
		gittest.Must(t, object.WriteText(filepath.Join(dir, name, "objects", "info", "alternates"), line+"\n"))
		gittest.Must(t, object.WriteText(filepath.Join(dir, name, "refs", "heads", "main"), head.String()+"\n"))
		gittest.Must(t, object.WriteText(filepath.Join(dir, name, "HEAD"), "ref: refs/heads/main\n"))
	}
	t.Chdir(dir)
	git, _ := exec.LookPath("git")
	t.Setenv("PATH", "") // no git binary: none of this may need one
	for _, c := range []struct {
		remote remote.Repository
		branch string
		want   files
	}{
		{remote.Repository{URL: work}, "main", want},
		{remote.Repository{URL: u.Dir}, "main", want},
		{remote.Repository{URL: "work tree"}, "main", want},
		{remote.Repository{URL: "./work tree/"}, "main", want},
		{remote.Repository{URL: "file://" + strings.ReplaceAll(work, " ", "%20")}, "main", want},
		{remote.Repository{URL: work, Branch: "feature/side"}, "feature/side", files{"side": "2"}},
		{remote.Repository{URL: linked}, "feature/side", files{"side": "2"}},
		{remote.Repository{URL: linked, Branch: "main"}, "main", want},
		{remote.Repository{URL: "abs.git"}, "main", want},
		{remote.Repository{URL: "rel.git"}, "main", want},
	} {
		t.Run(c.remote.URL+"#"+c.remote.Branch, func(t *testing.T) {
			checkFetch(t, openMirror(t, c.remote, Options{}), c.branch, c.want)
		})
		t.Run("binary, "+c.remote.URL+"#"+c.remote.Branch, func(t *testing.T) {
			if git == "" {
				gittest.NeedGit(t)
			}
			checkFetch(t, openMirror(t, c.remote, Options{Remote: remote.Options{Transport: "binary", GitBinary: git}}), c.branch, c.want)
		})
	}
}

// TestFetchWhatGitMakes: repositories as git itself lays them out, by both ways
// Of transport.
func TestFetchWhatGitMakes(t *testing.T) {
	gittest.NeedGit(t)
	dir := t.TempDir()
	u := gittest.NewUpstreamAt[object.Hash](t, filepath.Join(dir, "bare.git"))
	first := u.Commit("A", files{"po/de.po": "1"})
	u.Push("B", files{"po/de.po": "2"}, first)
	u.Set("side/one", first)
	at := func(name string) string { return filepath.Join(dir, name) }
	gittest.RunGit(t, dir, "clone", "-q", u.Dir, "work")
	gittest.RunGit(t, at("work"), "worktree", "add", "-q", "-b", "linked", at("linked"), "origin/side/one")
	gittest.RunGit(t, dir, "clone", "-q", "--bare", "--shared", u.Dir, "borrowed.git")
	gittest.RunGit(t, dir, "clone", "-q", "--bare", "--shared", at("borrowed.git"), "twice.git")
	gittest.RunGit(t, dir, "clone", "-q", "--bare", u.Dir, "packed.git")
	gittest.RunGit(t, at("packed.git"), "pack-refs", "--all")
	gittest.RunGit(t, at("packed.git"), "gc", "-q")
	gittest.RunGit(t, dir, "clone", "-q", "--depth=1", "file://"+u.Dir, "shallow")
	gittest.RunGit(t, dir, "clone", "-q", "--separate-git-dir="+at("elsewhere"), u.Dir, "separate")
	for _, c := range []struct {
		path, branch, head string
		want               string
	}{
		{"bare.git", "", "main", "2"},
		{"bare.git", "side/one", "side/one", "1"},
		{"work", "", "main", "2"},
		{"linked", "", "linked", "1"},
		{"linked", "main", "main", "2"},
		{"borrowed.git", "", "main", "2"},
		{"twice.git", "side/one", "side/one", "1"},
		{"packed.git", "", "main", "2"},
		{"packed.git", "side/one", "side/one", "1"},
		{"shallow", "", "main", "2"},
		{"separate", "", "main", "2"},
	} {
		for _, transport := range []string{"builtin", "binary"} {
			t.Run(transport+" "+c.path+"#"+c.branch, func(t *testing.T) {
				checkFetch(t, openMirror(t, remote.Repository{URL: at(c.path), Branch: c.branch}, Options{Remote: remote.Options{Transport: transport}}), c.head, files{"po/de.po": c.want})
			})
		}
	}
}

// TestFetchUnshallowed: the parents that a shallow source did not have are copied once
// it has them, so that the mirror is whole and can be cloned.
func TestFetchUnshallowed(t *testing.T) {
	gittest.NeedGit(t)
	for _, depth := range []string{"--unshallow", "--depth=3"} {
		dir := t.TempDir()
		u := gittest.NewUpstreamAt[object.Hash](t, filepath.Join(dir, "bare.git"))
		at := u.Commit("A", files{"po/de.po": "0"})
		for n := range 6 {
			at = u.Push(fmt.Sprint(n), files{"po/de.po": fmt.Sprint(n + 1)}, at)
		}
		work := filepath.Join(dir, "work")
		gittest.RunGit(t, dir, "clone", "-q", "--depth=1", "file://"+u.Dir, "work")
		m := openMirror(t, remote.Repository{URL: work}, Options{})
		checkFetch(t, m, "main", files{"po/de.po": "6"})
		u.Push("B", files{"po/de.po": "7"}, at)
		gittest.RunGit(t, work, "fetch", "-q", depth)
		gittest.RunGit(t, work, "reset", "-q", "--hard", "origin/main")
		checkFetch(t, m, "main", files{"po/de.po": "7"})
		_, path, err := OpenIn(t.Context(), m.dir)
		gittest.Must(t, err)
		want, got := gittest.RunGit(t, work, "rev-list", "HEAD"), gittest.RunGit(t, path, "rev-list", "--objects", "HEAD")
		for line := range strings.Lines(want) {
			if !strings.Contains(got, strings.TrimSpace(line)) {
				t.Errorf("%s: the mirror lacks commit %s", depth, line)
			}
		}
		gittest.RunGit(t, dir, "clone", "-q", "file://"+path, "again")
	}
}

func TestFetchFollows(t *testing.T) {
	u, c1, m := mirrored(t, files{"de.po": "1", "big": strings.Repeat("x", 1<<20)}, Options{})
	if _, err := m.Reader(context.Background()); !errors.Is(err, ErrNotFetched) {
		t.Errorf("reader before the first fetch: %v", err)
	}
	old := checkFetch(t, m, "main", files{"de.po": "1", "big": strings.Repeat("x", 1<<20)})

	c2 := u.Commit("B", files{"de.po": "2"}, c1)
	c3 := u.Push("C", files{"de.po": "3", "x/y/z.po": "1"}, c2)
	r := checkFetch(t, m, "main", files{"de.po": "3", "x/y/z.po": "1"})
	if got := describe(steps(t, r, c1, c3, poMask)); len(got) != 2 {
		t.Errorf("steps %v", got)
	}
	if contents(t, old, c1, everything)["de.po"] != "1" {
		t.Error("a reader opened before does not go on")
	}

	c4 := u.Push("D", files{"de.po": "4"}, c1) // force push
	r = checkFetch(t, m, "main", files{"de.po": "4"})
	if got := steps(t, r, c3, c4, poMask); len(got) != 1 || got[0].Base != c3 {
		t.Errorf("after a force push: %v", describe(got))
	}

	u.Set("trunk", c2) // HEAD moves to another branch
	u.Write("HEAD", "ref: refs/heads/trunk\n")
	checkFetch(t, m, "trunk", files{"de.po": "2"})
	gittest.Must(t, os.Remove(filepath.Join(u.Dir, "refs/heads/trunk")))
	u.Set("trunk/next", c3) // the file "trunk" is in the way of "trunk/next"
	u.Write("HEAD", "ref: refs/heads/trunk/next\n")
	checkFetch(t, m, "trunk/next", files{"de.po": "3", "x/y/z.po": "1"})
	gittest.Must(t, os.RemoveAll(filepath.Join(u.Dir, "refs/heads/trunk")))
	u.Set("trunk", c2) // and the folder "trunk" in that of "trunk"
	u.Write("HEAD", "ref: refs/heads/trunk\n")
	checkFetch(t, m, "trunk", files{"de.po": "2"})
	u.Write("HEAD", c1.String()+"\n")
	checkFetch(t, m, "HEAD", files{"de.po": "1", "big": strings.Repeat("x", 1<<20)})

	// What a restart finds.
	again, err := Open(context.Background(), m.dir, m.remote, Options{})
	gittest.Must(t, err)
	if head, err := again.Head(); err != nil || head != (object.Head{Hash: c1, Branch: "HEAD"}) {
		t.Errorf("after a restart: %+v, %v", head, err)
	}
}

func TestFetchErrors(t *testing.T) {
	u := newUpstream(t)
	u.Push("A", files{"x": "1"})
	empty := newUpstream(t)
	unborn := newUpstream(t)
	unborn.Set("other", unborn.Commit("A", files{"x": "1"}))
	sha256 := newUpstream(t)
	sha256.Write("config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n")
	broken := newUpstream(t)
	broken.Set("main", object.Hash{1, 2, 3})
	file := filepath.Join(t.TempDir(), "file")
	gittest.Must(t, os.WriteFile(file, nil, 0o600))
	for _, c := range []struct {
		name   string
		remote remote.Repository
		kind   error
		says   string
	}{
		{"absent", remote.Repository{URL: filepath.Join(t.TempDir(), "absent")}, remote.ErrUnreachable, "no such directory"},
		{"a file", remote.Repository{URL: file}, remote.ErrUnreachable, "not a directory"},
		{"no repository", remote.Repository{URL: t.TempDir()}, remote.ErrUnreachable, "not a git repository"},
		{"branch missing", remote.Repository{URL: u.Dir, Branch: "gone"}, remote.ErrBranchMissing, `"gone"`},
		{"empty", remote.Repository{URL: empty.Dir}, remote.ErrEmptyRepository, "push"},
		{"empty, branch", remote.Repository{URL: empty.Dir, Branch: "main"}, remote.ErrEmptyRepository, "push"},
		{"unborn HEAD", remote.Repository{URL: unborn.Dir}, remote.ErrBranchMissing, "set branch:"},
		{"sha256", remote.Repository{URL: sha256.Dir}, remote.ErrUnsupported, "SHA-256"},
		{"objects missing", remote.Repository{URL: broken.Dir}, remote.ErrUnreachable, "git fsck"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := openMirror(t, c.remote, Options{})
			_, err := m.Fetch(context.Background())
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.remote.URL) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v; want one line with the address, %q and the kind %v", err, c.says, c.kind)
			}
			if left, _ := filepath.Glob(filepath.Join(m.dir, "*")); len(left) > 0 {
				t.Errorf("a failed clone left %v", left)
			}
		})
	}
}

func TestFetchKeepsStateOnError(t *testing.T) {
	u := newUpstream(t)
	c1 := u.Push("A", files{"x": "1"})
	m := openMirror(t, remote.Repository{URL: u.Dir, Branch: "main"}, Options{})
	checkFetch(t, m, "main", files{"x": "1"})
	gittest.Must(t, os.Remove(filepath.Join(u.Dir, "refs/heads/main")))
	u.Set("other", c1)
	if _, err := m.Fetch(context.Background()); !errors.Is(err, remote.ErrBranchMissing) {
		t.Errorf("branch gone: %v", err)
	}
	if head, err := m.Head(); err != nil || head.Hash != c1 {
		t.Errorf("the last state is lost: %v, %v", head, err)
	}
	c2 := u.Commit("B", files{"x": "2"}, c1)
	missing := object.Hash{9}
	u.Set("main", u.CommitTree("C", missing, c2)) // a commit whose tree is not there
	if _, err := m.Fetch(context.Background()); !errors.Is(err, remote.ErrUnreachable) {
		t.Errorf("incomplete source: %v", err)
	}
	r := open(t, m)
	if got := contents(t, r, r.Head().Hash, everything); got["x"] != "1" {
		t.Errorf("the last state is lost: %v", got)
	}
}

func TestMirrorHeals(t *testing.T) {
	damage := map[string]func(t *testing.T, m *Mirror){
		"killed in the middle of a clone": func(t *testing.T, m *Mirror) {
			gittest.Must(t, object.Init(filepath.Join(m.dir, "git-000007")))
			gittest.Must(t, os.WriteFile(filepath.Join(m.dir, ".tmp-1"), nil, 0o600))
		},
		"CURRENT gone": func(t *testing.T, m *Mirror) { gittest.Must(t, os.Remove(filepath.Join(m.dir, currentFile))) },
		"CURRENT garbage": func(t *testing.T, m *Mirror) {
			gittest.Must(t, object.WriteText(filepath.Join(m.dir, currentFile), "../../etc"))
		},
		"repository gone": func(t *testing.T, m *Mirror) { gittest.Must(t, os.RemoveAll(filepath.Join(m.dir, m.current))) },
		"HEAD cut": func(t *testing.T, m *Mirror) {
			gittest.Must(t, os.Truncate(filepath.Join(m.dir, m.current, "HEAD"), 3))
		},
		"ref empty": func(t *testing.T, m *Mirror) {
			gittest.Must(t, os.Truncate(filepath.Join(m.dir, m.current, "refs/heads/main"), 0))
		},
		"objects gone": func(t *testing.T, m *Mirror) {
			gittest.Must(t, os.RemoveAll(filepath.Join(m.dir, m.current, "objects")))
		},
	}
	for name, harm := range damage {
		t.Run(name, func(t *testing.T) {
			u, c1, m := mirrored(t, files{"x": "1"}, Options{})
			fetch(t, m)
			harm(t, m)
			u.Push("B", files{"x": "2"}, c1)
			m, err := Open(context.Background(), m.dir, m.remote, Options{})
			gittest.Must(t, err)
			checkFetch(t, m, "main", files{"x": "2"})
			checkOneRepository(t, m)
		})
	}
}

func TestMirrorHealsPacks(t *testing.T) {
	gittest.NeedGit(t)
	for name, harm := range map[string]func(pack, index string) error{
		"pack gone":  func(pack, _ string) error { return os.Remove(pack) },
		"index cut":  func(_, index string) error { return os.Truncate(index, 1000) },
		"index gone": func(_, index string) error { return os.Remove(index) },
		"pack cut":   func(pack, _ string) error { return os.Truncate(pack, 20) },
		"bits flipped": func(pack, _ string) error {
			data, err := os.ReadFile(pack)
			if err != nil {
				return err
			}
			for i := 12; i < len(data); i += 40 {
				data[i] ^= 0x55
			}
			return errors.Join(os.Chmod(pack, 0o600), os.WriteFile(pack, data, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			want := files{"po/de.po": strings.Repeat("one ", 500), "po/cs.po": strings.Repeat("two ", 500)}
			c1 := u.Push("A", want)
			gittest.RunGit(t, u.Dir, "gc", "-q")
			m := mirrorOf(t, u, Options{})
			r := reader(t, m)
			path, _ := m.Path()
			packs, err := filepath.Glob(filepath.Join(path, "objects/pack/*.pack"))
			if err != nil || len(packs) != 1 {
				t.Fatalf("packs %v, %v", packs, err)
			}
			gittest.Must(t, os.Chmod(packs[0], 0o600))
			gittest.Must(t, harm(packs[0], strings.TrimSuffix(packs[0], ".pack")+".idx"))
			want["po/de.po"] = "new"
			u.Push("B", want, c1)
			head := fetch(t, m)
			_ = r.Close()
			r = open(t, m)
			if _, err := r.Snapshot(context.Background(), c1, nil, nil); err != nil {
				// A reader finds the damage: it asks for older objects than the fetch.
				if !object.Damaged(err) {
					t.Errorf("a reader says %v", err)
				}
				head, err = m.Rebuild(context.Background())
				gittest.Must(t, err)
				r = open(t, m)
			}
			if d := cmp.Diff(want, contents(t, r, head.Hash, everything)); d != "" {
				t.Errorf("files (-want +got):\n%s", d)
			}
			if got := steps(t, r, c1, head.Hash, poMask); len(got) != 1 {
				t.Errorf("steps %v", describe(got))
			}
		})
	}
}

// checkOneRepository makes sure that nothing is left beside the one in use.
func checkOneRepository(t *testing.T, m *Mirror) {
	t.Helper()
	entries, err := os.ReadDir(m.dir)
	gittest.Must(t, err)
	if len(entries) != 2 {
		t.Errorf("mirror holds %v, want CURRENT and one repository", entries)
	}
}

func TestRebuildBesideReaders(t *testing.T) {
	u := newUpstream(t)
	want := files{"x": "1", "big": strings.Repeat("y", 100_000)}
	u.Push("A", want)
	m := mirrorOf(t, u, Options{})
	r := reader(t, m)
	before, _ := m.Path()
	_, err := m.Rebuild(context.Background())
	gittest.Must(t, err)
	after, ok := m.Path()
	if before == after || !ok {
		t.Errorf("rebuilt in place: %s", after)
	}
	if d := cmp.Diff(want, contents(t, r, r.Head().Hash, everything)); d != "" {
		t.Errorf("the open reader does not go on:\n%s", d)
	}
	gittest.Must(t, r.Close())
	gittest.Must(t, r.Close())
	checkOneRepository(t, m)
	checkFetch(t, m, "main", want)
}

func TestMaintenanceKeepsHistory(t *testing.T) {
	gittest.NeedGit(t)
	u, h, m := mirrored(t, files{"x": "0"}, Options{})
	fetch(t, m)
	first := h
	forced := u.Push("F", files{"x": "forced"}, first)
	fetch(t, m)
	h = u.Push("B", files{"x": "1"}, first)
	fetch(t, m)
	path, _ := m.Path()
	for i := 0; !object.Crowded(path); i++ {
		// Only the sampled directory 17 counts, so only its objects are written.
		text := fmt.Sprint(i)
		if id := plumbing.ComputeHash(plumbing.BlobObject, []byte(text)); id[0] == 0x17 {
			gittest.Must(t, writeLooseBlob(path, text))
		}
	}
	next := u.Push("C", files{"x": "2"}, h)
	r := checkFetch(t, m, "main", files{"x": "2"})
	repacked, _ := m.Path()
	if repacked == path || object.Crowded(repacked) {
		t.Errorf("not repacked: %s", repacked)
	}
	if got := steps(t, r, first, next, filemask.Matcher{}); len(got) != 2 {
		t.Errorf("steps %v", describe(got))
	}
	if !r.Has(forced) {
		t.Error("the head before the last is lost, which a component may still have")
	}
	checkOneRepository(t, m)
}

func TestFetchCancelled(t *testing.T) {
	_, _, m := mirrored(t, files{"x": "1"}, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Fetch(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	m.turn <- struct{}{} // another fetch holds the mirror
	ctx, cancel = context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := m.Fetch(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	gittest.Must(t, os.WriteFile(file, nil, 0o600))
	if _, err := Open(context.Background(), file, remote.Repository{URL: "/x"}, Options{}); err == nil || !strings.Contains(err.Error(), "data_dir") {
		t.Errorf("a file in the way: %v", err)
	}
	if _, err := Open(context.Background(), t.TempDir(), remote.Repository{URL: "/x"}, Options{Remote: remote.Options{Transport: "pigeon"}}); !errors.Is(err, remote.ErrUnsupported) {
		t.Errorf("unknown transport: %v", err)
	}
}

func TestLocalCopyDoesNotFollowSymlinks(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	gittest.Must(t, os.WriteFile(secret, []byte("hunter2"), 0o600))
	u := newUpstream(t)
	u.Push("A", files{"x": "1"})
	gittest.Must(t, os.MkdirAll(filepath.Join(u.Dir, "objects", "ab"), 0o700))
	gittest.Must(t, os.Symlink(secret, filepath.Join(u.Dir, "objects", "ab", strings.Repeat("0", 38))))
	var log bytes.Buffer
	m := mirrorOf(t, u, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	_, err := m.Fetch(context.Background())
	path, _ := m.Path()
	data, rerr := os.ReadFile(filepath.Join(path, "objects", "ab", strings.Repeat("0", 38)))
	if rerr == nil {
		t.Errorf("a file outside the repository was copied: %q", data)
	}
	if err != nil {
		t.Errorf("one odd entry stops the clone: %v", err)
	}
}

// TestMaintenanceWithoutGit: more than 50 packs become one, while a Reader reads.
func TestMaintenanceWithoutGit(t *testing.T) {
	gittest.NeedGit(t)
	u, h, m := mirrored(t, files{"x": "0"}, Options{})
	fetch(t, m)
	path, _ := m.Path()
	gittest.RunGit(t, path, "repack", "-q", "-a", "-d")
	for i := range 50 {
		h = u.Push("A", files{"x": fmt.Sprint(i)}, h)
		fetch(t, m)
		now, _ := m.Path()
		if now != path {
			t.Fatalf("repacked after %d fetches", i)
		}
		gittest.RunGit(t, path, "repack", "-q", "-d")
	}
	if !object.Crowded(path) {
		t.Fatal("not crowded")
	}
	t.Setenv("PATH", "")
	r := open(t, m)
	first := steps(t, r, object.Hash{}, h, everything)
	u.Push("B", files{"x": "last"}, h)
	checkFetch(t, m, "main", files{"x": "last"})
	now, _ := m.Path()
	if now == path || object.Crowded(now) {
		t.Errorf("not repacked: %s", now)
	}
	if got := steps(t, r, object.Hash{}, h, everything); len(got) != len(first) {
		t.Errorf("the open reader sees %d steps, before %d", len(got), len(first))
	}
	gittest.Must(t, r.Close())
	checkOneRepository(t, m)
	checkFetch(t, m, "main", files{"x": "last"})
}

// writeLooseBlob writes a file object as git does.
func writeLooseBlob(gitDir, text string) error {
	id := plumbing.ComputeHash(plumbing.BlobObject, []byte(text)).String()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	fmt.Fprintf(z, "blob %d\x00%s", len(text), text)
	if err := z.Close(); err != nil {
		return err
	}
	dir := filepath.Join(gitDir, "objects", id[:2])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, id[2:]), packed.Bytes(), 0o600)
}

// TestFetchInflatesOnce: the reader after a fetch has the new files from it; the next
// reader has them from the mirror.
func TestFetchInflatesOnce(t *testing.T) {
	u := newUpstream(t)
	u.Push("A", files{"x": "1"})
	m := mirrorOf(t, u, Options{})
	fetch(t, m)
	u.Push("B", files{"x": "2"})
	fetch(t, m)
	dir, _ := m.Path()
	blob := plumbing.ComputeHash(plumbing.BlobObject, []byte("2")).String()
	gittest.Must(t, os.Remove(filepath.Join(dir, "objects", blob[:2], blob[2:])))
	want, err := object.ParseHash(blob)
	gittest.Must(t, err)
	r := open(t, m)
	if data, err := r.Blob(t.Context(), want, 1); string(data) != "2" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := r.Blob(t.Context(), want, 0); err != nil {
		t.Error(err)
	}
	if data, err := open(t, m).Blob(t.Context(), want, 1); err == nil {
		t.Errorf("the second reader has %q without the mirror", data)
	}
}
