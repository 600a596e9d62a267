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
)

var everything = Matcher{}

// checkFetch fetches and compares branch and files.
func checkFetch(t *testing.T, m *Mirror, branch string, want files) *Reader {
	t.Helper()
	head, err := m.Fetch(context.Background())
	must(t, err)
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
	must(t, os.MkdirAll(work, 0o700))
	u := newUpstreamAt(t, filepath.Join(work, ".git"))
	want := files{"po/de.po": "1", "a": "->po/de.po"}
	head := u.commit("A", want)
	u.set("main", head)
	side := u.commit("B", files{"side": "2"}, head)
	u.write("packed-refs", "# pack-refs with: peeled fully-peeled sorted\n"+side.String()+" refs/heads/feature/side\n")

	// A linked work tree: .git is a file, HEAD is its own, refs are shared.
	linked := filepath.Join(dir, "linked")
	must(t, writeAtomic(filepath.Join(linked, ".git"), "gitdir: ../work tree/.git/worktrees/linked\n"))
	u.write("worktrees/linked/HEAD", "ref: refs/heads/feature/side\n")
	u.write("worktrees/linked/commondir", "../..\n")

	// Two that borrow objects, by an absolute and by a relative path.
	for name, line := range map[string]string{"abs.git": filepath.Join(u.dir, "objects"), "rel.git": "../../work tree/.git/objects"} {
		must(t, initBare(filepath.Join(dir, name)))
		must(t, writeAtomic(filepath.Join(dir, name, "objects", "info", "alternates"), line+"\n"))
		must(t, writeAtomic(filepath.Join(dir, name, "refs", "heads", "main"), head.String()+"\n"))
		must(t, writeAtomic(filepath.Join(dir, name, "HEAD"), "ref: refs/heads/main\n"))
	}
	t.Chdir(dir)
	git, _ := exec.LookPath("git")
	t.Setenv("PATH", "") // no git binary: none of this may need one
	for _, c := range []struct {
		remote Remote
		branch string
		want   files
	}{
		{Remote{URL: work}, "main", want},
		{Remote{URL: u.dir}, "main", want},
		{Remote{URL: "work tree"}, "main", want},
		{Remote{URL: "./work tree/"}, "main", want},
		{Remote{URL: "file://" + strings.ReplaceAll(work, " ", "%20")}, "main", want},
		{Remote{URL: work, Branch: "feature/side"}, "feature/side", files{"side": "2"}},
		{Remote{URL: linked}, "feature/side", files{"side": "2"}},
		{Remote{URL: linked, Branch: "main"}, "main", want},
		{Remote{URL: "abs.git"}, "main", want},
		{Remote{URL: "rel.git"}, "main", want},
	} {
		t.Run(c.remote.URL+"#"+c.remote.Branch, func(t *testing.T) {
			checkFetch(t, openMirror(t, c.remote, Options{}), c.branch, c.want)
		})
		t.Run("binary, "+c.remote.URL+"#"+c.remote.Branch, func(t *testing.T) {
			if git == "" {
				needGit(t)
			}
			checkFetch(t, openMirror(t, c.remote, Options{Transport: "binary", GitBinary: git}), c.branch, c.want)
		})
	}
}

// TestFetchWhatGitMakes: repositories as git itself lays them out, by both ways
// of transport.
func TestFetchWhatGitMakes(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	u := newUpstreamAt(t, filepath.Join(dir, "bare.git"))
	first := u.commit("A", files{"po/de.po": "1"})
	head := u.commit("B", files{"po/de.po": "2"}, first)
	u.set("main", head)
	u.set("side/one", first)
	at := func(name string) string { return filepath.Join(dir, name) }
	runGit(t, dir, "clone", "-q", u.dir, "work")
	runGit(t, at("work"), "worktree", "add", "-q", "-b", "linked", at("linked"), "origin/side/one")
	runGit(t, dir, "clone", "-q", "--bare", "--shared", u.dir, "borrowed.git")
	runGit(t, dir, "clone", "-q", "--bare", "--shared", at("borrowed.git"), "twice.git")
	runGit(t, dir, "clone", "-q", "--bare", u.dir, "packed.git")
	runGit(t, at("packed.git"), "pack-refs", "--all")
	runGit(t, at("packed.git"), "gc", "-q")
	runGit(t, dir, "clone", "-q", "--depth=1", "file://"+u.dir, "shallow")
	runGit(t, dir, "clone", "-q", "--separate-git-dir="+at("elsewhere"), u.dir, "separate")
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
				checkFetch(t, openMirror(t, Remote{URL: at(c.path), Branch: c.branch}, Options{Transport: transport}), c.head, files{"po/de.po": c.want})
			})
		}
	}
}

