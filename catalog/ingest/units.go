package ingest

import (
	"iter"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/poparse"
)

// Units yields the units that a pull makes of a file in a component with these
// settings, each with its entry, in file order; of repeated entries the first.
// The units have no ids. A unit is overwritten when the iteration goes on.
func Units(f *poparse.File, s *catalog.ComponentSettings) iter.Seq2[*poparse.Entry, *catalog.Unit] {
	r := newRules(s, lang.IsCJK(s.SourceLanguage))
	return func(yield func(*poparse.Entry, *catalog.Unit) bool) {
		out := &poFile{units: make([]unit, 0, 1)}
		c := converter{rules: &r, file: out}
		if slices.ContainsFunc(f.Entries, ambiguous) {
			out.index = make(map[catalog.Identity]int32, len(f.Entries))
		}
		for _, e := range f.Entries {
			if e.Obsolete || e.Domain != f.Domain {
				continue
			}
			c.add(e)
			if len(out.units) == 0 {
				continue
			}
			if !yield(e, &out.units[0].Unit) {
				return
			}
			out.units[0] = unit{}
			out.units = out.units[:0]
		}
	}
}
