package idset

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Sets have exactly what was added to them, in whatever way, and yield any page of it in order.
func TestSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.SampledFrom([]int64{0, 7 << 40, 7<<40 + 300}).Draw(t, "first")
		density := rapid.SampledFrom([]int64{1, 2, 40, 3000}).Draw(t, "density")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n := rapid.SampledFrom([]int{0, 1, 60, 5000}).Draw(t, "ids")
		var parts [3]Set
		all := map[int64]bool{}
		for range n {
			id := first + random.Int64N(int64(n)*density)
			all[id] = true
			for range 1 + random.IntN(2) {
				parts[random.IntN(3)].Add(id)
			}
		}
		ids := slices.Sorted(maps.Keys(all))
		set, put := New(maps.Keys(parts[0].list())), &Set{}
		set.Merge(&parts[1])
		set.Merge(&parts[2])
		for block := first &^ (BlockUnits - 1); block < first+int64(n)*density; block += BlockUnits {
			bits := set.Block(block)
			put.Put(block, &bits)
		}
		for _, set := range []*Set{set, put} {
			if set.Len() != int64(len(ids)) || !maps.Equal(set.list(), all) || set.Size() > 100*len(ids) {
				t.Fatalf("%d ids of %d in %d bytes", set.Len(), len(ids), set.Size())
			}
			for _, near := range ids {
				for id := max(near-1, 0); id <= near+1; id++ {
					bits := set.Block(id &^ (BlockUnits - 1))
					if set.Has(id) != all[id] || bits.Has(int(id%BlockUnits)) != all[id] {
						t.Fatalf("has %d: %t", id, !all[id])
					}
				}
			}
			offset, limit := rapid.IntRange(0, n+10).Draw(t, "offset"), rapid.IntRange(0, 100).Draw(t, "limit")
			var page []int64
			set.Each(int64(offset), int64(limit), func(id int64) { page = append(page, id) })
			if want := ids[min(offset, len(ids)):min(offset+limit, len(ids))]; !slices.Equal(page, want) {
				t.Errorf("%d from %d of %d: %v, want %v", limit, offset, len(ids), page, want)
			}
		}
	})
}

func (s *Set) list() map[int64]bool {
	all := map[int64]bool{}
	s.Each(0, 1<<62, func(id int64) { all[id] = true })
	return all
}

// The operations on bits are those on each bit.
func TestBits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (b Bits, has [BlockUnits]bool) {
			for range rapid.IntRange(0, 4).Draw(t, name) {
				lo := rapid.IntRange(0, BlockUnits).Draw(t, "lo")
				hi := rapid.IntRange(lo, BlockUnits).Draw(t, "hi")
				b.Add(lo, hi)
				for i := lo; i < hi; i++ {
					has[i] = true
				}
			}
			return b, has
		}
		a, inA := draw("a")
		b, inB := draw("b")
		and, or, not, less := a, a, a.Not(), a
		and.And(&b)
		or.Or(&b)
		less.Remove(77)
		n := 0
		a.Each(func(i int) {
			if !inA[i] {
				t.Errorf("%d is not in it", i)
			}
			n++
		})
		for i := range BlockUnits {
			if inA[i] {
				n--
			}
			if a.Has(i) != inA[i] || and.Has(i) != (inA[i] && inB[i]) || or.Has(i) != (inA[i] || inB[i]) || not.Has(i) == inA[i] || less.Has(i) != (inA[i] && i != 77) {
				t.Fatalf("bit %d", i)
			}
		}
		if n != 0 {
			t.Errorf("%d bits too many", n)
		}
	})
}
