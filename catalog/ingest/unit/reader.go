package unit

import (
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// A Reader reads many files, one after the other, in the same memory. It belongs to one
// goroutine. The zero value is for files that are read once each; NewReader is for
// versions of files, and keeps what it computed for strings from one to the next. A nil
// Reader reads each file alone.
type Reader struct {
	parser  poparse.Reader
	strings *stringCache
	pool    *Pool
	start   partStart // of the next file, which is a part of one
}

// NewReader makes a Reader for thousands of versions of the same files. The
// units of its files come from the pool.
func NewReader(pool *Pool) *Reader { return &Reader{strings: newStringCache(), pool: pool} }

// Read makes units of a PO file. name is used in errors. data must not be changed as
// long as the File is in use, or the Reader. The error is a *poparse.SyntaxError.
func (r *Reader) Read(name string, data []byte, rules Rules) (*File, error) {
	parse := poparse.Parse
	if r != nil {
		parse = r.parser.Parse
	}
	f, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	return r.convert(f, data, rules), nil
}

// A Pool takes the memory of units back from the goroutine that used them and
// gives it to Readers: it would be half of what a replay allocates. It is safe
// for concurrent use.
type Pool struct{ free chan []Unit }

// The bounds of the memory in a Pool.
const (
	maxPooled      = 12
	maxPooledUnits = 8_000 // of each: 2 MB
)

// NewPool makes an empty Pool.
func NewPool() *Pool { return &Pool{free: make(chan []Unit, maxPooled)} }

// get returns an empty slice with room for n units.
func (p *Pool) get(n int) []Unit {
	select {
	case units := <-p.free:
		if cap(units) >= n {
			return units
		}
	default:
	}
	return make([]Unit, 0, n+n/8)
}

// Put takes the units of a file, which must not be used any more. f may be nil.
func (p *Pool) Put(f *File) {
	if f == nil || cap(f.Units) == 0 || cap(f.Units) > maxPooledUnits {
		return
	}
	clear(f.Units) // their strings would keep the file's text
	select {
	case p.free <- f.Units[:0]:
	default:
	}
	f.Units, f.index = nil, nil
}

// Rules are the settings of a component that decide how entries are read. The
// zero value is not usable; see NewRules.
type Rules struct {
	cjk      bool // the source language counts words by character
	readOnly bool // the component's flags contain read-only
	priority int  // of the component's flags, else 100
}

// defaultPriority is the priority of a unit that no flag gives another one.
const defaultPriority = 100

// NewRules makes the rules of a component from its check flags, which are
// separated by commas, and from how its source language counts words
// (lang.IsCJK).
func NewRules(checkFlags string, cjk bool) Rules {
	var list []string
	for flag := range strings.SplitSeq(checkFlags, ",") {
		if flag = strings.TrimSpace(flag); flag != "" {
			list = append(list, flag)
		}
	}
	return Rules{cjk: cjk, readOnly: slices.Contains(list, "read-only"), priority: priority(list, defaultPriority)}
}

// state returns the state of an entry. One whose first form is empty is
// untranslated, whatever its flags say (docs/po.md#states).
func (r *Rules) state(e *poparse.Entry) catalog.State {
	switch {
	case r.readOnly || slices.Contains(e.Flags, "read-only"):
		return catalog.StateReadOnly
	case len(e.Str) == 0 || e.Str[0] == "":
		return catalog.StateEmpty
	case e.Fuzzy:
		return catalog.StateFuzzy
	default:
		return catalog.StateTranslated
	}
}
