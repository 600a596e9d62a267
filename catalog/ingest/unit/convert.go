package unit

import (
	"iter"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// counts reports whether an entry becomes a unit: obsolete entries do not, nor
// entries of another domain than the file's first (docs/po.md#domains).
func counts(f *poparse.File, e *poparse.Entry) bool { return !e.Obsolete && e.Domain == f.Domain }

// convert makes units of the entries that count, of files whose strings poparse can all
// tell apart, and of all files if their identities are indexed. It returns false for
// others. start is what the entries follow.
func convert(f *poparse.File, data []byte, rules Rules, start partStart, indexed bool) (*File, bool) {
	out := &File{Data: data, Units: make([]Unit, 0, len(f.Entries)), Outline: start.outline}
	c := converter{rules: &rules, file: out, position: start.position}
	if indexed {
		out.index = make(map[catalog.Identity]int32, len(f.Entries))
	}
	out.Plural, out.HasPlural = f.PluralForms()
	directives := false
	for _, e := range f.Entries {
		out.items += len(e.Comments) + len(e.Extracted) + len(e.References) + len(e.Flags)
		directives = directives || e.Domain != ""
		if !counts(f, e) {
			continue
		}
		if c.add(e); c.ambiguous && !indexed {
			return nil, false
		}
	}
	out.Plain = !directives && !c.ambiguous && plain(f, out)
	return out, true
}

type converter struct {
	rules     *Rules
	file      *File
	position  int
	ambiguous bool // one of the entries is; see the function
	hasher    catalog.Hasher

	flags flagValues // of the last entry with flags
	empty int64      // the hash of an empty text, 0 if none was made
}

// flagValues is what follows from the flags of an entry. Most entries have none,
// or the same as the one before.
type flagValues struct {
	list     []string
	text     string // Unit.Flags
	priority int
	hash     int64 // noteAndFlags of a unit without a note
}

// add makes a unit of an entry, unless it repeats an earlier one.
func (c *converter) add(e *poparse.Entry) {
	c.position++
	out := c.file
	n := len(out.Units)
	out.Units = out.Units[:n+1] // it has room for all entries, and is zero
	u := &out.Units[n]
	c.identify(u, e)
	if e.Duplicate || out.index != nil && c.indexed(u.Identity) {
		*u = Unit{}
		out.Units = out.Units[:n]
		if out.Repeated++; out.Repeated == 1 {
			out.RepeatedLine = e.Line
		}
		return
	}
	u.Target = catalog.JoinForms(e.Str)
	// While no entry is ambiguous, no msgid has half of a separator.
	u.Single = !e.HasPlural && (!c.ambiguous || !catalog.HasForms(u.Source)) && !catalog.HasForms(u.Target)
	if e.Fuzzy && e.Previous != nil {
		if u.PreviousSource = e.Previous.ID; e.Previous.IDPlural != "" {
			u.PreviousSource += catalog.FormSeparator + e.Previous.IDPlural
		}
	}
	if len(e.Comments)+len(e.Extracted) > 0 {
		u.Note, u.TranslatorBytes = note(e)
	}
	u.Priority = c.rules.priority
	if len(e.Flags) > 0 {
		c.setFlags(u, e.Flags)
	}
	u.State = c.rules.state(e)
	u.Position = c.position
	if len(e.References) > 0 {
		u.Location = location(e.References)
	}
	c.fingerprint(u)
}

func (c *converter) setFlags(u *Unit, list []string) {
	if !slices.Equal(list, c.flags.list) {
		c.flags = flagValues{list: list, text: flags(list), priority: priority(list, c.rules.priority)}
		c.flags.hash = noteAndFlags(&catalog.Unit{Flags: c.flags.text}, &c.hasher)
	}
	u.Flags, u.Priority = c.flags.text, c.flags.priority
}

// fingerprint computes the fingerprints of a unit, and adds it to the file's outline.
func (c *converter) fingerprint(u *Unit) {
	same := c.flags.hash
	if u.Note != "" || u.Flags == "" {
		same = noteAndFlags(&u.Unit, &c.hasher)
	}
	u.Text, u.Meta = c.textHash(&u.Unit), meta(&u.Unit, same, &c.hasher)
	c.file.Outline = outline(c.file.Outline, u.Identity.Key*31+same, &u.Unit)
}

// textHash is the function textHash, and computes that of an untranslated unit once for a file.
func (c *converter) textHash(u *catalog.Unit) int64 {
	if u.Target != "" || u.State != catalog.StateEmpty {
		return textHash(u, &c.hasher)
	}
	if c.empty == 0 {
		c.empty = textHash(u, &c.hasher)
	}
	return c.empty
}

// identify sets the fields that are the same for a string in all files.
func (c *converter) identify(u *Unit, e *poparse.Entry) {
	u.Source, u.Context = e.ID, e.Context
	if e.HasPlural {
		u.Source = e.ID + catalog.FormSeparator + e.IDPlural
	}
	c.ambiguous = c.ambiguous || ambiguous(e)
	u.Identity = c.hasher.Identity(u.Source, u.Context)
	u.Words, u.Chars = catalog.CountText(u.Source, c.rules.cjk)
}

// halfSeparator is half of catalog.FormSeparator: only a form that holds it may
// be taken for two.
const halfSeparator = '\x1e'

// ambiguous reports whether an entry that poparse tells apart from all others
// may have the identity of one of them: an empty msgctxt is the same as none
// here, and forms are joined by what a msgid may hold. In files without such
// entries, Entry.Duplicate is enough and no index is needed.
func ambiguous(e *poparse.Entry) bool {
	return e.HasContext && e.Context == "" || strings.IndexByte(e.ID, halfSeparator) >= 0 ||
		e.HasPlural && strings.IndexByte(e.IDPlural, halfSeparator) >= 0
}

// indexed reports whether the file has a string already. If not, it adds the
// last unit to the index.
func (c *converter) indexed(id catalog.Identity) bool {
	if _, ok := c.file.index[id]; ok {
		return true
	}
	c.file.index[id] = int32(len(c.file.Units) - 1)
	return false
}

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
