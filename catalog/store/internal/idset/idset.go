// Package idset has sets of ids, above all of units, by blocks of successive ones.
package idset

import (
	"iter"
	"maps"
	"math/bits"
	"slices"
	"sync"
)

// BlockUnits is the number of successive ids in a block. That of a block's first unit is a
// multiple of it.
const BlockUnits = 512

// Bits has a bit for each unit of a block.
type Bits [BlockUnits / 64]uint64

// Add adds the units from lo to hi, hi excluded.
func (b *Bits) Add(lo, hi int) {
	for at := lo; at < hi; at = at&^63 + 64 {
		word := ^uint64(0) << (at % 64)
		if rest := hi - at&^63; rest < 64 {
			word &= 1<<rest - 1
		}
		b[at/64] |= word
	}
}

// Remove removes the unit i.
func (b *Bits) Remove(i int) { b[i/64] &^= 1 << (i % 64) }

// Has reports whether it has the unit i.
func (b *Bits) Has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// Each calls fn for the units, ascending.
func (b *Bits) Each(fn func(i int)) {
	for at, word := range b {
		for ; word != 0; word &= word - 1 {
			fn(at*64 + bits.TrailingZeros64(word))
		}
	}
}

// And removes the units that others lack.
func (b *Bits) And(others *Bits) {
	for i := range b {
		b[i] &= others[i]
	}
}

// Or adds the units that others has.
func (b *Bits) Or(others *Bits) {
	for i := range b {
		b[i] |= others[i]
	}
}

// Not is the units that b lacks.
func (b Bits) Not() Bits {
	for i := range b {
		b[i] = ^b[i]
	}
	return b
}

// Len is the number of units.
func (b *Bits) Len() (n int64) {
	for _, word := range b {
		n += int64(bits.OnesCount64(word))
	}
	return n
}

// Set is a set of ids, with bits for the blocks that have some: those of a million strings take
// at most 200 kB, where a list of ids takes 8 MB. The zero value is empty. It is safe for concurrent
// use as long as nothing is added.
type Set struct {
	blocks map[int64]*Bits // by number; none is empty
	sort   sync.Once
	sorted []int64 // the numbers, once Each was called
}

// New makes a set of ids.
func New(ids iter.Seq[int64]) *Set {
	s := &Set{}
	for id := range ids {
		s.Add(id)
	}
	return s
}

// block returns the block of an id, to which one is added.
func (s *Set) block(id int64) *Bits {
	b := s.blocks[id/BlockUnits]
	if b == nil {
		if s.blocks == nil {
			s.blocks = map[int64]*Bits{}
		}
		b = new(Bits)
		s.blocks[id/BlockUnits] = b
	}
	return b
}

// Add adds an id.
func (s *Set) Add(id int64) { s.block(id)[id%BlockUnits/64] |= 1 << (id % 64) }

// Put adds those of the block from first that b has.
func (s *Set) Put(first int64, b *Bits) {
	if *b != (Bits{}) {
		s.block(first).Or(b)
	}
}

// Merge adds the ids of another set.
func (s *Set) Merge(other *Set) {
	for number, b := range other.blocks {
		s.Put(number*BlockUnits, b)
	}
}

// Has reports whether an id is in the set.
func (s *Set) Has(id int64) bool {
	b := s.blocks[id/BlockUnits]
	return b != nil && b.Has(int(id%BlockUnits))
}

// Block returns which ids of the block from first are in the set.
func (s *Set) Block(first int64) Bits {
	if b := s.blocks[first/BlockUnits]; b != nil {
		return *b
	}
	return Bits{}
}

// Len is the number of ids.
func (s *Set) Len() (n int64) {
	for _, b := range s.blocks {
		n += b.Len()
	}
	return n
}

// Each calls fn for up to limit ids in order, starting at offset.
func (s *Set) Each(offset, limit int64, fn func(id int64)) {
	s.sort.Do(func() { s.sorted = slices.Sorted(maps.Keys(s.blocks)) })
	for _, number := range s.sorted {
		b := s.blocks[number]
		if n := b.Len(); offset >= n {
			offset -= n
			continue
		}
		if limit <= 0 {
			return
		}
		b.Each(func(i int) {
			if offset--; offset < 0 && limit > 0 {
				fn(number*BlockUnits + int64(i))
				limit--
			}
		})
		offset = 0
	}
}

// Size is the approximate size of the set in bytes.
func (s *Set) Size() int { return len(s.blocks) * (BlockUnits/8 + 32) }
