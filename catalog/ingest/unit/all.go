package unit

import (
	"iter"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// All yields the units that a pull makes of a file, each with its entry, in file
// order; of repeated entries the first. A unit is overwritten when the iteration
// goes on.
func All(f *poparse.File, rules Rules) iter.Seq2[*poparse.Entry, *catalog.Unit] {
	return func(yield func(*poparse.Entry, *catalog.Unit) bool) {
		out := &File{Units: make([]Unit, 0, 1)}
		c := converter{rules: &rules, file: out}
		if slices.ContainsFunc(f.Entries, ambiguous) {
			out.index = make(map[catalog.Identity]int32, len(f.Entries))
		}
		for _, e := range f.Entries {
			if !counts(f, e) {
				continue
			}
			c.add(e)
			if len(out.Units) == 0 {
				continue
			}
			if !yield(e, &out.Units[0].Unit) {
				return
			}
			out.Units[0] = Unit{}
			out.Units = out.Units[:0]
		}
	}
}
