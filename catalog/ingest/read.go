package ingest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// unit is a unit as read from a file, with the fingerprints that Diff compares.
type unit struct {
	catalog.Unit
	text, meta int64
}

// poFile is one version of a PO file as units.
type poFile struct {
	// units are the live entries in file order; of repeated ones the first.
	units []unit
	// repeated is the number of entries that repeat an earlier one, and the
	// line of the first.
	repeated, repeatedLine int
	// plural is the header's Plural-Forms; hasPlural is false without one.
	plural    poparse.PluralForms
	hasPlural bool
	// outline fingerprints all of the units but their translations.
	outline int64
	// index finds a unit by its identity, once somebody asks.
	index map[catalog.Identity]int32
	// data is the file as it is in the repository.
	data []byte
	// lasting says that sources, contexts, notes and flags do not hold the text
	// of the file in memory.
	lasting bool
}

// rules are the settings of a component that decide how entries are read.
type rules struct {
	cjk      bool     // the source language counts words by character
	readOnly bool     // the component's flags contain read-only
	priority int      // of the component's flags, else 100
	flags    []string // the component's flags
}

// defaultPriority is the priority of a unit without a flag that says otherwise.
const defaultPriority = 100

func newRules(s *catalog.ComponentSettings, cjk bool) rules {
	r := rules{cjk: cjk, priority: defaultPriority}
	for flag := range strings.SplitSeq(s.CheckFlags, ",") {
		if flag = strings.TrimSpace(flag); flag != "" {
			r.flags = append(r.flags, flag)
		}
	}
	r.readOnly = slices.Contains(r.flags, "read-only")
	r.priority = priority(r.flags, defaultPriority)
	return r
}

// convert makes units of the entries that count: obsolete ones do not
// (weblate-facts §3), nor those of another domain than the first (po-semantics).
// The scratch may be nil.
func convert(f *poparse.File, data []byte, r rules, s *scratch) *poFile {
	out, ok := tryConvert(f, data, r, s, false)
	if !ok {
		out, _ = tryConvert(f, data, r, nil, true)
	}
	return out
}

// tryConvert is convert for files of which poparse can tell all strings apart,
// or for any if their identities are indexed. It returns false for others.
func tryConvert(f *poparse.File, data []byte, r rules, s *scratch, indexed bool) (*poFile, bool) {
	var before *recall
	if s != nil && s.lexicon == nil {
		before = &s.recall
	}
	if s != nil && (s.lexicon == nil || len(f.Entries) > lexiconSize) {
		s = nil // its lexicon would forget each string before the next version asks
	}
	out := &poFile{data: data, lasting: s != nil}
	var lex *lexicon
	if s != nil {
		lex = s.lexicon
		out.units = s.rooms.take(len(f.Entries))
	} else {
		out.units = make([]unit, 0, len(f.Entries))
	}
	out.plural, out.hasPlural = f.PluralForms()
	c := converter{rules: &r, lexicon: lex, recall: before, file: out}
	before.begin(r.cjk)
	if lex != nil {
		lex.file, lex.last = lex.file+1, nil
	} else if indexed {
		out.index = make(map[catalog.Identity]int32, len(f.Entries))
	}
	for _, e := range f.Entries {
		if e.Obsolete || e.Domain != f.Domain {
			continue
		}
		if c.add(e); c.odd && !indexed {
			return nil, false
		}
	}
	before.end(out)
	return out, true
}

// converter makes the units of one file.
type converter struct {
	rules    *rules
	lexicon  *lexicon
	recall   *recall // nil, or of the file that the goroutine read before
	file     *poFile
	position int
	odd      bool // there are strings that may be one for the catalog, but not for poparse
	hasher   catalog.Hasher

	last flagged
}

// flagged is what follows from the flags of an entry. Most entries have none, or
// the same as the one before.
type flagged struct {
	list     []string
	text     string // Unit.Flags
	priority int
	sum      int64 // remarks of a unit without a note
}