func TestFetchFollows(t *testing.T) {
	u := newUpstream(t)
	c1 := u.commit("A", files{"de.po": "1", "big": strings.Repeat("x", 1<<20)})
	u.set("main", c1)
	m := u.mirror(Options{})
	if _, err := m.Reader(context.Background()); !errors.Is(err, ErrNotFetched) {
		t.Errorf("reader before the first fetch: %v", err)
	}
	old := checkFetch(t, m, "main", files{"de.po": "1", "big": strings.Repeat("x", 1<<20)})

	c2 := u.commit("B", files{"de.po": "2"}, c1)
	c3 := u.commit("C", files{"de.po": "3", "x/y/z.po": "1"}, c2)
	u.set("main", c3)
	r := checkFetch(t, m, "main", files{"de.po": "3", "x/y/z.po": "1"})
	if got := describe(steps(t, r, c1, c3, poMask)); len(got) != 2 {
		t.Errorf("steps %v", got)
	}
	if contents(t, old, c1, everything)["de.po"] != "1" {
		t.Error("a reader opened before does not go on")
	}

	c4 := u.commit("D", files{"de.po": "4"}, c1) // force push
	u.set("main", c4)
	r = checkFetch(t, m, "main", files{"de.po": "4"})
	if got := steps(t, r, c3, c4, poMask); len(got) != 1 || got[0].Base != c3 {
		t.Errorf("after a force push: %v", describe(got))
	}

	u.set("trunk", c2) // HEAD moves to another branch
	u.write("HEAD", "ref: refs/heads/trunk\n")
	checkFetch(t, m, "trunk", files{"de.po": "2"})
	must(t, os.Remove(filepath.Join(u.dir, "refs/heads/trunk")))
	u.set("trunk/next", c3) // "trunk" stands in the way of "trunk/next"
	u.write("HEAD", "ref: refs/heads/trunk/next\n")
	checkFetch(t, m, "trunk/next", files{"de.po": "3", "x/y/z.po": "1"})
	u.write("HEAD", c1.String()+"\n")
	checkFetch(t, m, "HEAD", files{"de.po": "1", "big": strings.Repeat("x", 1<<20)})

	// What a restart finds.
	again, err := Open(context.Background(), m.dir, m.remote, Options{})
	must(t, err)
	if head, err := again.Head(); err != nil || head != (Head{Hash: c1, Branch: "HEAD"}) {
		t.Errorf("after a restart: %+v, %v", head, err)
	}
}

