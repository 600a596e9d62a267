package catalog

import (
	"math/bits"
	"math/rand/v2"
)

// Known has the fields of a stored unit that Diff needs.
type Known struct {
	// ID is the unit's id.
	ID int64
	// Identity is the unit's identity.
	Identity Identity
	// Text and Meta are the stored unit's fingerprints, by Hasher.Text and
	// Hasher.Meta.
	Text, Meta int64
	// Removed marks a unit that the file did not have before.
	Removed bool
}

// Seen has the fields of a unit just read that Diff needs.
type Seen struct {
	// Identity is the unit's identity.
	Identity Identity
	// Text and Meta are its fingerprints, by Hasher.Text and Hasher.Meta.
	Text, Meta int64
}

// Pair is a stored unit and the unit just read with the same identity, as indices
// into the two arguments of Diff.
type Pair struct{ Known, Seen int }

// Delta is the difference between the stored and the read units of a
// translation. Every unit that was read is in exactly one of Added, Returned,
// Updated, Touched and Same, in the order of the file.
type Delta struct {
	// Added are the indices of units that have not been stored before.
	Added []int
	// Returned are units that were removed and are in the file again.
	Returned []Pair
	// Updated are units whose target or state changed.
	Updated []Pair
	// Touched are units with the same target and state of which another field
	// changed, such as note or flags. They are stored and make no change entry.
	Touched []Pair
	// Same are units that did not change, except perhaps their position.
	Same []Pair
	// Removed are the indices of live stored units that the file no longer has,
	// in the order of the stored units.
	Removed []int
}

// Diff compares the stored units of a translation, including removed ones, with the
// units just read from its file. Identities must be unique within each argument: the
// caller keeps the first one of repeated entries.
func Diff(known []Known, seen []Seen) Delta {
	d := Delta{Same: make([]Pair, 0, min(len(known), len(seen)))}
	index := knownIndex{known: known}
	found := make([]bool, len(known))
	for i := range seen {
		k, ok := index.find(seen[i].Identity)
		if !ok {
			d.Added = append(d.Added, i)
			continue
		}
		found[k] = true
		d.classify(Pair{Known: k, Seen: i}, &known[k], &seen[i])
	}
	for i := range known {
		if !found[i] && !known[i].Removed {
			d.Removed = append(d.Removed, i)
		}
	}
	return d
}

// knownIndex finds stored units. Files are usually in the order of the ids, so the
// unit after the last one found is tried first; the table is made when that fails.
type knownIndex struct {
	known []Known
	next  int
	table []int32 // open addressing; index+1, or 0
	mix   uint64  // odd and random, so that no file can be made whose strings share a slot
	shift int
}

func (x *knownIndex) find(id Identity) (int, bool) {
	if x.next < len(x.known) && x.known[x.next].Identity == id {
		x.next++
		return x.next - 1, true
	}
	if len(x.known) == 0 {
		return 0, false
	}
	if x.table == nil {
		x.build()
	}
	for slot := x.slot(id); x.table[slot] != 0; slot = x.after(slot) {
		if k := int(x.table[slot] - 1); x.known[k].Identity == id {
			x.next = k + 1
			return k, true
		}
	}
	return 0, false
}

func (x *knownIndex) build() {
	size := bits.Len(uint(len(x.known))) + 1
	x.table, x.mix, x.shift = make([]int32, 1<<size), rand.Uint64()|1, 64-size
	for i := range x.known {
		slot := x.slot(x.known[i].Identity)
		for x.table[slot] != 0 {
			slot = x.after(slot)
		}
		x.table[slot] = int32(i + 1)
	}
}

func (x *knownIndex) slot(id Identity) uint64  { return uint64(id.Key) * x.mix >> x.shift }
func (x *knownIndex) after(slot uint64) uint64 { return (slot + 1) & uint64(len(x.table)-1) }

// classify adds a pair to the list for its difference.
func (d *Delta) classify(p Pair, known *Known, seen *Seen) {
	switch {
	case known.Removed:
		d.Returned = append(d.Returned, p)
	case known.Text != seen.Text:
		d.Updated = append(d.Updated, p)
	case known.Meta != seen.Meta:
		d.Touched = append(d.Touched, p)
	default:
		d.Same = append(d.Same, p)
	}
}