// add makes a unit of an entry by the rules of weblate-facts §3, unless it
// repeats an earlier one.
func (c *converter) add(e *poparse.Entry) {
	c.position++
	out := c.file
	n := len(out.units)
	out.units = out.units[:n+1] // there is room for all entries, and it is zero
	u := &out.units[n]
	lex := c.identify(u, e)
	if lex == nil && c.lexicon != nil || e.Duplicate || out.index != nil && c.indexed(u.Identity) {
		*u = unit{}
		out.units = out.units[:n]
		if out.repeated++; out.repeated == 1 {
			out.repeatedLine = e.Line
		}
		return
	}
	u.Target = catalog.JoinForms(e.Str)
	if e.Fuzzy && e.Previous != nil {
		u.PreviousSource = previous(e)
	}
	if len(e.Comments)+len(e.Extracted) > 0 {
		u.Note, u.TranslatorBytes = note(e)
	}
	u.Priority = c.rules.priority
	if len(e.Flags) > 0 {
		c.flagged(u, e.Flags)
	}
	u.State = c.rules.state(e)
	u.Position = c.position
	if len(e.References) > 0 {
		u.Location = location(e.References)
	}
	u.text = c.hasher.Text(u.Target, u.State)
	var mark int64
	if lex != nil {
		u.meta, mark = lex.mark(&c.hasher, &u.Unit)
	} else {
		same := c.remarks(u)
		u.meta, mark = metaOf(same, &c.hasher, &u.Unit), u.Identity.Key*31+same
	}
	out.outline = outline(out.outline, mark, &u.Unit)
}

// flagged fills in what follows from the flags.
func (c *converter) flagged(u *unit, list []string) {
	if !slices.Equal(list, c.last.list) {
		c.last = flagged{list: list, text: flags(list), priority: priority(list, c.rules.priority)}
		c.last.sum = remarks(&c.hasher, &catalog.Unit{Flags: c.last.text})
	}
	u.Flags, u.Priority = c.last.text, c.last.priority
}

// remarks is the function, which is not called for units that have only flags.
func (c *converter) remarks(u *unit) int64 {
	if u.Note == "" && u.Flags != "" {
		return c.last.sum
	}
	return remarks(&c.hasher, &u.Unit)
}

// identify fills in what is the same of a string wherever it stands. With a
// lexicon it returns the lexeme, or nil if the file had the string before.
func (c *converter) identify(u *unit, e *poparse.Entry) *lexeme {
	if c.lexicon == nil {
		u.Source = e.ID
		if e.HasContext {
			u.Context = e.Context
		}
		c.odd = c.odd || ambiguous(e)
		if same := c.recall.find(e); same != nil {
			if e.HasPlural {
				u.Source = same.Source // which would be put together again
			}
			u.Identity, u.Words, u.Chars = same.Identity, same.Words, same.Chars
			return nil
		}
		if e.HasPlural {
			u.Source = e.ID + catalog.FormSeparator + e.IDPlural
		}
		u.Identity = c.hasher.Identity(u.Source, u.Context)
		u.Words, u.Chars = catalog.CountText(u.Source, c.rules.cjk)
		return nil
	}
	lex := c.lexicon.look(e, c.rules)
	c.odd = c.odd || lex.odd
	if lex.file == c.lexicon.file {
		return nil
	}
	lex.file = c.lexicon.file
	u.Source, u.Context, u.Identity, u.Words, u.Chars = lex.source, lex.context, lex.identity, lex.words, lex.chars
	return lex
}

// ambiguous reports whether an entry that poparse tells apart from all others
// may have the identity of one of them: an empty msgctxt is none here, and forms
// are joined by what a msgid may hold. Without such entries, Duplicate says all,
// and no index is needed.
func ambiguous(e *poparse.Entry) bool {
	return e.HasContext && e.Context == "" || strings.IndexByte(e.ID, halfSeparator) >= 0 ||
		e.HasPlural && strings.IndexByte(e.IDPlural, halfSeparator) >= 0
}

