package idset

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
)

// Sets contain exactly what was put into them, in every form.
func TestSet(t *testing.T) {
	for _, step := range []int64{1, 3, 1000} {
		for _, n := range []int64{1, Few, Few + 1, 3 * Few} {
			var ids []int64
			for i := range n {
				ids = append(ids, 1<<40+i*step)
			}
			set := New(ids)
			for id := ids[0] - 100; id < ids[n-1]+100; id += max(1, step/4) {
				if want := id >= ids[0] && id <= ids[n-1] && (id-ids[0])%step == 0; set.Has(id) != want {
					t.Fatalf("%d ids, each %d-th: has %d: %v", n, step, id, !want)
				}
			}
			if set.Has(0) || set.Has(-1<<63) || set.Has(1<<63-1) || set.Size() > int(8*n) {
				t.Errorf("%d ids, each %d-th: %d bytes", n, step, set.Size())
			}
			for _, page := range [][2]int64{{0, 10}, {0, n}, {n / 2, 70}, {n - 1, 10}, {n, 10}, {n + 500, 10}, {63, 2}, {64, 65}} {
				var got []int64
				set.Each(page[0], page[1], func(id int64) { got = append(got, id) })
				if want := ids[min(page[0], n):min(page[0]+page[1], n)]; !slices.Equal(got, want) {
					t.Errorf("%d ids, each %d-th: the page %v is %v, want %v", n, step, page, got, want)
				}
			}
		}
	}
}

// Collected ids come out once, ascending; ids of other components do not.
func TestCollector(t *testing.T) {
	t.Parallel()
	c := Collector{First: 7 * catalog.UnitsPerComponent}
	want := map[int64]bool{}
	for i := range int64(1000) {
		id := c.First + i*i*7919%100_003
		want[id] = true
		c.Add(id)
	}
	c.Add(c.First)
	want[c.First] = true
	c.Add(c.First - 1)
	c.Add(c.First + catalog.UnitsPerComponent)
	for id := c.First - 2; id < c.First+100_100; id++ {
		if c.Has(id) != want[id] {
			t.Fatalf("has %d: %t", id, !want[id])
		}
	}
	if got := c.IDs(); !slices.Equal(got, slices.Sorted(maps.Keys(want))) || cap(got) != len(got) {
		t.Errorf("%d ids of %d", len(got), len(want))
	}
}

// Merged collectors make the set that one would have made, and count the ids in
// common with another set.
func TestCollectors(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const first = 7 * catalog.UnitsPerComponent
		density := rapid.SampledFrom([]int64{1, 2, 40, 3000}).Draw(t, "density")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		offset, n := random.Int64N(1000), rapid.IntRange(1, 3*Few).Draw(t, "ids")
		all, parts := Collector{First: first}, [3]Collector{{First: first}, {First: first}, {First: first}}
		for range n {
			id := first + offset + random.Int64N(int64(n)*density)
			all.Add(id)
			for range 1 + random.IntN(2) {
				parts[random.IntN(3)].Add(id)
			}
		}
		parts[0].Merge(&parts[1])
		parts[0].Merge(&parts[2])
		ids := all.IDs()
		set, want := parts[0].Set(), New(ids)
		if parts[0].N != len(ids) || set.first != want.first || !slices.Equal(set.few, want.few) || !slices.Equal(set.bits, want.bits) {
			t.Fatalf("%d ids, want %d; a set from %d, want %d", parts[0].N, len(ids), set.first, want.first)
		}
		if set.bits == nil {
			return
		}
		live := Collector{First: first}
		for range n {
			live.Add(first + random.Int64N(int64(n)*density+2000))
		}
		lo := first + random.Int64N(int64(n)*density) - 100
		hi := lo + random.Int64N(int64(n)*density+200)
		common := int64(0)
		for _, id := range live.IDs() {
			if set.Has(id) && lo <= id && id < hi {
				common++
			}
		}
		if got := live.Common(set, lo, hi); got != common {
			t.Errorf("%d in common in [%d, %d), want %d", got, lo, hi, common)
		}
	})
}
