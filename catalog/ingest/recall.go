package ingest

import (
	"math/bits"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// recall finds what was computed of a string in the file that was read before.
// The translations of a component have the same strings in nearly the same
// order, so that it is looked for where the last one was found, and next to it;
// then in an index. It is what a lexicon is, without a memory of its own: for
// files that are read once. A nil recall finds nothing.
type recall struct {
	units []unit  // of the file before
	cjk   bool    // how their words were counted
	at    int     // where the next string should be
	luck  int     // how many searches may still fail
	index []int32 // of units by fingerprint, plus one; 0 is none
	ready bool    // index is that of units
	cold  int     // how many files in a row had hardly anything in common
}

// The bounds of looking for a string.
const (
	recallReach  = 4  // how far ahead: strings that the next language lacks
	recallLuck   = 16 // failures after which two files have nothing in common,
	recallHit    = 4  // and how many more one success allows
	recallProbes = 8  // of the index: hostile strings may share one
	recallCold   = 3  // files after which no index is made
)

// begin begins a file.
func (r *recall) begin(cjk bool) {
	if r == nil {
		return
	}
	if r.cjk != cjk {
		r.units = nil
	}
	r.at, r.cjk, r.luck = 0, cjk, recallLuck
}

// end makes a file the one before.
func (r *recall) end(f *poFile) {
	if r == nil {
		return
	}
	if r.cold++; r.luck > recallLuck {
		r.cold = 0
	}
	r.units, r.ready = f.units, false
}

// find returns the unit of the file before that has the source and the context
// of an entry, or nil if it is not at hand.
func (r *recall) find(e *poparse.Entry) *unit {
	if r == nil || r.luck == 0 || len(r.units) == 0 {
		return nil
	}
	i := r.near(e)
	if i < 0 && r.cold < recallCold {
		i = r.far(e)
	}
	if i < 0 {
		r.luck--
		return nil
	}
	r.at = i + 1
	r.luck += recallHit
	return &r.units[i]
}

// near looks behind the last string that was found. It returns -1 for none.
func (r *recall) near(e *poparse.Entry) int {
	for i := r.at; i < min(r.at+recallReach, len(r.units)); i++ {
		if sameString(&r.units[i].Unit, e) {
			return i
		}
	}
	return -1
}

// far looks into the index. It returns -1 for none.
func (r *recall) far(e *poparse.Entry) int {
	if !r.ready {
		r.fill()
	}
	mask := uint32(len(r.index) - 1)
	slot := uint32(catalog.Sum(e.ID)) & mask
	for range recallProbes {
		i := int(r.index[slot]) - 1
		if i < 0 || sameString(&r.units[i].Unit, e) {
			return i
		}
		slot = (slot + 1) & mask
	}
	return -1
}

// fill makes the index.
func (r *recall) fill() {
	size := 2 << bits.Len(uint(len(r.units)))
	if size <= cap(r.index) {
		r.index = r.index[:size]
		clear(r.index)
	} else {
		r.index = make([]int32, size)
	}
	mask := uint32(size - 1)
	for i := range r.units {
		id, _, _ := strings.Cut(r.units[i].Source, catalog.FormSeparator)
		slot := uint32(catalog.Sum(id)) & mask
		for range recallProbes {
			if r.index[slot] == 0 {
				r.index[slot] = int32(i + 1)
				break
			}
			slot = (slot + 1) & mask
		}
	}
	r.ready = true
}

// sameString reports whether a unit has the source and the context of an entry.
func sameString(u *catalog.Unit, e *poparse.Entry) bool {
	if !e.HasPlural {
		return u.Source == e.ID && u.Context == e.Context
	}
	return len(u.Source) == len(e.ID)+len(catalog.FormSeparator)+len(e.IDPlural) &&
		strings.HasPrefix(u.Source, e.ID) && strings.HasSuffix(u.Source, e.IDPlural) &&
		u.Source[len(e.ID):len(e.ID)+len(catalog.FormSeparator)] == catalog.FormSeparator && u.Context == e.Context
}