// indexed reports whether the file has a string already, and else notes that
// it does, from the last unit on.
func (c *converter) indexed(id catalog.Identity) bool {
	if _, ok := c.file.index[id]; ok {
		return true
	}
	c.file.index[id] = int32(len(c.file.units) - 1)
	return false
}

// find returns the index of a unit.
func (f *poFile) find(id catalog.Identity) (int32, bool) {
	if f.index == nil {
		f.index = make(map[catalog.Identity]int32, len(f.units))
		for i := range f.units {
			f.index[f.units[i].Identity] = int32(i)
		}
	}
	i, ok := f.index[id]
	return i, ok
}

// outline adds a unit to the fingerprint of all that the units before it have
// but their translations. The position is not their number: entries that
// repeat an earlier one count, too. mark is that of outlineMark.
func outline(before, mark int64, u *catalog.Unit) int64 {
	return (before*31+mark+catalog.Sum(u.Location))*31 + int64(u.Position)
}

// outlineMark is the part of an outline that is the same in most versions.
func outlineMark(h *catalog.Hasher, u *catalog.Unit) int64 {
	return u.Identity.Key*31 + remarks(h, u)
}

// metaPrint fingerprints the stored fields that make no change entry. Most units
// have none of them.
func metaPrint(h *catalog.Hasher, u *catalog.Unit) int64 {
	return metaOf(remarks(h, u), h, u)
}

// metaOf is metaPrint for a unit whose remarks are known.
func metaOf(remarks int64, h *catalog.Hasher, u *catalog.Unit) int64 {
	if u.PreviousSource == "" && u.Priority == defaultPriority {
		return remarks
	}
	return remarks*31 + h.Meta(u.PreviousSource, strconv.Itoa(u.Priority))
}

// remarks fingerprints a unit's note and flags.
func remarks(h *catalog.Hasher, u *catalog.Unit) int64 {
	if u.Note == "" && u.Flags == "" {
		return 0
	}
	if u.TranslatorBytes > 0 { // where it ends may change and leave the note as it is
		return h.Meta(u.Note, u.Flags) + int64(u.TranslatorBytes)
	}
	return h.Meta(u.Note, u.Flags)
}

// sourceUnit makes the unit of the source-language translation: read-only,
// its target the source (decision 10).
func sourceUnit(u *unit, r rules, h *catalog.Hasher) unit {
	s := *u
	s.Target, s.PreviousSource, s.State = s.Source, "", catalog.StateReadOnly
	s.text = h.Text("", s.State) // target and source are one: it never changes
	s.meta = metaPrint(h, &s.Unit)
	return s
}

// state is that of weblate-facts §3, with po-semantics deciding that an entry
// whose first form is empty is untranslated whatever its flags say.
func (r *rules) state(e *poparse.Entry) catalog.State {
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

func previous(e *poparse.Entry) string {
	if e.Previous.IDPlural != "" {
		return e.Previous.ID + catalog.FormSeparator + e.Previous.IDPlural
	}
	return e.Previous.ID
}

// note joins translator comments and extracted comments, in this order. remark
// is how many of its bytes are of the former.
func note(e *poparse.Entry) (text string, remark int) {
	switch {
	case len(e.Comments)+len(e.Extracted) == 0:
		return "", 0
	case len(e.Comments) == 0:
		return joinLines(e.Extracted), 0
	case len(e.Extracted) == 0:
		text = joinLines(e.Comments)
	default:
		text = strings.TrimRight(strings.Join(e.Comments, "\n")+"\n"+strings.Join(e.Extracted, "\n"), "\n")
	}
	remark = len(e.Comments) - 1
	for _, line := range e.Comments {
		remark += len(line)
	}
	remark = min(remark, len(text))
	if strings.TrimSpace(text[:remark]) == "" {
		remark = 0
	}
	return text, remark
}

func joinLines(lines []string) string {
	if len(lines) == 1 {
		return lines[0]
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
