package store

import (
	"math/bits"
	"slices"

	"github.com/repoglot/repoglot/catalog"
)

// idSet is a set of ids. A large dense set has a bit for each id from first, a
// multiple of 64: a million units take 125 kB instead of 8 MB, and a query may
// have a hundred such sets.
type idSet struct {
	few   []int64 // ascending, if bits is nil
	first int64
	bits  []uint64
}

// newIDSet makes a set of ascending, distinct ids.
func newIDSet(ids []int64) *idSet {
	n := len(ids)
	if n <= fewUnits {
		return &idSet{few: slices.Clone(ids)}
	}
	first := ids[0] &^ 63
	words := (ids[n-1]-first)/64 + 1
	if words > int64(n) {
		return &idSet{few: slices.Clip(ids)}
	}
	s := &idSet{first: first, bits: make([]uint64, words)}
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

// size is the size of the set in bytes.
func (s *idSet) size() int { return 8 * (cap(s.few) + len(s.bits)) }

// idCollector collects ids of one component, in any order, with repetitions.
type idCollector struct {
	first int64 // the smallest possible id
	bits  []uint64
	n     int // number of distinct ids
}

// add grows the bits up to the greatest id; the ids of a component are dense.
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

// ids returns the collected ids, ascending.
func (c *idCollector) ids() []int64 {
	ids := make([]int64, 0, c.n)
	for i, word := range c.bits {
		for ; word != 0; word &= word - 1 {
			ids = append(ids, c.first+int64(i)*64+int64(bits.TrailingZeros64(word)))
		}
	}
	return ids
}

// merge adds the ids of another collector of the same component.
func (c *idCollector) merge(other *idCollector) {
	if len(c.bits) < len(other.bits) {
		c.bits, other.bits = other.bits, c.bits
	}
	for i, word := range other.bits {
		c.bits[i] |= word
	}
	c.n = 0
	for _, word := range c.bits {
		c.n += bits.OnesCount64(word)
	}
}

// set returns the collected ids, of which there must be at least one. The
// collector must not be used any more.
func (c *idCollector) set() *idSet {
	lo, hi := 0, len(c.bits)
	for c.bits[lo] == 0 {
		lo++
	}
	for c.bits[hi-1] == 0 {
		hi--
	}
	if c.n <= fewUnits || hi-lo > c.n {
		return newIDSet(c.ids())
	}
	return &idSet{first: c.first + int64(lo)*64, bits: slices.Clone(c.bits[lo:hi])}
}

// common counts the collected ids in [lo, hi) that are in a set of bits.
func (c *idCollector) common(s *idSet, lo, hi int64) (n int64) {
	lo, hi = max(lo, c.first, s.first), min(hi, c.first+int64(len(c.bits))*64, s.first+int64(len(s.bits))*64)
	for at := lo &^ 63; at < hi; at += 64 {
		word := c.bits[(at-c.first)/64] & s.bits[(at-s.first)/64]
		if at < lo {
			word &= ^uint64(0) << (lo - at)
		}
		if rest := hi - at; rest < 64 {
			word &= 1<<rest - 1
		}
		n += int64(bits.OnesCount64(word))
	}
	return n
}
