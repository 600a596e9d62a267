package gitsource

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// clonedTree makes a repository with branches, tags and a merge, and returns its folder:
//
//	one ── two ── three ── merge (main)
//	  └─── left ─────────────┘
func clonedTree(t *testing.T) (dir string, git func(args ...string) string) {
	t.Helper()
	dir = t.TempDir()
	git = func(args ...string) string { return gittest.RunGit(t, dir, args...) }
	git("init", "-q", "-b", "main")
	commit := func(name string) {
		gittest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
		git("add", name)
		git("commit", "-q", "-m", name)
	}
	commit("one")
	git("tag", "light")
	git("branch", "left")
	commit("two")
	git("tag", "-a", "-m", "x", "heavy")
	git("tag", "-a", "-m", "of a tag", "heavier", "heavy")
	commit("three")
	git("checkout", "-q", "left")
	commit("left")
	git("checkout", "-q", "main")
	git("merge", "-q", "--no-ff", "-m", "merge", "left")
	git("update-ref", "refs/remotes/origin/main", "HEAD~1")
	git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	return dir, git
}

func openTree(t *testing.T, dir string) *WorkTree {
	t.Helper()
	w, err := OpenWorkTree(t.Context(), dir)
	gittest.Must(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// TestResolve: names mean what they mean to git, packed and loose, in a work tree and a linked one.
func TestResolve(t *testing.T) {
	dir, git := clonedTree(t)
	linked := filepath.Join(t.TempDir(), "linked")
	git("worktree", "add", "-q", "--detach", linked, "heavy")
	gittest.Must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	id := git("rev-parse", "HEAD")
	names := []string{
		"HEAD", "@", "main", "left", "light", "heavy", "heavier", "origin/main", "origin", "refs/heads/left", "tags/light", "heads/left", id, strings.ToUpper(id), id[:12],
		"HEAD^", "main~2", "main~", "main^^", "heavy^", "main^2", "HEAD~0", "main^{commit}",
	}
	for _, packed := range []bool{false, true} {
		if packed {
			git("gc", "-q")
		}
		for _, at := range []string{filepath.Join(dir, "sub"), linked} {
			w := openTree(t, at)
			for _, name := range names {
				want := gittest.RunGit(t, at, "rev-parse", "--verify", "-q", name+"^{commit}")
				if got, err := w.Resolve(t.Context(), name); err != nil || got.String() != want {
					t.Errorf("%s in %s: %s, %v, want %s", name, at, got, err, want)
				}
			}
		}
	}
	w := openTree(t, dir)
	for _, name := range []string{"none", "", "-h", "--all", "HEAD~99", "../../etc/passwd", strings.Repeat("a", 40), "main:one", git("rev-parse", "HEAD:one"), "a b", "HEAD~-1", "x\n"} {
		if h, err := w.Resolve(t.Context(), name); !errors.Is(err, ErrUnknownName) {
			t.Errorf("%q: %s, %v", name, h, err)
		}
	}
	git("fetch", "-q", ".", "left")
	left := git("rev-parse", "left")
	t.Setenv("PATH", "")
	if got, err := w.Resolve(t.Context(), "FETCH_HEAD"); err != nil || got.String() != left {
		t.Errorf("without the program: FETCH_HEAD: %s, %v, want %s", got, err, left)
	}
	for _, name := range names[:14] {
		if _, err := w.Resolve(t.Context(), name); err != nil && name != id[:12] {
			t.Errorf("without the program: %s: %v", name, err)
		}
	}
	if _, err := OpenWorkTree(t.Context(), t.TempDir()); !errors.Is(err, ErrNoRepository) {
		t.Errorf("no repository: %v", err)
	}
}

func TestMergeBase(t *testing.T) {
	dir, git := clonedTree(t)
	git("checkout", "-q", "--orphan", "alone")
	git("commit", "-q", "-m", "alone")
	w := openTree(t, dir)
	for _, pair := range [][2]string{{"main", "left"}, {"left", "main"}, {"left", "main~1"}, {"main~1", "left"}, {"main", "main"}, {"heavy", "left"}, {"light", "main"}} {
		a, err := w.Resolve(t.Context(), pair[0])
		gittest.Must(t, err)
		b, err := w.Resolve(t.Context(), pair[1])
		gittest.Must(t, err)
		want := git("merge-base", a.String(), b.String())
		if got, err := w.MergeBase(t.Context(), a, b); err != nil || got.String() != want {
			t.Errorf("%v: %s, %v, want %s", pair, got, err, want)
		}
	}
	alone, err := w.Resolve(t.Context(), "alone")
	gittest.Must(t, err)
	main, err := w.Resolve(t.Context(), "main")
	gittest.Must(t, err)
	if got, err := w.MergeBase(t.Context(), alone, main); err != nil || !got.IsZero() {
		t.Errorf("without a common commit: %s, %v", got, err)
	}
}

// TestShallow: a clone without the base says what to do, and never takes a wrong base.
func TestShallow(t *testing.T) {
	dir, git := clonedTree(t)
	git("reset", "-q", "--hard", "main~1") // left and main part at one
	clone := func(depth, branch string) *WorkTree {
		to := filepath.Join(t.TempDir(), "c")
		gittest.RunGit(t, dir, "clone", "-q", "--depth", depth, "--no-tags", "--no-single-branch", "-b", branch, "file://"+dir, to)
		return openTree(t, to)
	}
	for depth, ok := range map[string]bool{"1": false, "2": true, "3": true} {
		w := clone(depth, "main")
		a, err := w.Resolve(t.Context(), "origin/left")
		gittest.Must(t, err)
		b, err := w.Resolve(t.Context(), "HEAD")
		gittest.Must(t, err)
		base, err := w.MergeBase(t.Context(), a, b)
		if ok && (err != nil || base.String() != git("rev-parse", "light")) || !ok && !errors.Is(err, ErrShallow) {
			t.Errorf("depth %s: %s, %v", depth, base, err)
		}
	}
	if _, err := clone("1", "main").Resolve(t.Context(), "HEAD~1"); !errors.Is(err, ErrShallow) || !strings.Contains(err.Error(), "fetch-depth: 0") {
		t.Error(err)
	}
}

func TestTracked(t *testing.T) {
	dir, git := clonedTree(t)
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "added"), nil, 0o600))
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "untracked"), nil, 0o600))
	gittest.Must(t, os.Symlink("one", filepath.Join(dir, "link")))
	git("add", "added", "link")
	git("rm", "-q", "two")
	w := openTree(t, dir)
	head, err := w.Resolve(t.Context(), "HEAD")
	gittest.Must(t, err)
	tracked := func() []string {
		list, err := w.Tracked(context.Background(), head, func(path string) bool { return path != "three" })
		gittest.Must(t, err)
		return list
	}
	if got := tracked(); !slices.Equal(got, []string{"added", "left", "one"}) {
		t.Errorf("%q", got)
	}
	gittest.Must(t, os.WriteFile(filepath.Join(dir, ".git", "index"), []byte("DIRCoops"), 0o600))
	if got := tracked(); !slices.Equal(got, []string{"left", "one", "two"}) {
		t.Errorf("without an index: %q", got)
	}
	if _, err := w.store.Peel(object.Hash{1}); !errors.Is(err, object.ErrUnknownObject) {
		t.Error(err)
	}
}