func TestFetchErrors(t *testing.T) {
	u := newUpstream(t)
	c := u.commit("A", files{"x": "1"})
	u.set("main", c)
	empty := newUpstream(t)
	unborn := newUpstream(t)
	unborn.set("other", unborn.commit("A", files{"x": "1"}))
	sha256 := newUpstream(t)
	sha256.write("config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n")
	broken := newUpstream(t)
	broken.set("main", Hash{1, 2, 3})
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, c := range []struct {
		name   string
		remote Remote
		kind   error
		says   string
	}{
		{"absent", Remote{URL: filepath.Join(t.TempDir(), "absent")}, ErrUnreachable, "no such directory"},
		{"a file", Remote{URL: file}, ErrUnreachable, "not a directory"},
		{"no repository", Remote{URL: t.TempDir()}, ErrUnreachable, "not a git repository"},
		{"branch missing", Remote{URL: u.dir, Branch: "gone"}, ErrBranchMissing, `"gone"`},
		{"empty", Remote{URL: empty.dir}, ErrEmptyRepository, "push"},
		{"empty, branch", Remote{URL: empty.dir, Branch: "main"}, ErrEmptyRepository, "push"},
		{"unborn HEAD", Remote{URL: unborn.dir}, ErrBranchMissing, "set branch:"},
		{"sha256", Remote{URL: sha256.dir}, ErrUnsupported, "SHA-256"},
		{"objects missing", Remote{URL: broken.dir}, ErrUnreachable, "git fsck"},
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
	c1 := u.commit("A", files{"x": "1"})
	u.set("main", c1)
	m := openMirror(t, Remote{URL: u.dir, Branch: "main"}, Options{})
	checkFetch(t, m, "main", files{"x": "1"})
	must(t, os.Remove(filepath.Join(u.dir, "refs/heads/main")))
	u.set("other", c1)
	if _, err := m.Fetch(context.Background()); !errors.Is(err, ErrBranchMissing) {
		t.Errorf("branch gone: %v", err)
	}
	if head, err := m.Head(); err != nil || head.Hash != c1 {
		t.Errorf("the last state is lost: %v, %v", head, err)
	}
	c2 := u.commit("B", files{"x": "2"}, c1)
	missing := Hash{9}
	u.set("main", u.commitTree("C", missing, c2)) // a commit whose tree is not there
	if _, err := m.Fetch(context.Background()); !errors.Is(err, ErrUnreachable) {
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
			must(t, initBare(filepath.Join(m.dir, "git-000007")))
			must(t, os.WriteFile(filepath.Join(m.dir, ".tmp-1"), nil, 0o600))
		},
		"CURRENT gone":    func(t *testing.T, m *Mirror) { must(t, os.Remove(filepath.Join(m.dir, currentFile))) },
		"CURRENT garbage": func(t *testing.T, m *Mirror) { must(t, writeAtomic(filepath.Join(m.dir, currentFile), "../../etc")) },
		"repository gone": func(t *testing.T, m *Mirror) { must(t, os.RemoveAll(filepath.Join(m.dir, m.current))) },
		"HEAD cut":        func(t *testing.T, m *Mirror) { must(t, os.Truncate(filepath.Join(m.dir, m.current, "HEAD"), 3)) },
		"ref empty": func(t *testing.T, m *Mirror) {
			must(t, os.Truncate(filepath.Join(m.dir, m.current, "refs/heads/main"), 0))
		},
		"objects gone": func(t *testing.T, m *Mirror) { must(t, os.RemoveAll(filepath.Join(m.dir, m.current, "objects"))) },
	}
	for name, harm := range damage {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			c1 := u.commit("A", files{"x": "1"})
			u.set("main", c1)
			m := u.mirror(Options{})
			_, err := m.Fetch(context.Background())
			must(t, err)
			harm(t, m)
			u.set("main", u.commit("B", files{"x": "2"}, c1))
			m, err = Open(context.Background(), m.dir, m.remote, Options{})
			must(t, err)
			checkFetch(t, m, "main", files{"x": "2"})
			checkOneRepository(t, m)
		})
	}
}

