package testrepos_test

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

func TestMain(m *testing.M) { gittest.Main(m) }

var must = gittest.Must

// TestPush: a push moves every reference once, and git finds nothing wrong with what it
// brings: side branches are gone, and tags are there.
func TestPush(t *testing.T) {
	for name, refs := range map[string]string{
		"demo":   "refs/heads/main refs/tags/v1.1 refs/tags/v1.2",
		"merges": "refs/heads/main refs/heads/old",
	} {
		r := testrepos.Load(t, name)
		if got := strings.Join(strings.Fields(gittest.RunGit(t, r.Dir, "for-each-ref", "--format=%(refname)")), " "); got != refs {
			t.Errorf("%s: refs %s, want %s", name, got, refs)
		}
		for r.Rest() > 0 {
			r.Advance(t)
		}
		if err := r.Next(); err == nil || !strings.Contains(err.Error(), "no push is left") {
			t.Errorf("%s: one push more: %v", name, err)
		}
		gittest.RunGit(t, r.Dir, "fsck", "--strict")
	}
}

// TestCommit tests the commits of a test.
func TestCommit(t *testing.T) {
	r := testrepos.Empty(t)
	if r.Head() != "" || r.Rest() != 0 {
		t.Fatalf("head %q, rest %d of an empty repository", r.Head(), r.Rest())
	}
	first := r.Commit(t, testrepos.Change{Files: map[string]string{"a": "1\n", "d/x": "x\n", "d/y": "y\n"}})
	const want = "819a8f2f6b5b45d506bba8b1941b66ca4c2c7c69"
	if first != want {
		t.Errorf("first commit %s, want %s: the defaults must not change", first, want)
	}
	second := r.Commit(t, testrepos.Change{
		Files: map[string]string{"b": "2\n"}, Delete: []string{"d"},
		Author: "Á <á@example.org>", Message: "Two",
	})
	paths := strings.Fields(gittest.RunGit(t, r.Dir, "ls-tree", "-r", "--name-only", "main"))
	if diff := gocmp.Diff([]string{"a", "b"}, paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	g, err := git.PlainOpen(r.Dir)
	must(t, err)
	c, err := g.CommitObject(plumbing.NewHash(second))
	must(t, err)
	if c.Author.String() != "Á <á@example.org>" || c.Committer.When.Format(time.RFC3339) != "2024-01-01T09:01:00Z" {
		t.Errorf("author %s, committed %s", c.Author.String(), c.Committer.When)
	}
}

// TestBranches tests the merges, force pushes and deletions of a test.
func TestBranches(t *testing.T) {
	r := testrepos.Empty(t)
	base := r.Commit(t, testrepos.Change{Files: map[string]string{"a": "0\n", "b": "0\n", "c": "0\n"}})
	r.Branch(t, "side", base)
	side := r.Commit(t, testrepos.Change{Branch: "side", Files: map[string]string{"b": "side\n"}, Delete: []string{"c"}})
	ours := r.Commit(t, testrepos.Change{Files: map[string]string{"a": "ours\n"}})
	merge := r.Commit(t, testrepos.Change{Merge: "side", Files: map[string]string{"new": "in the merge\n"}})
	for path, want := range map[string]string{"a": "ours\n", "b": "side\n", "new": "in the merge\n"} {
		if got := string(r.File(t, merge, path)); got != want {
			t.Errorf("%s is %q after the merge, want %q", path, got, want)
		}
	}
	if _, err := r.ReadFile(merge, "c"); err == nil {
		t.Errorf("a file that the side deleted is there")
	}
	conflict := r.Commit(t, testrepos.Change{Branch: "side", Files: map[string]string{"a": "theirs\n"}})
	for _, c := range []testrepos.Change{{Merge: conflict}, {Merge: conflict, Files: map[string]string{"a": "both\n"}, Parents: []string{ours}, Force: true}} {
		want := cmp.Or(c.Files["a"], "theirs\n")
		if got := string(r.File(t, r.Commit(t, c), "a")); got != want {
			t.Errorf("a is %q after a merge, want %q", got, want)
		}
	}
	if _, err := r.Push(testrepos.Change{Parents: []string{base}}); err == nil || r.Head() == "" {
		t.Errorf("commits were lost without Force: %v", err)
	}
	forced := r.Commit(t, testrepos.Change{Parents: []string{base}, Force: true})
	if r.Head() != forced {
		t.Errorf("head %s, want %s", r.Head(), forced)
	}
	r.Branch(t, "main", ours)
	r.Branch(t, "side", "")
	if r.Head() != ours || r.Tip("side") != "" {
		t.Errorf("head %s, side %q", r.Head(), r.Tip("side"))
	}
	if string(r.File(t, side, "b")) != "side\n" {
		t.Error("a commit must stay readable by its hash")
	}
}

// TestHashesDependOnNothing makes a scenario in another time zone: tests name
// hashes, so they must not depend on the machine.
func TestHashesDependOnNothing(t *testing.T) {
	before := testrepos.Load(t, "demo").Head()
	t.Setenv("TZ", "Asia/Kathmandu")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_AUTHOR_NAME", "Somebody")
	if after := testrepos.Load(t, "demo").Head(); after != before {
		t.Errorf("head %s, was %s", after, before)
	}
}

// TestRefIsReplaced: the file of a branch is never empty for who reads it meanwhile: a
// push replaces it, and does not write into it.
func TestRefIsReplaced(t *testing.T) {
	r := testrepos.Empty(t)
	first := r.Commit(t, testrepos.Change{Files: map[string]string{"a": "1\n"}})
	file := filepath.Join(r.Dir, "refs", "heads", testrepos.DefaultBranch)
	opened, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	r.Commit(t, testrepos.Change{Files: map[string]string{"a": "2\n"}})
	if text, err := io.ReadAll(opened); err != nil || string(text) != first+"\n" {
		t.Errorf("read %q, %v", text, err)
	}
}
