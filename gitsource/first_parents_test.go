package gitsource

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/repoglot/repoglot/gitsource/object"
)

func TestFirstParents(t *testing.T) {
	u := newUpstream(t)
	c1 := u.Commit("A", files{"de.po": "1"})
	side := u.Commit("S", files{"de.po": "2"}, c1)
	c2 := u.Commit("B", files{"README": "y", "de.po": "1"}, c1)
	c3 := u.Commit("M", files{"README": "y", "de.po": "2"}, c2, side)
	u.Set("main", c3)
	r := reader(t, mirrorOf(t, u, Options{}))
	var got []object.Hash
	for link, err := range r.FirstParents(t.Context(), c3) {
		if err != nil {
			t.Fatal(err)
		}
		commit, err := r.Commit(t.Context(), link.Hash)
		if err != nil {
			t.Fatal(err)
		}
		if !link.When.Equal(commit.Committer.When) || link.When.Location() != time.UTC {
			t.Errorf("%s is of %s, want %s", link.Hash, link.When, commit.Committer.When)
		}
		got = append(got, link.Hash)
	}
	if diff := cmp.Diff([]object.Hash{c3, c2, c1}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	places := []int{}
	for _, s := range steps(t, r, object.Hash{}, c3, poMask) { // B touches no PO file
		places = append(places, s.Position, s.Total)
	}
	if !slices.Equal(places, []int{1, 3, 3, 3}) {
		t.Errorf("places %v", places)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ctx := range []context.Context{cancelled, t.Context()} {
		from := c3
		if ctx != cancelled {
			from = object.Hash{1}
		}
		n := 0
		for _, err := range r.FirstParents(ctx, from) {
			if n++; err == nil || n > 1 {
				t.Errorf("%d: %v", n, err)
			}
		}
	}
}
