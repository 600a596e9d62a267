package store

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
)

// Sets contain exactly what was put into them, in every form.
func TestIDSet(t *testing.T) {
	for _, step := range []int64{1, 3, 1000} {
		for _, n := range []int64{1, fewUnits, fewUnits + 1, 3 * fewUnits} {
			var ids []int64
			for i := range n {
				ids = append(ids, 1<<40+i*step)
			}
			set := newIDSet(ids)
			for id := ids[0] - 100; id < ids[n-1]+100; id += max(1, step/4) {
				if want := id >= ids[0] && id <= ids[n-1] && (id-ids[0])%step == 0; set.has(id) != want {
					t.Fatalf("%d ids, each %d-th: has %d: %v", n, step, id, !want)
				}
			}
			if set.has(0) || set.has(-1<<63) || set.has(1<<63-1) || set.size() > int(8*n) {
				t.Errorf("%d ids, each %d-th: %d bytes", n, step, set.size())
			}
		}
	}
}

// Collected ids come out once, ascending; ids of other components do not.
func TestIDCollector(t *testing.T) {
	t.Parallel()
	c := idCollector{first: 7 * catalog.UnitsPerComponent}
	want := map[int64]bool{}
	for i := range int64(1000) {
		id := c.first + i*i*7919%100_003
		want[id] = true
		c.add(id)
	}
	c.add(c.first)
	want[c.first] = true
	c.add(c.first - 1)
	c.add(c.first + catalog.UnitsPerComponent)
	if got := c.ids(); !slices.Equal(got, slices.Sorted(maps.Keys(want))) || cap(got) != len(got) {
		t.Errorf("%d ids of %d", len(got), len(want))
	}
}

// Merged collectors make the set that one would have made, and count the ids in
// common with another set.
func TestIDCollectors(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const first = 7 * catalog.UnitsPerComponent
		density := rapid.SampledFrom([]int64{1, 2, 40, 3000}).Draw(t, "density")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		offset, n := random.Int64N(1000), rapid.IntRange(1, 3*fewUnits).Draw(t, "ids")
		all, parts := idCollector{first: first}, [3]idCollector{{first: first}, {first: first}, {first: first}}
		for range n {
			id := first + offset + random.Int64N(int64(n)*density)
			all.add(id)
			for range 1 + random.IntN(2) {
				parts[random.IntN(3)].add(id)
			}
		}
		parts[0].merge(&parts[1])
		parts[0].merge(&parts[2])
		ids := all.ids()
		set, want := parts[0].set(), newIDSet(ids)
		if parts[0].n != len(ids) || set.first != want.first || !slices.Equal(set.few, want.few) || !slices.Equal(set.bits, want.bits) {
			t.Fatalf("%d ids, want %d; a set from %d, want %d", parts[0].n, len(ids), set.first, want.first)
		}
		if set.bits == nil {
			return
		}
		live := idCollector{first: first}
		for range n {
			live.add(first + random.Int64N(int64(n)*density+2000))
		}
		lo := first + random.Int64N(int64(n)*density) - 100
		hi := lo + random.Int64N(int64(n)*density+200)
		common := int64(0)
		for _, id := range live.ids() {
			if set.has(id) && lo <= id && id < hi {
				common++
			}
		}
		if got := live.common(set, lo, hi); got != common {
			t.Errorf("%d in common in [%d, %d), want %d", got, lo, hi, common)
		}
	})
}
