package unit

import (
	"math/bits"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// previousFile finds what was computed for a string in the file that was read
// before. The translations of a component have the same strings in nearly the
// same order: a string is looked for next to where the last one was found, then
// in an index. It does the work of a stringCache for files that are read once,
// without a memory of its own. A nil previousFile finds nothing.
type previousFile struct {
	units   []Unit
	cjk     bool    // how their words were counted
	next    int     // where the next string should be
	budget  int     // how many searches may still fail
	index   []int32 // indices of units plus one, by hash of the msgid; 0 for an empty slot
	indexed bool    // index is the index of units
	foreign int     // how many files in a row had hardly anything in common
}

// The bounds of looking for a string.
const (
	lookAhead   = 4  // strings that the next language may lack
	firstBudget = 16 // failures after which two files have nothing in common,
	hitBudget   = 4  // and how many more one success allows
	maxProbes   = 8  // of the index: hostile strings may share a slot
	maxForeign  = 3  // files after which no index is made
)

func (p *previousFile) begin(cjk bool) {
	if p == nil {
		return
	}
	if p.cjk != cjk {
		p.units = nil
	}
	p.next, p.cjk, p.budget = 0, cjk, firstBudget
}

// end makes f the previous file.
func (p *previousFile) end(f *File) {
	if p == nil {
		return
	}
	if p.foreign++; p.budget > firstBudget {
		p.foreign = 0
	}
	p.units, p.indexed = f.Units, false
}

// find returns the unit with the source and the context of an entry, or nil if
// it does not find it.
func (p *previousFile) find(e *poparse.Entry) *Unit {
	if p == nil || p.budget == 0 || len(p.units) == 0 {
		return nil
	}
	i := p.near(e)
	if i < 0 && p.foreign < maxForeign {
		i = p.far(e)
	}
	if i < 0 {
		p.budget--
		return nil
	}
	p.next = i + 1
	p.budget += hitBudget
	return &p.units[i]
}

// near looks next to the last string that was found. It returns -1 if it finds
// none.
func (p *previousFile) near(e *poparse.Entry) int {
	for i := p.next; i < min(p.next+lookAhead, len(p.units)); i++ {
		if sameString(&p.units[i].Unit, e) {
			return i
		}
	}
	return -1
}

// far looks in the index. It returns -1 if it finds none.
func (p *previousFile) far(e *poparse.Entry) int {
	if !p.indexed {
		p.fill()
	}
	mask := uint32(len(p.index) - 1)
	slot := uint32(catalog.Sum(e.ID)) & mask
	for range maxProbes {
		i := int(p.index[slot]) - 1
		if i < 0 || sameString(&p.units[i].Unit, e) {
			return i
		}
		slot = (slot + 1) & mask
	}
	return -1
}

func (p *previousFile) fill() {
	size := 2 << bits.Len(uint(len(p.units)))
	if size <= cap(p.index) {
		p.index = p.index[:size]
		clear(p.index)
	} else {
		p.index = make([]int32, size)
	}
	mask := uint32(size - 1)
	for i := range p.units {
		id, _, _ := strings.Cut(p.units[i].Source, catalog.FormSeparator)
		slot := uint32(catalog.Sum(id)) & mask
		for range maxProbes {
			if p.index[slot] == 0 {
				p.index[slot] = int32(i + 1)
				break
			}
			slot = (slot + 1) & mask
		}
	}
	p.indexed = true
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
