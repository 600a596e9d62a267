package catalog

import (
	"math/bits"
	"math/rand/v2"
)

// Known is what Diff needs of a stored unit.
type Known struct {
	// ID is the unit's id.
	ID int64
	// Identity is that of the unit.
	Identity Identity
	// Text and Meta are the fingerprints that Hasher.Text and Hasher.Meta made
	// of the stored unit.
	Text, Meta int64
	// Removed marks a unit that was in no file before.
	Removed bool
}

// Seen is what Diff needs of a unit just read: its identity and fingerprints.
type Seen struct {
	// Identity is that of the unit.
	Identity Identity
	// Text and Meta are fingerprints by Hasher.Text and Hasher.Meta.
	Text, Meta int64
}

// Pair names a stored unit and the unit read that it became, as indices into
// the two arguments of Diff.
type Pair struct{ Known, Seen int }

// Delta is the difference between the stored and the read units of a
// translation. Every unit that was read is in exactly one of Added, Returned,
// Updated, Touched and Same, in the order of the file.
type Delta struct {
	// Added are units never seen before: indices of units read.
	Added []int
	// Returned are units that were removed and are there again.
	Returned []Pair
	// Updated are units whose target or state changed.
	Updated []Pair
	// Touched are units of which only note, flags or previous source changed:
	// they are stored but make no change entry (decision 16).
	Touched []Pair
	// Same are units that did not change, but perhaps their place.
	Same []Pair
	// Removed are live units that the file has no more: indices of stored
	// units, in their order.
	Removed []int
}

// Diff compares the stored units of a translation, removed ones included, with
// those just read from its file. Identities must be unique within each
// argument: of repeated entries the first wins before Diff is called
// (decision 13).
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
		d.sort(Pair{Known: k, Seen: i}, &known[k], &seen[i])
	}
	for i := range known {
		if !found[i] && !known[i].Removed {
			d.Removed = append(d.Removed, i)
		}
	}
	return d
}

// knownIndex finds stored units. Files are mostly in the order of the ids, so
// that the unit after the one found last is tried first; the table is made when
// that fails.
type knownIndex struct {
	known []Known
	next  int
	table []int32 // open addressing; index+1, or 0
	mix   uint64  // odd and random: nobody can write strings that share a slot
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

func (d *Delta) sort(p Pair, known *Known, seen *Seen) {
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

// Changed reports whether anything but places differs.
func (d *Delta) Changed() bool {
	return len(d.Added)+len(d.Returned)+len(d.Updated)+len(d.Touched)+len(d.Removed) > 0
}
