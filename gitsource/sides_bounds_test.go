package gitsource

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// held are the branches that a mirror holds, and its packs.
func held(t *testing.T, m *Mirror) (branches map[string]Hash, packs int) {
	t.Helper()
	dir, _ := m.Path()
	branches, err := heldSides(dir)
	must(t, err)
	list, err := os.ReadDir(filepath.Join(dir, "objects", "pack"))
	must(t, err)
	for _, f := range list {
		if strings.HasSuffix(f.Name(), ".pack") {
			packs++
		}
	}
	return branches, packs
}

// TestSideBounds: of 500 branches those are fetched that somebody asks for, and
// however many they are, the mirror has few packs.
func TestSideBounds(t *testing.T) {
	u := newUpstream(t)
	c1 := u.commit("A", files{"cs.po": "1"})
	u.set("main", c1)
	m := u.mirror(Options{Transport: "builtin"})
	_, err := m.Fetch(t.Context())
	must(t, err)
	var commits []Hash
	for i := range 10 {
		commits = append(commits, u.commit("B", files{"cs.po": fmt.Sprint("b", i)}, c1))
	}
	var refs strings.Builder
	for i := range 500 {
		fmt.Fprintf(&refs, "%s refs/heads/l10n/%03d\n", commits[i%10], i)
	}
	u.write("packed-refs", refs.String())
	for _, c := range []struct {
		queries []SideQuery
		most    int
		held    int
		heads   string // that the first query chooses
		omitted int
	}{
		{[]SideQuery{{pattern(t, "l10n/*"), 3}}, 1000, 3, "l10n/000 l10n/001 l10n/002", 497},
		{[]SideQuery{{pattern(t, "l10n/*7"), 2}, {pattern(t, "l10n/49*"), 3}}, 1000, 5, "l10n/007 l10n/017", 48},
		{[]SideQuery{{pattern(t, "l10n/49*"), 100}, {pattern(t, "l10n/*"), 100}}, 4, 4, "", 10},
		{[]SideQuery{{pattern(t, "main"), 9}, {pattern(t, "x/*"), 9}}, 4, 0, "", 0},
		{nil, 1000, 0, "", 0},
		{[]SideQuery{{pattern(t, "*"), 500}}, 1000, 500, "", 0},
	} {
		sides, err := m.FetchSides(t.Context(), c.queries, c.most)
		must(t, err)
		branches, packs := held(t, m)
		if len(branches) != c.held || len(sides.Heads) != c.held || len(sides.Failed) != 0 || packs > maxPacks+1 {
			t.Errorf("%v: %d held, %d heads, %d failed, %d packs", c.queries, len(branches), len(sides.Heads), len(sides.Failed), packs)
		}
		if c.queries == nil {
			continue
		}
		var names []string
		heads, omitted := sides.Chosen(c.queries[0])
		for _, h := range heads {
			names = append(names, h.Branch)
		}
		if got := strings.Join(names, " "); c.heads != "" && got != c.heads || omitted != c.omitted {
			t.Errorf("%v chooses %s and omits %d, want %s and %d", c.queries[0], got, omitted, c.heads, c.omitted)
		}
	}
}

// TestSidePacks: each branch that a remote sends is a pack, and the mirror is
// repacked meanwhile. Branches whose commits are there already bring none.
func TestSidePacks(t *testing.T) {
	root := t.TempDir()
	u := newUpstreamAt(t, filepath.Join(root, "up.git"))
	c1 := u.commit("A", files{"cs.po": "1"})
	u.set("main", c1)
	const n, same = maxPacks + 3, 3
	for i := range n {
		u.set(fmt.Sprintf("l10n/%03d", i), u.commit("B", files{"cs.po": fmt.Sprint("b", i)}, c1))
	}
	for i := range same {
		u.set(fmt.Sprintf("same/%03d", i), c1)
	}
	transports(t, root, func(t *testing.T, transport string, h http.Handler) {
		srv := httptest.NewServer(h)
		defer srv.Close()
		m := openMirror(t, Remote{URL: srv.URL + "/up.git"}, Options{Transport: transport})
		_, err := m.Fetch(t.Context())
		must(t, err)
		sides, err := m.FetchSides(t.Context(), []SideQuery{{pattern(t, "l10n/*"), n}, {pattern(t, "same/*"), n}}, 1000)
		must(t, err)
		branches, packs := held(t, m)
		if len(branches) != n+same || len(sides.Heads) != n+same || len(sides.Failed) != 0 || packs > maxPacks+1 {
			t.Fatalf("%d held, %d heads, failed: %v, %d packs", len(branches), len(sides.Heads), sides.Failed, packs)
		}
		r, err := m.Reader(t.Context())
		must(t, err)
		defer r.Close()
		for i, h := range sides.Heads[:n] {
			if got := contents(t, r, h.Hash, Matcher{}); got["cs.po"] != fmt.Sprint("b", i) {
				t.Errorf("%s has %v", h.Branch, got)
			}
		}
	})
}

// TestLeapBounds: a branch whose commits have too many versions of too many files
// is left alone; merely many commits are not too many.
func TestLeapBounds(t *testing.T) {
	u := newUpstream(t)
	tree := files{}
	for i := range 10 {
		tree[fmt.Sprintf("%02d.po", i)] = "0"
	}
	c1 := u.commit("A", tree)
	u.set("main", c1)
	tip := c1
	for i := range 30 {
		tree[fmt.Sprintf("%02d.po", i%10)] = fmt.Sprint("b", i)
		tip = u.commit("B", tree, tip)
	}
	quiet := tip
	for range 100 {
		quiet = u.commit("C", tree, quiet)
	}
	u.set("l10n/x", quiet)
	m := u.mirror(Options{})
	_, err := m.Fetch(t.Context())
	must(t, err)
	_, err = m.FetchSides(t.Context(), []SideQuery{{pattern(t, "*"), 9}}, 9)
	must(t, err)
	r, err := m.Reader(t.Context())
	must(t, err)
	defer r.Close()
	for _, c := range []struct {
		tip       Hash
		most      int
		truncated bool
		origins   int
	}{{tip, 309, true, 0}, {tip, 310, false, 30}, {quiet, 310, false, 31}, {quiet, 0, false, 31}} {
		step, err := r.leap(t.Context(), c1, c.tip, Matcher{}, c.most)
		must(t, err)
		if step.Truncated != c.truncated || len(step.Origins) != c.origins || len(step.Changes) != 10 {
			t.Errorf("at most %d: truncated %v, %d origins, %d changes", c.most, step.Truncated, len(step.Origins), len(step.Changes))
		}
	}
}
