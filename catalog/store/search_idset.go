package store

import (
	"math/bits"
	"slices"

	"github.com/repoglot/repoglot/catalog"
)

// idSet is a set of ids. A large one of neighbours is a bit for each id from
// first on: a million units take 125 kB instead of 8 MB, and a query may ask for
// a hundred such sets.
type idSet struct {
	few   []int64 // ascending, if bits is nil
	first int64
	bits  []uint64
}

// newIDSet takes ids that are ascending, each once.
func newIDSet(ids []int64) *idSet {
	n := len(ids)
	if n <= fewUnits {
		return &idSet{few: slices.Clone(ids)}
	}
	words := (ids[n-1]-ids[0])/64 + 1
	if words > int64(n) {
		return &idSet{few: slices.Clip(ids)}
	}
	s := &idSet{first: ids[0], bits: make([]uint64, words)}
	for _, id := range ids {
		at := id - s.first
		s.bits[at/64] |= 1 << (at % 64)
	}
	return s
}

func (s *idSet) has(id int64) bool {
	if s.bits == nil {
		_, found := slices.BinarySearch(s.few, id)
		return found
	}
	at := id - s.first
	return id >= s.first && at < int64(len(s.bits))*64 && s.bits[at/64]&(1<<(at%64)) != 0
}

// size is what the set takes in bytes.
func (s *idSet) size() int { return 8 * (cap(s.few) + len(s.bits)) }

// idCollector collects ids of one component, each of them perhaps many times and
// in any order.
type idCollector struct {
	first int64 // no id is less
	bits  []uint64
	n     int // that differ
}

// add grows with the greatest id: a component's are dense.
func (c *idCollector) add(id int64) {
	at := id - c.first
	if at < 0 || at >= catalog.UnitsPerComponent {
		return
	}
	if missing := int(at/64) + 1 - len(c.bits); missing > 0 {
		c.bits = append(c.bits, make([]uint64, missing)...)
	}
	if word := &c.bits[at/64]; *word&(1<<(at%64)) == 0 {
		*word |= 1 << (at % 64)
		c.n++
	}
}

// ids are those collected, ascending.
func (c *idCollector) ids() []int64 {
	ids := make([]int64, 0, c.n)
	for i, word := range c.bits {
		for ; word != 0; word &= word - 1 {
			ids = append(ids, c.first+int64(i)*64+int64(bits.TrailingZeros64(word)))
		}
	}
	return ids
}
