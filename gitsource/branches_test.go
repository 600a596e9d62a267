package gitsource

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

func pattern(tb testing.TB, s string) remote.BranchPattern {
	tb.Helper()
	p, err := remote.ParseBranchPattern(s)
	gittest.Must(tb, err)
	return p
}

// checkBranches fetches branches, compares them, and reads a file of each.
func checkBranches(t *testing.T, m *Mirror, most int, want map[string]files, order ...string) {
	t.Helper()
	others, err := m.FetchOtherBranches(context.Background(), []BranchQuery{{pattern(t, "l10n/*"), 9}, {pattern(t, "*-po"), 9}}, most)
	gittest.Must(t, err)
	var names []string
	r := open(t, m)
	for _, h := range others.Heads {
		names = append(names, h.Branch)
		if got := contents(t, r, h.Hash, filemask.Matcher{}); fmt.Sprint(got) != fmt.Sprint(want[h.Branch]) {
			t.Errorf("%s has %v, want %v", h.Branch, got, want[h.Branch])
		}
	}
	if fmt.Sprint(names) != fmt.Sprint(order) {
		t.Errorf("branches %v, want %v", names, order)
	}
	if len(others.Failed) > 0 {
		t.Errorf("failed: %v", others.Failed)
	}
}

// branchStory moves branches of an upstream under a mirror.
func branchStory(t *testing.T, u *upstream, m *Mirror) {
	c1 := u.Push("A", files{"cs.po": "1"})
	for _, gone := range []string{"l10n/a/b", "l10n/a", "l10n/c", "cs-po", "other"} {
		u.Remove(gone)
	}
	fetch(t, m)
	checkBranches(t, m, 9, nil)
	a := u.Commit("B", files{"cs.po": "a"}, c1)
	u.Set("l10n/a", a)
	u.Set("cs-po", u.Commit("C", files{"cs.po": "po", "x": "y"}, c1))
	u.Set("other", u.Commit("D", files{"cs.po": "no"}, c1))
	want := map[string]files{"l10n/a": {"cs.po": "a"}, "cs-po": {"cs.po": "po", "x": "y"}}
	checkBranches(t, m, 9, want, "cs-po", "l10n/a")
	checkBranches(t, m, 9, want, "cs-po", "l10n/a")
	u.Remove("l10n/a")
	u.Set("l10n/a/b", a)
	u.Set("l10n/c", c1) // nothing of its own
	u.Set("cs-po", u.Commit("E", files{"cs.po": "forced"}))
	want = map[string]files{"l10n/a/b": {"cs.po": "a"}, "cs-po": {"cs.po": "forced"}, "l10n/c": {"cs.po": "1"}}
	checkBranches(t, m, 9, want, "cs-po", "l10n/a/b", "l10n/c")
	checkBranches(t, m, 2, want, "cs-po", "l10n/a/b")
	u.Remove("l10n/a/b")
	u.Set("l10n/a", a)
	want["l10n/a"] = files{"cs.po": "a"}
	checkBranches(t, m, 9, want, "cs-po", "l10n/a", "l10n/c")
	head := fetch(t, m)
	if head.Hash != c1 || head.Branch != "main" {
		t.Errorf("the mirror's own branch is at %+v", head)
	}
	_, err := m.Rebuild(t.Context())
	gittest.Must(t, err)
	checkBranches(t, m, 9, want, "cs-po", "l10n/a", "l10n/c")
}

func TestFetchOtherBranches(t *testing.T) {
	t.Run("local", func(t *testing.T) {
		u := newUpstream(t)
		branchStory(t, u, mirrorOf(t, u, Options{Remote: remote.Options{Transport: "builtin"}}))
	})
	t.Run("binary", func(t *testing.T) {
		u := newUpstream(t)
		branchStory(t, u, mirrorOf(t, u, Options{Remote: remote.Options{Transport: "binary"}}))
	})
	root, u := upstreamBelow(t)
	transports(t, root, func(t *testing.T, transport string, h http.Handler) {
		srv := httptest.NewServer(h)
		defer srv.Close()
		branchStory(t, u, openMirror(t, remote.Repository{URL: srv.URL + "/up.git"}, Options{Remote: remote.Options{Transport: transport}}))
	})
	address := daemon(t, root)
	for _, transport := range []string{"builtin", "binary"} {
		t.Run("daemon, "+transport, func(t *testing.T) {
			branchStory(t, u, openMirror(t, remote.Repository{URL: "git://" + address + "/up.git", Branch: "main"}, Options{Remote: remote.Options{Transport: transport}}))
		})
	}
}

