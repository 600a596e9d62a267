// Package msgmerge updates a PO file to a template as GNU msgmerge 0.21 does.
//
// Goals: the bytes that msgmerge writes, with the options that Weblate's add-on has;
// with fuzzy matching, the similar text that msgmerge takes; cost bounded by a number of
// comparisons.
//
// Non-goals: compendia, several domains in one file, properties and strings files, and
// the checks of formats, which the caller has (see Options.Fits).
//
// The result is a [poparse.File] made by hand, which poparse writes in msgcat's form. A
// test compares all pairs of files and templates of the recorded repositories with
// msgmerge's output.
//
// See https://www.gnu.org/software/gettext/manual/html_node/msgmerge-Invocation.html
package msgmerge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/poparse"
)

// ErrRefused marks files that msgmerge refuses, too, and files with several domains.
var ErrRefused = errors.New("cannot be merged")

// Options are msgmerge's; the zero value merges as msgmerge does without options.
type Options struct {
	// Previous keeps the sources that fuzzy texts were made for ("#|").
	Previous bool
	// NoFuzzyMatching offers no texts of similar strings for new ones.
	NoFuzzyMatching bool
	// NoLocation leaves out the references.
	NoLocation bool
	// NoWrap breaks strings after line feeds only.
	NoWrap bool
	// Comparisons bounds fuzzy matching: each new string counts one for each 64 bytes of it
	// times each 64 bytes of a source with a translation. When they are used up, the rest is
	// merged as with NoFuzzyMatching. 0 is DefaultComparisons.
	Comparisons int
	// CountOnly leaves the new strings out of Result.File, and finds no similar ones for them.
	CountOnly bool
	// Fits reports whether the texts of an entry fit its source in one format, such as
	// "c-format", as msgfmt -c wants it: texts that do not fit a format that is new in the
	// template become fuzzy. Nil: all fit.
	Fits func(e *poparse.Entry, format string) bool
}

// DefaultComparisons is the bound of comparisons of a file: some seconds.
const DefaultComparisons = 50_000_000

// Result is a merged file, and what became of its strings.
type Result struct {
	// File is to be written with WriteTo.
	File *poparse.File
	// Added are the entries of the template that the file did not have, without Reworded.
	Added []*poparse.Entry
	// Reworded are those that got the text of a similar string, as fuzzy.
	Reworded []*poparse.Entry
	// Gone are the live entries of the file that the template does not have.
	Gone []*poparse.Entry
	// Taken is the number of Gone whose texts Reworded have.
	Taken int
	// Fuzzied are the entries of the file that became fuzzy, by new plurals or formats.
	Fuzzied []*poparse.Entry
	// Stopped says that Options.Comparisons were used up.
	Stopped bool
}

// key identifies a string.
type key struct {
	context    string
	hasContext bool
	id         string
}

func keyOf(e *poparse.Entry) key { return key{e.Context, e.HasContext, e.ID} }

// merger merges one file.
type merger struct {
	Options
	file  *poparse.File
	list  []*poparse.Entry // of the file, its header among them
	byKey map[key]int
	// exact tells of entries of the list that the template has them, similarTo that the
	// template has a similar string, which took their text.
	exact, similarTo []bool
	forms            int // plural forms of the file
	similar          *similar
	looks            bool // similar looks among the list
	result           Result
}

// Template is what files are updated to, with what was found for those before: they lack
// the same strings. It is not safe for concurrent use.
type Template struct {
	file    *poparse.File
	similar similar
}

// NewTemplate returns the error ErrRefused if msgmerge refuses the template.
func NewTemplate(f *poparse.File) (*Template, error) { return &Template{file: f}, check(f) }

// Merge updates a file to a template. Neither is changed; the result shares strings with
// them. The error is ErrRefused if msgmerge refuses one of them.
func Merge(file, template *poparse.File, o Options) (*Result, error) {
	t, err := NewTemplate(template)
	if err != nil {
		return nil, err
	}
	return t.Merge(file, o)
}

// Merge is the function Merge; the result does not depend on files before.
func (t *Template) Merge(file *poparse.File, o Options) (*Result, error) {
	if err := check(file); err != nil {
		return nil, err
	}
	if o.Comparisons == 0 {
		o.Comparisons = DefaultComparisons
	}
	m := &merger{Options: o, file: file, forms: germanic, similar: &t.similar}
	m.list = entries(file)
	m.byKey = make(map[key]int, len(m.list))
	for i, e := range m.list {
		m.byKey[keyOf(e)] = i
	}
	m.exact, m.similarTo = make([]bool, len(m.list)), make([]bool, len(m.list))
	if p, ok := file.PluralForms(); ok {
		m.forms = p.Number
	}
	m.merge(t.file)
	return &m.result, nil
}

// germanic is the number of plural forms of a file that does not say it.
const germanic = 2

