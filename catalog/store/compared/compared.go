package compared

import (
	"cmp"
	"iter"

	"github.com/repoglot/repoglot/catalog"
)

// Scope is a set of translations whose units are compared with each other, by the
// checks inconsistent and reused.
type Scope struct {
	// ID is its number, never 0.
	ID int64
	// PluralNumber is the number of plural forms of its translations.
	PluralNumber int
	// Sole is the only translation that the scope ever had, or 0. The units of a
	// sole translation are not grouped by source.
	Sole int64
}

// Member is a unit in a group of its scope: the units with its source and
// context, or the units with its target.
type Member struct {
	// Key is a hash of what the members of the group have in common. It is odd if
	// that is the target.
	Key int64
	// Value is a hash of what members may differ in: of the target, or of the
	// source. It is negative for units that are not translated.
	Value int64
	// Unit is the member.
	Unit int64
}

// SameTarget reports whether the members of the group have the target in common.
func (c *Member) SameTarget() bool { return c.Key&1 != 0 }

// Compare orders members by group, value and unit, as they are stored.
func (c *Member) Compare(o *Member) int {
	switch {
	case c.Key != o.Key:
		return cmp.Compare(c.Key, o.Key)
	case c.Value != o.Value:
		return cmp.Compare(c.Value, o.Value)
	}
	return cmp.Compare(c.Unit, o.Unit)
}

// ValueRange has the smallest and the largest of some values.
type ValueRange struct {
	Some     bool // there are values
	Min, Max int64
}

// Add adds a value.
func (r *ValueRange) Add(v int64) {
	if !r.Some {
		*r = ValueRange{true, v, v}
		return
	}
	r.Min, r.Max = min(r.Min, v), max(r.Max, v)
}

// Only reports whether a range has no value but one.
func (r ValueRange) Only(value int64) bool { return !r.Some || r.Min == value && r.Max == value }

// GroupValues has the values of a group's members.
type GroupValues struct{ Translated, Untranslated ValueRange }

// Add adds the value of a member.
func (g *GroupValues) Add(v int64) {
	if v < 0 {
		g.Untranslated.Add(v)
	} else {
		g.Translated.Add(v)
	}
}

// Members returns a unit as a member of the groups of its scope that it is in: of the one of
// its source, if the scope has such groups, and of the one of its target.
func (s *Scope) Members(h *catalog.Hasher, u *catalog.Unit) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		c := BySource(h, u)
		if (s.Sole != 0 || yield(c)) && s.GroupsByTarget(u) {
			yield(c.ByTarget(Meaning(h, u.Source)))
		}
	}
}

// BySource returns a unit as a member of the group of its source.
func BySource(h *catalog.Hasher, u *catalog.Unit) Member {
	value := int64(uint64(h.Target(u.Target)) >> 1)
	if !u.State.Translated() {
		value = ^value
	}
	return Member{Key: u.Identity.Key &^ 1, Value: value, Unit: u.ID}
}

// GroupsByTarget reports whether a unit is in a group of its target. Else reused
// cannot fail: msgmerge fills fuzzy strings with other strings' texts, so they do not
// count.
func (s *Scope) GroupsByTarget(u *catalog.Unit) bool {
	return s.PluralNumber >= 2 && u.State.Translated() && !catalog.EmptyForms(u.Target)
}

// Meaning returns the value, in groups by target, of units with a source.
func Meaning(h *catalog.Hasher, source string) int64 { return int64(uint64(h.Meta(source)) >> 1) }

// ByTarget returns the member of the group by target of a translated unit, given the
// one of the group by source and the Meaning of the source.
func (c Member) ByTarget(meaning int64) Member {
	return Member{Key: c.Value<<1 | 1, Value: meaning, Unit: c.Unit}
}
