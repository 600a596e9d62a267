package testrepos_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/testrepos"
)

// scenario makes a repository of a scenario.
func scenario(t *testing.T, text string) *testrepos.Repo {
	t.Helper()
	s, err := testrepos.Parse("scenario.txtar", []byte(text))
	must(t, err)
	r, err := testrepos.Create(filepath.Join(t.TempDir(), "r.git"), s)
	must(t, err)
	return r
}

const held = `initial: 1
-- commit 1 --
author: A <a@example.org>
date: 2024-03-01T09:30:00+01:00
committer: C <c@example.org>
committed: 2024-03-01T10:00:00-05:00
message: |-
  One

  with a second paragraph
tags: [v1]
-- 1/a --
1
-- commit 2 --
branch: side
parents: [1]
hold: true
-- 2/b --
2
-- commit 3 --
hold: true
-- 3/a --
3
-- commit 4 --
merge: [side]
drop: [side]
-- commit 5 --
-- 5/a --
5
`

// TestPush: a push moves every reference once, and another reader of git finds the
// commits.
func TestPush(t *testing.T) {
	r := scenario(t, held)
	one := r.Head()
	if r.Rest() != 2 || r.Tip("side") != "" {
		t.Fatalf("rest %d, side %q", r.Rest(), r.Tip("side"))
	}
	commits, err := r.Next()
	if err != nil || len(commits) != 3 || commits[0].Label != "2" {
		t.Errorf("commits %+v, %v", commits, err)
	}
	if r.Head() != r.Hash("4") || r.Tip("side") != "" {
		t.Errorf("head %s, side %q", r.Head(), r.Tip("side"))
	}
	g, err := git.PlainOpen(r.Path())
	must(t, err)
	c, err := g.CommitObject(plumbing.NewHash(one))
	must(t, err)
	if got := c.Author.String() + " " + c.Author.When.Format(time.RFC3339); got != "A <a@example.org> 2024-03-01T09:30:00+01:00" {
		t.Errorf("author %s", got)
	}
	if got := c.Committer.String() + " " + c.Committer.When.Format(time.RFC3339); got != "C <c@example.org> 2024-03-01T10:00:00-05:00" {
		t.Errorf("committer %s", got)
	}
	if c.Message != "One\n\nwith a second paragraph\n" {
		t.Errorf("message %q", c.Message)
	}
	tag, err := g.Tag("v1")
	if err != nil || tag.Hash().String() != one {
		t.Errorf("tag %v, %v", tag, err)
	}
	merge, err := g.CommitObject(plumbing.NewHash(r.Head()))
	if err != nil || len(merge.ParentHashes) != 2 || merge.ParentHashes[0].String() != r.Hash("3") {
		t.Errorf("merge %v, %v", merge, err)
	}
	if string(r.File(t, "4", "a"))+string(r.File(t, "4", "b")) != "3\n2\n" {
		t.Errorf("the merge lacks the text of a side")
	}
}

// TestOpen: another process continues with the next push, on top of commits that
// somebody else pushed.
func TestOpen(t *testing.T) {
	s, err := testrepos.Parse("held.txtar", []byte(held))
	must(t, err)
	dir := filepath.Join(t.TempDir(), "r.git")
	_, err = testrepos.Create(dir, s)
	must(t, err)
	r, err := testrepos.Open(dir, s)
	must(t, err)
	if r.Rest() != 2 || r.Hash("1") != r.Head() {
		t.Fatalf("rest %d, label 1 %q, head %s", r.Rest(), r.Hash("1"), r.Head())
	}
	r.Advance(t)
	mine := r.Commit(t, testrepos.Change{Files: map[string]string{"c": "mine\n"}})
	if r, err = testrepos.Open(dir, s); err != nil {
		t.Fatal(err)
	}
	r.Advance(t)
	if got := string(r.File(t, "main", "c")); got != "mine\n" || r.Head() == mine || r.Rest() != 0 {
		t.Errorf("file c %q, head %s after %s, rest %d", got, r.Head(), mine, r.Rest())
	}
	if _, err := r.Next(); !errors.Is(err, testrepos.ErrNoStep) {
		t.Errorf("error %v, want ErrNoStep", err)
	}
	if _, err := testrepos.Create(dir, s); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("made over another repository: %v", err)
	}
	s.Name = "other"
	if _, err := testrepos.Open(dir, s); err == nil || !strings.Contains(err.Error(), `want "other"`) {
		t.Errorf("opened with another scenario: %v", err)
	}
	if _, err := testrepos.Open(t.TempDir(), s); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("opened an empty directory: %v", err)
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
	paths, err := r.Paths("main")
	must(t, err)
	if diff := cmp.Diff([]string{"a", "b"}, paths); diff != "" {
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
	merge := r.Commit(t, testrepos.Change{Merge: []string{"side"}, Files: map[string]string{"new": "in the merge\n"}})
	for path, want := range map[string]string{"a": "ours\n", "b": "side\n", "new": "in the merge\n"} {
		if got := string(r.File(t, merge, path)); got != want {
			t.Errorf("%s is %q after the merge, want %q", path, got, want)
		}
	}
	if _, err := r.ReadFile(merge, "c"); err == nil {
		t.Errorf("a file that the side deleted is there")
	}
	conflict := r.Commit(t, testrepos.Change{Branch: "side", Files: map[string]string{"a": "theirs\n"}})
	if _, err := r.Push(testrepos.Change{Merge: []string{conflict}}); !errors.Is(err, testrepos.ErrConflict) {
		t.Errorf("error %v, want ErrConflict", err)
	}
	r.Commit(t, testrepos.Change{Merge: []string{conflict}, Files: map[string]string{"a": "both\n"}})
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
	file := filepath.Join(r.Dir, "refs", "heads", r.DefaultBranch())
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
