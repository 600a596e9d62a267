package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Values of components.counted.
const (
	notCounted     = 0
	countedPublic  = 1
	countedPrivate = 2
)

// ranks are the states of units, the one that is furthest last.
var ranks = [...]catalog.State{catalog.StateEmpty, catalog.StateFuzzy, catalog.StateTranslated, catalog.StateApproved, catalog.StateReadOnly}

// rankOf returns the index of the last of ranks that a state has reached.
func rankOf(state catalog.State) int {
	i := len(ranks) - 1
	for i > 0 && state < ranks[i] {
		i--
	}
	return i
}

// sharedString says how often a string that components of a project share occurs,
// by language.
type sharedString []sharedEntry // by key

// sharedEntry counts the units of a shared string in one language.
type sharedEntry struct {
	sharedKey
	n [2][len(ranks)]int64 // in public and private components, by state
}

// sharedKey separates the units of a string of which one counts. Words and
// characters follow from the source, except that source languages without spaces
// count words differently; these strings do not count as the same.
type sharedKey struct {
	language     string
	words, chars int64
}

func (k sharedKey) compare(o sharedKey) int {
	return cmp.Or(cmp.Compare(k.language, o.language), cmp.Compare(k.words, o.words), cmp.Compare(k.chars, o.chars))
}

// sharedUnits is a number of units of one string that appear or go.
type sharedUnits struct {
	identity catalog.Identity
	sharedKey
	private bool
	state   catalog.State
	n       int64 // negative: they go
}

// add counts units and returns the entry that it changed.
func (l *sharedString) add(u *sharedUnits) *sharedEntry {
	i, ok := slices.BinarySearchFunc(*l, u.sharedKey, func(e sharedEntry, k sharedKey) int { return e.compare(k) })
	if !ok {
		*l = slices.Insert(*l, i, sharedEntry{sharedKey: u.sharedKey})
	}
	e := &(*l)[i]
	e.n[sqldb.Smallint(u.private)][rankOf(u.state)] += u.n
	return e
}

// repeats returns the statistics of all units of an entry except one in the state
// that is furthest; of public components only, or of private ones, too.
func (e *sharedEntry) repeats(private bool) (all catalog.Stats) {
	best := false
	for i := len(ranks) - 1; i >= 0; i-- {
		n := e.n[0][i]
		if private {
			n += e.n[1][i]
		}
		if n > 0 && !best {
			best = true
			n--
		}
		all.AddUnits(catalog.Count{Units: n, Words: n * e.words, Chars: n * e.chars}, ranks[i])
	}
	return all
}

// encode returns the stored form, nil without units: of each entry that has units its key, a mask of
// the counts that are not 0, and these.
func (l sharedString) encode() (data []byte) {
	for i := range l {
		e := &l[i]
		mask := e.mask()
		if mask == 0 {
			continue
		}
		if data == nil {
			data = []byte{blobVersion}
		}
		data = binary.AppendUvarint(data, uint64(len(e.language)))
		data = append(data, e.language...)
		for _, n := range []int64{e.words, e.chars, int64(mask)} {
			data = binary.AppendUvarint(data, uint64(n))
		}
		for j := range e.counts() {
			if mask&(1<<j) != 0 {
				data = binary.AppendUvarint(data, uint64(*e.count(j)))
			}
		}
	}
	return data
}

// counts is the number of counts of an entry.
func (e *sharedEntry) counts() int { return len(e.n) * len(ranks) }

func (e *sharedEntry) count(i int) *int64 { return &e.n[i/len(ranks)][i%len(ranks)] }

func (e *sharedEntry) mask() (mask uint64) {
	for i := range e.counts() {
		if *e.count(i) != 0 {
			mask |= 1 << i
		}
	}
	return mask
}

var errSharedString = errors.New("the counts of a shared string are damaged: restore a backup, or move the database away and import anew")

func decodeSharedString(data []byte) (l sharedString, err error) {
	number := func() (n uint64) {
		n, size := binary.Uvarint(data)
		if size <= 0 {
			err = errSharedString
			return 0
		}
		data = data[size:]
		return n
	}
	data, err = unversioned(data, errSharedString)
	for err == nil && len(data) > 0 {
		var e sharedEntry
		if n := number(); n <= uint64(len(data)) {
			e.language, data = string(data[:n]), data[n:]
		} else {
			return nil, errSharedString
		}
		e.words, e.chars = int64(number()), int64(number())
		mask := number()
		for i := range e.counts() {
			if mask&(1<<i) != 0 {
				*e.count(i) = int64(number())
			}
		}
		l = append(l, e)
	}
	return l, err
}
