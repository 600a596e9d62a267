package checks

import (
	"iter"
	"math/bits"
)

// Mask is a set of checks. The zero value is empty.
type Mask [2]uint64

// Has reports whether id is in the set.
func (m Mask) Has(id ID) bool { return id < 128 && m[id>>6]&(1<<(id&63)) != 0 }

// With returns the set with id added. Numbers from 128 on are ignored.
func (m Mask) With(id ID) Mask {
	if id < 128 {
		m[id>>6] |= 1 << (id & 63)
	}
	return m
}

// Without returns the set with id removed.
func (m Mask) Without(id ID) Mask {
	if id < 128 {
		m[id>>6] &^= 1 << (id & 63)
	}
	return m
}

// Or returns the union of two sets.
func (m Mask) Or(o Mask) Mask { return Mask{m[0] | o[0], m[1] | o[1]} }

// And returns the intersection of two sets.
func (m Mask) And(o Mask) Mask { return Mask{m[0] & o[0], m[1] & o[1]} }

// AndNot returns the checks of m that are not in o.
func (m Mask) AndNot(o Mask) Mask { return Mask{m[0] &^ o[0], m[1] &^ o[1]} }

// IsZero reports whether the set is empty.
func (m Mask) IsZero() bool { return m == Mask{} }

// Len returns the number of checks in the set.
func (m Mask) Len() int { return bits.OnesCount64(m[0]) + bits.OnesCount64(m[1]) }

// Checks yields the checks of the set that the table has. Others are of a newer version.
func (m Mask) Checks() iter.Seq[*Check] {
	return func(yield func(*Check) bool) {
		all := All()
		for id := range m.All() {
			if int(id) >= len(all) || !yield(&all[id]) {
				return
			}
		}
	}
}

// All yields the numbers of the set, ascending.
func (m Mask) All() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for i, word := range m {
			for ; word != 0; word &= word - 1 {
				if !yield(ID(i*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
