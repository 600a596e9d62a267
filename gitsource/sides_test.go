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
)

func pattern(tb testing.TB, s string) BranchPattern {
	tb.Helper()
	p, err := ParseBranchPattern(s)
	must(tb, err)
	return p
}

func TestBranchPattern(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{"l10n/*", "l10n/x l10n/x/y", "l10n l10nx/y xl10n/y main"},
		{"*", "main a/b", ""},
		{"main", "main", "mai main2 a/main"},
		{"*-po", "cs-po a/b-po -po", "po cs-pot"},
		{"a*b*c", "abc axbxc aabbcc abcbc", "acb ab abcd xabc"},
		{"a*a", "aa aba", "a"},
		{"", "", "main"},
	} {
		p := pattern(t, c.pattern)
		for _, name := range strings.Fields(c.yes) {
			if !p.Match(name) {
				t.Errorf("%s does not match %s", c.pattern, name)
			}
		}
		for _, name := range strings.Fields(c.no) {
			if p.Match(name) {
				t.Errorf("%s matches %s", c.pattern, name)
			}
		}
		if p.String() != c.pattern {
			t.Errorf("%q became %q", c.pattern, p)
		}
	}
	for _, bad := range []string{"a b", "l10n/..", "-x", "a[b]", "a?", "l10n//*", "x/", "a\x00"} {
		if _, err := ParseBranchPattern(bad); err == nil {
			t.Errorf("%q is a pattern", bad)
		}
	}
	long := pattern(t, strings.Repeat("*a", 400)+"*b")
	if long.Match(strings.Repeat("a", 1<<20)) {
		t.Error("matches without its end")
	}
}

// checkSides fetches branches, compares them, and reads a file of each.
func checkSides(t *testing.T, m *Mirror, most int, want map[string]files, order ...string) {
	t.Helper()
	sides, err := m.FetchSides(context.Background(), []SideQuery{{pattern(t, "l10n/*"), 9}, {pattern(t, "*-po"), 9}}, most)
	must(t, err)
	var names []string
	r, err := m.Reader(context.Background())
	must(t, err)
	defer r.Close()
	for _, h := range sides.Heads {
		names = append(names, h.Branch)
		if got := contents(t, r, h.Hash, Matcher{}); fmt.Sprint(got) != fmt.Sprint(want[h.Branch]) {
			t.Errorf("%s has %v, want %v", h.Branch, got, want[h.Branch])
		}
	}
	if fmt.Sprint(names) != fmt.Sprint(order) {
		t.Errorf("branches %v, want %v", names, order)
	}
	if len(sides.Failed) > 0 {
		t.Errorf("failed: %v", sides.Failed)
	}
}

// sideStory moves branches of an upstream under a mirror.
func sideStory(t *testing.T, u *upstream, m *Mirror) {
	c1 := u.commit("A", files{"cs.po": "1"})
	u.set("main", c1)
	for _, gone := range []string{"l10n/a/b", "l10n/a", "l10n/c", "cs-po", "other"} {
		u.remove(gone)
	}
	_, err := m.Fetch(t.Context())
	must(t, err)
	checkSides(t, m, 9, nil)
	a := u.commit("B", files{"cs.po": "a"}, c1)
	u.set("l10n/a", a)
	u.set("cs-po", u.commit("C", files{"cs.po": "po", "x": "y"}, c1))
	u.set("other", u.commit("D", files{"cs.po": "no"}, c1))
	want := map[string]files{"l10n/a": {"cs.po": "a"}, "cs-po": {"cs.po": "po", "x": "y"}}
	checkSides(t, m, 9, want, "cs-po", "l10n/a")
	checkSides(t, m, 9, want, "cs-po", "l10n/a")
	u.remove("l10n/a")
	u.set("l10n/a/b", a)
	u.set("l10n/c", c1) // nothing of its own
	u.set("cs-po", u.commit("E", files{"cs.po": "forced"}))
	want = map[string]files{"l10n/a/b": {"cs.po": "a"}, "cs-po": {"cs.po": "forced"}, "l10n/c": {"cs.po": "1"}}
	checkSides(t, m, 9, want, "cs-po", "l10n/a/b", "l10n/c")
	checkSides(t, m, 2, want, "cs-po", "l10n/a/b")
	u.remove("l10n/a/b")
	u.set("l10n/a", a)
	want["l10n/a"] = files{"cs.po": "a"}
	checkSides(t, m, 9, want, "cs-po", "l10n/a", "l10n/c")
	head, err := m.Fetch(t.Context())
	must(t, err)
	if head.Hash != c1 || head.Branch != "main" {
		t.Errorf("the mirror's own branch stands at %+v", head)
	}
	_, err = m.Rebuild(t.Context())
	must(t, err)
	checkSides(t, m, 9, want, "cs-po", "l10n/a", "l10n/c")
}

