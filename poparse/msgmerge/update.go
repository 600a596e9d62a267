package msgmerge

import (
	"slices"

	"github.com/repoglot/repoglot/poparse"
)

// update takes the source of an entry of the template with its comments, references and
// flags, and the text of an entry of the file with its translator comments.
func (m *merger) update(def, ref *poparse.Entry, fuzzy bool) *poparse.Entry {
	e := &poparse.Entry{
		Context: ref.Context, HasContext: ref.HasContext, ID: ref.ID, IDPlural: ref.IDPlural, HasPlural: ref.HasPlural,
		Obsolete: ref.Obsolete, Extracted: ref.Extracted, References: references(ref), Flags: flags(ref.Flags), Str: def.Str,
	}
	e.Comments, _ = positions(def.Comments)
	e.Fuzzy = def.Fuzzy || fuzzy || ref.HasPlural != def.HasPlural || ref.IDPlural != def.IDPlural || m.misfits(e, def)
	if m.Previous {
		e.Previous = previous(def)
	}
	switch {
	case ref.HasPlural && !def.HasPlural:
		e.Str = slices.Repeat(form(def.Str), m.forms)
	case def.HasPlural && !ref.HasPlural:
		e.Str = form(def.Str)
	}
	if !e.Fuzzy || !translated(e) {
		e.Previous = nil
	}
	return e
}

// form returns the first form of a text.
func form(str []string) []string {
	if len(str) == 0 {
		return []string{""}
	}
	return str[:1]
}

// previous is the source that a text was made for.
func previous(def *poparse.Entry) *poparse.Previous {
	if def.Fuzzy {
		return def.Previous
	}
	return &poparse.Previous{Context: def.Context, ID: def.ID, IDPlural: def.IDPlural}
}

// misfits reports whether the template claims more than the text was checked for: a
// format, or a range of numbers.
func (m *merger) misfits(e, def *poparse.Entry) bool {
	was := flags(def.Flags)
	for _, flag := range e.Flags {
		if isFormat(flag) && !slices.Contains(was, flag) && m.Fits != nil && !m.Fits(e, flag) {
			return true
		}
	}
	least, most, ok := numbers(was)
	if !ok {
		return false
	}
	from, to, ok := numbers(e.Flags)
	return !ok || from < least || to > most
}
