package gitsource

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// held are the branches that a mirror holds, and its packs.
func held(t *testing.T, m *Mirror) (branches map[string]object.Hash, packs int) {
	t.Helper()
	dir, _ := m.Path()
	branches, err := refsBelow(dir, otherRefs)
	gittest.Must(t, err)
	list, err := os.ReadDir(filepath.Join(dir, "objects", "pack"))
	gittest.Must(t, err)
	for _, f := range list {
		if strings.HasSuffix(f.Name(), ".pack") {
			packs++
		}
	}
	return branches, packs
}

// TestOtherBranchesBounds: of 500 branches those are fetched that somebody asks for, and
// however many they are, the mirror has few packs.
func TestOtherBranchesBounds(t *testing.T) {
	u, c1, m := mirrored(t, files{"cs.po": "1"}, Options{Remote: remote.Options{Transport: "builtin"}})
	fetch(t, m)
	var commits []object.Hash
	for i := range 10 {
		commits = append(commits, u.Commit("B", files{"cs.po": fmt.Sprint("b", i)}, c1))
	}
	var refs strings.Builder
	for i := range 500 {
		fmt.Fprintf(&refs, "%s refs/heads/l10n/%03d\n", commits[i%10], i)
	}
	u.Write("packed-refs", refs.String())
	for _, c := range []struct {
		queries []BranchQuery
		most    int
		held    int
		heads   string // that the first query chooses
		omitted int
	}{
		{[]BranchQuery{{pattern(t, "l10n/*"), 3}}, 1000, 3, "l10n/000 l10n/001 l10n/002", 497},
		{[]BranchQuery{{pattern(t, "l10n/*7"), 2}, {pattern(t, "l10n/49*"), 3}}, 1000, 5, "l10n/007 l10n/017", 48},
		{[]BranchQuery{{pattern(t, "l10n/49*"), 100}, {pattern(t, "l10n/*"), 100}}, 4, 4, "", 10},
		{[]BranchQuery{{pattern(t, "main"), 9}, {pattern(t, "x/*"), 9}}, 4, 0, "", 0},
		{nil, 1000, 0, "", 0},
		{[]BranchQuery{{pattern(t, "*"), 500}}, 1000, 500, "", 0},
	} {
		others, err := m.FetchOtherBranches(t.Context(), c.queries, c.most)
		gittest.Must(t, err)
		branches, packs := held(t, m)
		if len(branches) != c.held || len(others.Heads) != c.held || len(others.Failed) != 0 || packs > 50+1 {
			t.Errorf("%v: %d held, %d heads, %d failed, %d packs", c.queries, len(branches), len(others.Heads), len(others.Failed), packs)
		}
		if c.queries == nil {
			continue
		}
		var names []string
		heads, omitted := others.Select(c.queries[0])
		for _, h := range heads {
			names = append(names, h.Branch)
		}
		if got := strings.Join(names, " "); c.heads != "" && got != c.heads || omitted != c.omitted {
			t.Errorf("%v chooses %s and omits %d, want %s and %d", c.queries[0], got, omitted, c.heads, c.omitted)
		}
	}
}

// TestOtherBranchesPacks: each branch that a remote sends is a pack, and the mirror is
// repacked in the meantime. Branches whose commits are there already bring none.
func TestOtherBranchesPacks(t *testing.T) {
	root, u := upstreamBelow(t)
	c1 := u.Push("A", files{"cs.po": "1"})
	const n, same = 50 + 3, 3
	for i := range n {
		u.Set(fmt.Sprintf("l10n/%03d", i), u.Commit("B", files{"cs.po": fmt.Sprint("b", i)}, c1))
	}
	for i := range same {
		u.Set(fmt.Sprintf("same/%03d", i), c1)
	}
	transports(t, root, func(t *testing.T, transport string, h http.Handler) {
		srv := httptest.NewServer(h)
		defer srv.Close()
		m := openMirror(t, remote.Repository{URL: srv.URL + "/up.git"}, Options{Remote: remote.Options{Transport: transport}})
		fetch(t, m)
		others, err := m.FetchOtherBranches(t.Context(), []BranchQuery{{pattern(t, "l10n/*"), n}, {pattern(t, "same/*"), n}}, 1000)
		gittest.Must(t, err)
		branches, packs := held(t, m)
		if len(branches) != n+same || len(others.Heads) != n+same || len(others.Failed) != 0 || packs > 50+1 {
			t.Fatalf("%d held, %d heads, failed: %v, %d packs", len(branches), len(others.Heads), others.Failed, packs)
		}
		r := open(t, m)
		for i, h := range others.Heads[:n] {
			if got := contents(t, r, h.Hash, filemask.Matcher{}); got["cs.po"] != fmt.Sprint("b", i) {
				t.Errorf("%s has %v", h.Branch, got)
			}
		}
	})
}

// TestBetweenBounds: a branch whose commits have too many versions of too many files
// is left alone; merely many commits are not too many.
func TestBetweenBounds(t *testing.T) {
	u := newUpstream(t)
	tree := files{}
	for i := range 10 {
		tree[fmt.Sprintf("%02d.po", i)] = "0"
	}
	c1 := u.Push("A", tree)
	tip := c1
	for i := range 30 {
		tree[fmt.Sprintf("%02d.po", i%10)] = fmt.Sprint("b", i)
		tip = u.Commit("B", tree, tip)
	}
	quiet := tip
	for range 100 {
		quiet = u.Commit("C", tree, quiet)
	}
	u.Set("l10n/x", quiet)
	m := mirrorOf(t, u, Options{})
	fetch(t, m)
	_, err := m.FetchOtherBranches(t.Context(), []BranchQuery{{pattern(t, "*"), 9}}, 9)
	gittest.Must(t, err)
	r := open(t, m)
	for _, c := range []struct {
		tip       object.Hash
		most      int
		truncated bool
		origins   int
	}{{tip, 309, true, 0}, {tip, 310, false, 30}, {quiet, 310, false, 31}, {quiet, 0, false, 31}} {
		step, err := r.between(t.Context(), c1, c.tip, filemask.Matcher{}, c.most)
		gittest.Must(t, err)
		if step.Truncated != c.truncated || len(step.Origins) != c.origins || len(step.Changes) != 10 {
			t.Errorf("at most %d: truncated %v, %d origins, %d changes", c.most, step.Truncated, len(step.Origins), len(step.Changes))
		}
	}
}