func TestMirrorHealsPacks(t *testing.T) {
	needGit(t)
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
			c1 := u.commit("A", want)
			u.set("main", c1)
			runGit(t, u.dir, "gc", "-q")
			m := u.mirror(Options{})
			r := reader(t, m)
			path, _ := m.Path()
			packs, err := filepath.Glob(filepath.Join(path, "objects/pack/*.pack"))
			if err != nil || len(packs) != 1 {
				t.Fatalf("packs %v, %v", packs, err)
			}
			must(t, os.Chmod(packs[0], 0o600))
			must(t, harm(packs[0], strings.TrimSuffix(packs[0], ".pack")+".idx"))
			want["po/de.po"] = "new"
			u.set("main", u.commit("B", want, c1))
			head, err := m.Fetch(context.Background())
			must(t, err)
			_ = r.Close()
			r = open(t, m)
			if _, err := r.Snapshot(context.Background(), c1, nil, nil); err != nil {
				// Found by a reader: what it asks for is not what came last.
				if !Damaged(err) {
					t.Errorf("a reader says %v", err)
				}
				head, err = m.Rebuild(context.Background())
				must(t, err)
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
	must(t, err)
	if len(entries) != 2 {
		t.Errorf("mirror holds %v, want CURRENT and one repository", entries)
	}
}

func TestRebuildBesideReaders(t *testing.T) {
	u := newUpstream(t)
	want := files{"x": "1", "big": strings.Repeat("y", 100_000)}
	u.set("main", u.commit("A", want))
	m := u.mirror(Options{})
	r := reader(t, m)
	before, _ := m.Path()
	_, err := m.Rebuild(context.Background())
	must(t, err)
	after, ok := m.Path()
	if before == after || !ok {
		t.Errorf("rebuilt in place: %s", after)
	}
	if d := cmp.Diff(want, contents(t, r, r.Head().Hash, everything)); d != "" {
		t.Errorf("the open reader does not go on:\n%s", d)
	}
	must(t, r.Close())
	must(t, r.Close())
	checkOneRepository(t, m)
	checkFetch(t, m, "main", want)
}

func TestMaintenanceKeepsHistory(t *testing.T) {
	needGit(t)
	u := newUpstream(t)
	h := u.commit("A", files{"x": "0"})
	u.set("main", h)
	m := u.mirror(Options{})
	_, err := m.Fetch(context.Background())
	must(t, err)
	first := h
	forced := u.commit("F", files{"x": "forced"}, first)
	u.set("main", forced)
	_, err = m.Fetch(context.Background())
	must(t, err)
	h = u.commit("B", files{"x": "1"}, first)
	u.set("main", h)
	_, err = m.Fetch(context.Background())
	must(t, err)
	path, _ := m.Path()
	for i := 0; !crowded(path); i++ {
		// Only what falls into the sampled directory 17 counts, so only that is written.
		text := fmt.Sprint(i)
		if id := plumbing.ComputeHash(plumbing.BlobObject, []byte(text)); id[0] == 0x17 {
			must(t, writeLooseBlob(path, text))
		}
	}
	next := u.commit("C", files{"x": "2"}, h)
	u.set("main", next)
	r := checkFetch(t, m, "main", files{"x": "2"})
	repacked, _ := m.Path()
	if repacked == path || crowded(repacked) {
		t.Errorf("not repacked: %s", repacked)
	}
	if got := steps(t, r, first, next, Matcher{}); len(got) != 2 {
		t.Errorf("steps %v", describe(got))
	}
	if !r.Has(forced) {
		t.Error("the head before the last is lost, which a component may still stand at")
	}
	checkOneRepository(t, m)
}

func writeLooseBlob(gitDir, text string) error {
	c := objectCopy{target: filepath.Join(gitDir, "objects"), limit: 1, done: map[Hash]struct{}{}}
	return c.write(Hash(plumbing.ComputeHash(plumbing.BlobObject, []byte(text))), plumbing.BlobObject, []byte(text))
}

func TestCopyManyObjects(t *testing.T) {
	u := newUpstream(t)
	many := files{}
	for i := range 50 {
		many[fmt.Sprintf("d%d/%d.po", i%7, i)] = fmt.Sprint(i)
	}
	head := u.commit("A", many)
	to := filepath.Join(t.TempDir(), "to.git")
	must(t, initBare(to))
	c := &objectCopy{
		from: openObjects(u.dir), to: openObjects(to),
		target: filepath.Join(to, "objects"), limit: 20, done: map[Hash]struct{}{},
	}
	defer func() { _, _ = c.from.close(), c.to.close() }()
	if err := c.history(context.Background(), head); !errors.Is(err, errMany) {
		t.Fatalf("a long copy goes on object by object: %v", err)
	}
	if c.to.has(head) {
		t.Error("the commit is there before its files")
	}
	must(t, c.everything(context.Background()))
	r, err := openReader(to, Head{}, func() {})
	must(t, err)
	defer r.Close()
	if d := cmp.Diff(many, contents(t, r, head, everything)); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}

func TestFetchCancelled(t *testing.T) {
	u := newUpstream(t)
	u.set("main", u.commit("A", files{"x": "1"}))
	m := u.mirror(Options{})
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
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := Open(context.Background(), file, Remote{URL: "/x"}, Options{}); err == nil || !strings.Contains(err.Error(), "data_dir") {
		t.Errorf("a file in the way: %v", err)
	}
	if _, err := Open(context.Background(), t.TempDir(), Remote{URL: "/x"}, Options{Transport: "pigeon"}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("unknown transport: %v", err)
	}
}

func TestLocalCopyDoesNotFollowSymlinks(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("hunter2"), 0o600))
	u := newUpstream(t)
	u.set("main", u.commit("A", files{"x": "1"}))
	must(t, os.MkdirAll(filepath.Join(u.dir, "objects", "ab"), 0o700))
	must(t, os.Symlink(secret, filepath.Join(u.dir, "objects", "ab", strings.Repeat("0", 38))))
	var log bytes.Buffer
	m := u.mirror(Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
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