// check refuses several domains, strings that are there twice, also as an obsolete entry, those
// with U+0004, and what only a guess can read.
func check(f *poparse.File) error {
	if f.Domain != "" || len(f.OtherHeaders) > 0 {
		return fmt.Errorf("%s: %w: it has several domains or headers: keep one", f.Name, ErrRefused)
	}
	for _, w := range f.Warnings {
		if w.Code == poparse.WarnCharset || w.Code == poparse.WarnNUL || w.Code == poparse.WarnPluralIndex {
			return fmt.Errorf("%s:%d:%d: %w: %s", f.Name, w.Line, w.Column, ErrRefused, w.Msg)
		}
	}
	seen := make(map[key]int, len(f.Entries))
	for _, e := range f.Entries {
		if e.Domain != f.Domain {
			return fmt.Errorf("%s:%d: %w: it has several domains: keep one", f.Name, e.Line, ErrRefused)
		}
		if first, ok := seen[keyOf(e)]; ok {
			return fmt.Errorf("%s:%d: %w: the string of line %d is here again: remove one", f.Name, e.KeywordLine, ErrRefused, first)
		}
		seen[keyOf(e)] = e.KeywordLine
		if hasEOT(e.Context) || hasEOT(e.ID) || hasEOT(e.IDPlural) || slices.ContainsFunc(e.Str, hasEOT) {
			return fmt.Errorf("%s:%d: %w: U+0004 is in a string, which ends contexts in catalogs: take it out", f.Name, e.KeywordLine, ErrRefused)
		}
	}
	return nil
}

// hasEOT reports whether a string has the character that ends contexts in catalogs.
func hasEOT(s string) bool { return strings.IndexByte(s, 4) >= 0 }

// entries are the entries of a file with its header.
func entries(f *poparse.File) []*poparse.Entry {
	if f.Header == nil {
		return f.Entries
	}
	return append([]*poparse.Entry{f.Header}, f.Entries...)
}

// merge makes the result.
func (m *merger) merge(template *poparse.File) {
	var live, obsolete []*poparse.Entry
	put := func(e *poparse.Entry) {
		if m.NoLocation {
			e.References = nil
		}
		if e.Obsolete {
			obsolete = append(obsolete, e)
		} else {
			live = append(live, e)
		}
	}
	out := &poparse.File{Name: m.file.Name, NoWrap: m.NoWrap}
	if m.file.Header != nil {
		out.Header = m.header(m.file.Header, template.Header)
		m.exact[0] = true
	}
	for _, ref := range template.Entries {
		if e := m.entry(ref); e != nil {
			put(e)
		}
	}
	for i, e := range m.list {
		if !m.exact[i] && !e.Obsolete {
			m.result.Gone = append(m.result.Gone, e)
			if m.similarTo[i] {
				m.result.Taken++
			}
		}
		if !m.exact[i] && !m.similarTo[i] {
			put(gone(e))
		}
	}
	for _, e := range obsolete {
		if translated(e) {
			e.Flags = slices.DeleteFunc(slices.Clone(e.Flags), func(flag string) bool { return strings.HasPrefix(flag, rangeMark) })
			live = append(live, e)
		}
	}
	for _, e := range live {
		e.Fuzzy = e.Fuzzy && translated(e)
	}
	out.Entries = live
	m.result.File = out
}

// entry merges an entry of the template with what the file has for it.
func (m *merger) entry(ref *poparse.Entry) *poparse.Entry {
	if i, ok := m.byKey[keyOf(ref)]; ok {
		m.exact[i] = true
		e := m.update(m.list[i], ref, false)
		if e.Fuzzy && !m.list[i].Fuzzy && translated(e) {
			m.result.Fuzzied = append(m.result.Fuzzied, m.list[i])
		}
		return e
	}
	if i := m.mostSimilar(ref); i >= 0 {
		m.similarTo[i] = true
		m.result.Reworded = append(m.result.Reworded, ref)
		return m.update(m.list[i], ref, true)
	}
	if m.result.Added = append(m.result.Added, ref); m.CountOnly {
		return nil
	}
	e := New(ref, nil)
	if e.HasPlural && strings.Join(e.Str, "") == "" {
		e.Str = make([]string, m.forms)
	}
	return e
}

// New is an entry of a template as a file gets it that does not have it, or has it as an
// obsolete one: that gives the translator's comments.
func New(ref, obsolete *poparse.Entry) *poparse.Entry {
	e := *ref
	e.KeywordLine, e.Flags, e.References = 0, flags(ref.Flags), references(ref)
	if obsolete == nil {
		obsolete = ref
	}
	e.Comments, _ = positions(obsolete.Comments)
	return &e
}

// mostSimilar returns the entry of the file whose source is the most similar, -1 if none is
// similar enough.
func (m *merger) mostSimilar(ref *poparse.Entry) int {
	if m.NoFuzzyMatching || m.CountOnly || m.result.Stopped {
		return -1
	}
	if !m.looks {
		m.looks = true
		m.similar.of(m.list)
	}
	m.Comparisons -= blocks(ref.ID) * m.similar.cost
	if m.result.Stopped = m.Comparisons < 0; m.result.Stopped {
		return -1
	}
	return m.similar.search(ref)
}

// gone makes an entry obsolete that the template does not have.
func gone(e *poparse.Entry) *poparse.Entry {
	o := *e
	o.KeywordLine, o.Obsolete = 0, true
	o.Extracted, o.References, o.Flags = nil, nil, flags(e.Flags)
	o.Comments, _ = positions(e.Comments)
	return &o
}

// translated reports whether gettext takes an entry for translated: its first form has
// a text.
func translated(e *poparse.Entry) bool { return len(e.Str) > 0 && e.Str[0] != "" }

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
		claims := strings.HasSuffix(flag, formatMark) && !strings.HasPrefix(flag, "no-")
		if claims && !slices.Contains(was, flag) && m.Fits != nil && !m.Fits(e, flag) {
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
