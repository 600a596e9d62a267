package store

import "slices"

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
