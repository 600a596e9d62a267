// Package idset has sets of ids of units, in the form that takes the least room, and collects
// them.
package idset

import (
	"math/bits"
	"slices"

	"github.com/repoglot/repoglot/catalog"
)

// Few is the number of ids up to which a set is a list.
const Few = 4096

// Set is a set of ids. A large dense set has a bit for each id from first, a
// multiple of 64: a million units take 125 kB instead of 8 MB, and a query may
// have a hundred such sets.
type Set struct {
	few   []int64 // ascending, if bits is nil
	first int64
	bits  []uint64
}

// New makes a set of ascending, distinct ids.
func New(ids []int64) *Set {
	n := len(ids)
	if n <= Few {
		return &Set{few: slices.Clone(ids)}
	}
	first := ids[0] &^ 63
	words := (ids[n-1]-first)/64 + 1
	if words > int64(n) {
		return &Set{few: slices.Clip(ids)}
	}
	s := &Set{first: first, bits: make([]uint64, words)}
	for _, id := range ids {
		at := id - s.first
		s.bits[at/64] |= 1 << (at % 64)
	}
	return s
}

// Has reports whether an id is in the set.
func (s *Set) Has(id int64) bool {
	if s.bits == nil {
		_, found := slices.BinarySearch(s.few, id)
		return found
	}
	at := id - s.first
	return id >= s.first && at < int64(len(s.bits))*64 && s.bits[at/64]&(1<<(at%64)) != 0
}

// Each calls fn for up to limit ids in order, starting at offset.
func (s *Set) Each(offset, limit int64, fn func(id int64)) {
	if s.bits == nil {
		n := int64(len(s.few))
		for _, id := range s.few[min(offset, n):min(offset+limit, n)] {
			fn(id)
		}
		return
	}
	for i, word := range s.bits {
		if n := int64(bits.OnesCount64(word)); offset >= n {
			offset -= n
			continue
		}
		for ; word != 0 && limit > 0; word &= word - 1 {
			if offset--; offset < 0 {
				fn(s.first + int64(i)*64 + int64(bits.TrailingZeros64(word)))
				limit--
			}
		}
		if offset = max(offset, 0); limit <= 0 {
			return
		}
	}
}

// Size is the size of the set in bytes.
func (s *Set) Size() int { return 8 * (cap(s.few) + len(s.bits)) }

// Listed returns the ids, ascending, if the set is a list.
func (s *Set) Listed() (ids []int64, ok bool) { return s.few, s.bits == nil }

// Collector collects ids of one component, in any order, with repetitions.
type Collector struct {
	First int64 // the smallest possible id
	bits  []uint64
	N     int // number of distinct ids
}

// Add adds an id. It grows the bits up to the greatest id; the ids of a component are dense.
func (c *Collector) Add(id int64) {
	at := id - c.First
	if at < 0 || at >= catalog.UnitsPerComponent {
		return
	}
	if missing := int(at/64) + 1 - len(c.bits); missing > 0 {
		c.bits = append(c.bits, make([]uint64, missing)...)
	}
	if word := &c.bits[at/64]; *word&(1<<(at%64)) == 0 {
		*word |= 1 << (at % 64)
		c.N++
	}
}

// Has reports whether an id was added.
func (c *Collector) Has(id int64) bool {
	at := id - c.First
	return at >= 0 && at/64 < int64(len(c.bits)) && c.bits[at/64]&(1<<(at%64)) != 0
}

// IDs returns the collected ids, ascending.
func (c *Collector) IDs() []int64 {
	ids := make([]int64, 0, c.N)
	for i, word := range c.bits {
		for ; word != 0; word &= word - 1 {
			ids = append(ids, c.First+int64(i)*64+int64(bits.TrailingZeros64(word)))
		}
	}
	return ids
}

// Merge adds the ids of another collector of the same component.
func (c *Collector) Merge(other *Collector) {
	if len(c.bits) < len(other.bits) {
		c.bits, other.bits = other.bits, c.bits
	}
	for i, word := range other.bits {
		c.bits[i] |= word
	}
	c.N = 0
	for _, word := range c.bits {
		c.N += bits.OnesCount64(word)
	}
}

// Set returns the collected ids, of which there must be at least one. The
// collector must not be used any more.
func (c *Collector) Set() *Set {
	lo, hi := 0, len(c.bits)
	for c.bits[lo] == 0 {
		lo++
	}
	for c.bits[hi-1] == 0 {
		hi--
	}
	if c.N <= Few || hi-lo > c.N {
		return New(c.IDs())
	}
	return &Set{first: c.First + int64(lo)*64, bits: slices.Clone(c.bits[lo:hi])}
}

// Common counts the collected ids in [lo, hi) that are in a set of bits.
func (c *Collector) Common(s *Set, lo, hi int64) (n int64) {
	lo, hi = max(lo, c.First, s.first), min(hi, c.First+int64(len(c.bits))*64, s.first+int64(len(s.bits))*64)
	for at := lo &^ 63; at < hi; at += 64 {
		word := c.bits[(at-c.First)/64] & s.bits[(at-s.first)/64]
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
