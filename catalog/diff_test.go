package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

func TestDiff(t *testing.T) {
	id := func(n int64) catalog.Identity { return catalog.Identity{Hash: n, Key: n} }
	known := []catalog.Known{
		{ID: 1, Identity: id(1), Text: 1, Meta: 1},
		{ID: 2, Identity: id(2), Text: 1, Meta: 1},
		{ID: 3, Identity: id(3), Text: 1, Meta: 1},
		{ID: 4, Identity: id(4), Text: 1, Meta: 1},
		{ID: 5, Identity: id(5), Text: 1, Meta: 1, Removed: true},
		{ID: 6, Identity: id(6), Text: 1, Meta: 1, Removed: true},
	}
	seen := []catalog.Seen{
		{Identity: id(9), Text: 1, Meta: 1}, // added
		{Identity: id(6), Text: 1, Meta: 1}, // returned
		{Identity: id(4), Text: 1, Meta: 1}, // same, moved up
		{Identity: id(2), Text: 2, Meta: 2}, // updated
		{Identity: id(3), Text: 1, Meta: 2}, // touched
	}
	want := catalog.Delta{
		Added:    []int{0},
		Returned: []catalog.Pair{{Known: 5, Seen: 1}},
		Updated:  []catalog.Pair{{Known: 1, Seen: 3}},
		Touched:  []catalog.Pair{{Known: 2, Seen: 4}},
		Same:     []catalog.Pair{{Known: 3, Seen: 2}},
		Removed:  []int{0},
	}
	got := catalog.Diff(known, seen)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	same := catalog.Diff(known[:1], []catalog.Seen{{Identity: id(1), Text: 1, Meta: 1}})
	if diff := cmp.Diff(catalog.Delta{Same: []catalog.Pair{{}}}, same); diff != "" {
		t.Errorf("equal units: %s", diff)
	}
}