func (u *upstream) remove(branch string) {
	u.tb.Helper()
	forgetRef(filepath.Join(u.dir, "refs", "heads"), branch)
}

func TestFetchSides(t *testing.T) {
	t.Run("local", func(t *testing.T) {
		u := newUpstream(t)
		sideStory(t, u, u.mirror(Options{Transport: "builtin"}))
	})
	t.Run("binary", func(t *testing.T) {
		u := newUpstream(t)
		sideStory(t, u, u.mirror(Options{Transport: "binary"}))
	})
	root := t.TempDir()
	u := newUpstreamAt(t, filepath.Join(root, "up.git"))
	transports(t, root, func(t *testing.T, transport string, h http.Handler) {
		srv := httptest.NewServer(h)
		defer srv.Close()
		sideStory(t, u, openMirror(t, Remote{URL: srv.URL + "/up.git"}, Options{Transport: transport}))
	})
	address := daemon(t, root)
	for _, transport := range []string{"builtin", "binary"} {
		t.Run("daemon, "+transport, func(t *testing.T) {
			sideStory(t, u, openMirror(t, Remote{URL: "git://" + address + "/up.git", Branch: "main"}, Options{Transport: transport}))
		})
	}
}

// TestSidesAreKeptAndHidden: maintenance keeps them, and those who clone from us
// do not see them.
func TestSidesAreKeptAndHidden(t *testing.T) {
	for _, transport := range []string{"auto", "builtin"} {
		u := newUpstream(t)
		c1 := u.commit("A", files{"cs.po": "1"})
		u.set("main", c1)
		u.set("l10n/x", u.commit("B", files{"cs.po": "x"}, c1))
		m := u.mirror(Options{Transport: transport})
		_, err := m.Fetch(t.Context())
		must(t, err)
		want := map[string]files{"l10n/x": {"cs.po": "x"}}
		checkSides(t, m, 9, want, "l10n/x")
		path, _ := m.Path()
		for i := range looseSample + 1 { // crowded, git would say
			must(t, writeAtomic(filepath.Join(path, "objects", "17", fmt.Sprintf("%038x", i)), "x"))
		}
		u.set("main", u.commit("C", files{"cs.po": "2"}, c1))
		_, err = m.Fetch(t.Context())
		must(t, err)
		if now, _ := m.Path(); now == path {
			t.Fatal("the mirror was not repacked")
		}
		held, err := heldSides(func() string { p, _ := m.Path(); return p }())
		must(t, err)
		if len(held) != 1 {
			t.Errorf("%s: held after maintenance: %v", transport, held)
		}
		checkSides(t, m, 9, want, "l10n/x")
		var listed bytes.Buffer
		must(t, m.UploadPack(t.Context(), Upload{}, &listed))
		if strings.Contains(listed.String(), "refs/repoglot") || !strings.Contains(listed.String(), "refs/heads/main") {
			t.Errorf("%s: refs shown: %s", transport, &listed)
		}
	}
}

// TestLeap holds what a branch brings against the main branch.
func TestLeap(t *testing.T) {
	u := newUpstream(t)
	c1 := u.commit("A", files{"cs.po": "1", "de.po": "1"})
	main := u.commit("A", files{"cs.po": "1", "de.po": "2"}, c1)
	b1 := u.commit("B", files{"cs.po": "b", "de.po": "1"}, c1)
	b2 := u.commit("C", files{"cs.po": "b", "de.po": "1", "fr.po": "c"}, b1)
	merged := u.commit("M", files{"cs.po": "1", "de.po": "2"}, main, b2)
	u.set("main", merged)
	r := reader(t, u.mirror(Options{}))
	step, err := r.Leap(t.Context(), main, b2, Matcher{})
	must(t, err)
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
	if step, err = r.Leap(t.Context(), merged, b2, Matcher{}); err != nil || len(step.Changes) != 3 || len(step.Origins) != 0 {
		t.Errorf("to what is merged: %d changes, %d origins, %v", len(step.Changes), len(step.Origins), err)
	}
	if step, err = r.Leap(t.Context(), main, main, Matcher{}); err != nil || len(step.Changes) != 0 {
		t.Errorf("to itself: %+v, %v", step, err)
	}
	if _, err = r.Leap(t.Context(), Hash{1}, main, Matcher{}); !Damaged(err) {
		t.Errorf("from an unknown commit: %v", err)
	}
}