// TestOtherBranchesAreKeptAndHidden: a repack keeps other branches, which are fetched again
// where git may not make it, and clients that clone from the mirror do not see them.
func TestOtherBranchesAreKeptAndHidden(t *testing.T) {
	for _, transport := range []string{"auto", "builtin"} {
		u := newUpstream(t)
		c1 := u.Push("A", files{"cs.po": "1"})
		u.Set("l10n/x", u.Commit("B", files{"cs.po": "x"}, c1))
		m := mirrorOf(t, u, Options{Remote: remote.Options{Transport: transport}})
		fetch(t, m)
		want := map[string]files{"l10n/x": {"cs.po": "x"}}
		checkBranches(t, m, 9, want, "l10n/x")
		path, _ := m.Path()
		for i := range 30 { // crowded, git would say
			gittest.Must(t, object.WriteText(filepath.Join(path, "objects", "17", fmt.Sprintf("%038x", i)), "x"))
		}
		u.Push("C", files{"cs.po": "2"}, c1)
		fetch(t, m)
		if now, _ := m.Path(); now == path {
			t.Fatal("the mirror was not repacked")
		}
		held, err := refsBelow(func() string { p, _ := m.Path(); return p }(), otherRefs)
		gittest.Must(t, err)
		if len(held) != 1 && transport != "builtin" {
			t.Errorf("%s: held after maintenance: %v", transport, held)
		}
		checkBranches(t, m, 9, want, "l10n/x")
		if transport == "builtin" {
			continue // which serves no clones
		}
		var listed bytes.Buffer
		gittest.Must(t, m.UploadPack(t.Context(), Upload{}, &listed))
		if strings.Contains(listed.String(), "refs/repoglot") || !strings.Contains(listed.String(), "refs/heads/main") {
			t.Errorf("%s: refs shown: %s", transport, &listed)
		}
	}
}

// TestBetween compares branches with the main branch.
func TestBetween(t *testing.T) {
	u := newUpstream(t)
	c1 := u.Commit("A", files{"cs.po": "1", "de.po": "1"})
	main := u.Commit("A", files{"cs.po": "1", "de.po": "2"}, c1)
	b1 := u.Commit("B", files{"cs.po": "b", "de.po": "1"}, c1)
	b2 := u.Commit("C", files{"cs.po": "b", "de.po": "1", "fr.po": "c"}, b1)
	merged := u.Push("M", files{"cs.po": "1", "de.po": "2"}, main, b2)
	r := reader(t, mirrorOf(t, u, Options{}))
	step, err := r.Between(t.Context(), main, b2, filemask.Matcher{})
	gittest.Must(t, err)
	var paths []string
	for _, c := range step.Changes {
		paths = append(paths, c.Path)
	}
	var who []string
	for _, o := range step.Origins {
		who = append(who, o.Commit.Author.Name)
	}
	if fmt.Sprint(paths, who) != "[cs.po de.po fr.po] [B C]" {
		t.Errorf("changes %v by %v", paths, who)
	}
	if step, err = r.Between(t.Context(), merged, b2, filemask.Matcher{}); err != nil || len(step.Changes) != 3 || len(step.Origins) != 0 {
		t.Errorf("to a merged commit: %d changes, %d origins, %v", len(step.Changes), len(step.Origins), err)
	}
	if step, err = r.Between(t.Context(), main, main, filemask.Matcher{}); err != nil || len(step.Changes) != 0 {
		t.Errorf("to itself: %+v, %v", step, err)
	}
	if _, err = r.Between(t.Context(), object.Hash{1}, main, filemask.Matcher{}); !object.Damaged(err) {
		t.Errorf("from an unknown commit: %v", err)
	}
}
