package edit

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/plural"
)

// Options say how edits are written. The zero value keeps the repository's text in a
// conflict and the header as it is, and writes whatever is valid PO.
type Options struct {
	// Overrule is on_conflict: edit.
	Overrule bool
	// Gate is commit_gate: errors. It holds back what msgfmt -c would refuse.
	Gate bool
	// Revision is po_header: revision. It is the time for PO-Revision-Date; with the
	// zero time that field and Last-Translator stay as they are.
	Revision time.Time
	// Forms is the number of plural forms of a file whose header does not say it.
	Forms int
	// Template has the strings that are added to the file, if their base is not in it; nil
	// without a template.
	Template *poparse.File `json:"-"`
	// NoLocation leaves out the references of these strings, as msgmerge --no-location does.
	NoLocation bool
}

// Result is what became of one edit.
type Result struct {
	Outcome Outcome
	// Theirs is the repository's text before; zero with Gone.
	Theirs Text
	// Reason says why, for Held and Unwritable; else "".
	Reason string
}

// Apply writes edits into a file. It returns the new bytes, and a result for each edit,
// in their order. If no edit is Applied or Overruled, the bytes are the old ones.
//
// A string that the file lacks, and Options.Template has, is added if that is the base.
//
// Of several entries of one string the first counts, as for a catalog
// (docs/po.md#duplicates). It is an error if the file cannot be read; then it stays,
// and so do the edits.
func Apply(name string, data []byte, edits []Edit, o Options) ([]byte, []Result, error) {
	f, err := poparse.Parse(name, data)
	if err != nil {
		return nil, nil, fmt.Errorf("apply edits: %w", err)
	}
	a := applier{file: f, options: o, forms: o.Forms, results: make([]Result, len(edits))}
	if forms, ok := f.PluralForms(); ok {
		a.forms = forms.Number
		a.formula, _ = plural.Compile(forms.Expression)
	}
	entries := indexEntries(f)
	a.findMissing(edits, entries)
	var changes []change
	for i, e := range edits {
		id := e.Identity()
		if c, ok := a.decide(i, e, cmp.Or(entries[id], a.missing[id])); ok {
			c.identity = id
			changes = append(changes, c)
		}
	}
	out, err := a.write(data, changes, edits)
	if err != nil {
		return nil, nil, fmt.Errorf("apply edits: %w", err)
	}
	return out, a.results, nil
}

// indexEntries returns the entries that count by the identity of their string.
func indexEntries(f *poparse.File) map[catalog.Identity]*poparse.Entry {
	var h catalog.Hasher
	entries := make(map[catalog.Identity]*poparse.Entry, len(f.Entries))
	for e := range f.Live() {
		id := h.Identity(SourceOf(e), e.Context)
		if _, ok := entries[id]; !ok {
			entries[id] = e
		}
	}
	return entries
}

// SourceOf returns the source of an entry, plural forms joined.
func SourceOf(e *poparse.Entry) string {
	if e.HasPlural {
		return e.ID + catalog.FormSeparator + e.IDPlural
	}
	return e.ID
}

// applier applies edits to one file.
type applier struct {
	file    *poparse.File
	options Options
	forms   int             // of plurals, 0 if not known
	formula *plural.Formula // of plurals, or nil
	results []Result

	missing map[catalog.Identity]*poparse.Entry // strings that the file may get
	places  map[int][]*poparse.Entry            // them by the entry of the file before which they go
}

// change is an entry before and after an edit.
type change struct {
	edit       int // its index
	identity   catalog.Identity
	entry      *poparse.Entry
	was, wants poparse.Entry
}

// decide finds the outcome of an edit, and the change if it has to be written.
func (a *applier) decide(i int, e Edit, entry *poparse.Entry) (change, bool) {
	r := &a.results[i]
	if entry == nil {
		r.Outcome = Gone
		return change{}, false
	}
	theirs := Theirs{Text: TextOf(entry), Found: true, ReadOnly: slices.Contains(entry.Flags, "read-only"), Forms: 1}
	if entry.HasPlural {
		theirs.Forms = a.forms
		theirs.Text = theirs.Text.Cut(a.forms)
	}
	r.Theirs = theirs.Text
	r.Outcome = Merge(e.Base, e.Sent, theirs, e.Ours, a.options.Overrule)
	if r.Outcome == Done && a.missing[e.Identity()] == entry {
		r.Outcome = Applied // an untranslated string is added
	}
	if !r.Outcome.Written() {
		return change{}, false
	}
	c := change{edit: i, entry: entry, was: *entry, wants: with(*entry, e.Ours)}
	if c.wants.Fuzzy && e.Previous != "" {
		source := catalog.SplitForms(e.Previous)
		c.wants.Previous = &poparse.Previous{ID: source[0], IDPlural: strings.Join(source[1:], "")}
	}
	if a.options.Gate {
		if err := CheckEntry(&c.wants, a.formula); err != nil {
			r.Outcome, r.Reason = Held, err.Error()
			return change{}, false
		}
	}
	return c, true
}

// with returns an entry with another text. The previous strings are those of a text
// that needs editing, so any other state ends them.
func with(e poparse.Entry, t Text) poparse.Entry {
	e.Str = catalog.SplitForms(t.Target)
	e.Fuzzy = t.normal().State == catalog.StateFuzzy
	if !e.Fuzzy {
		e.Previous = nil
	}
	return e
}

// write returns the file with the changes that can be written, and gives the others the
// outcome Unwritable.
func (a *applier) write(data []byte, changes []change, edits []Edit) ([]byte, error) {
	for len(changes) > 0 {
		out, failed, err := a.bytes(changes, newest(changes, edits))
		if err == nil && len(failed) == 0 {
			return out, a.check(out, changes)
		}
		rest := changes[:0]
		for _, c := range changes {
			why := cmp.Or(err, failed[c.entry]) // the first is of no entry, but of the file as a whole
			if why != nil && !(a.missing[c.identity] == c.entry && bare(&c.wants)) {
				r := &a.results[c.edit]
				r.Outcome, r.Reason = Unwritable, why.Error()
				continue
			}
			rest = append(rest, c)
		}
		changes = rest
	}
	return data, nil
}

// bytes returns the file with changes, and takes them back. The header is revised, unless
// the charset lacks the name of the author. An entry that cannot be written keeps its
// bytes, and is returned with the reason.
func (a *applier) bytes(changes []change, author Author) ([]byte, map[*poparse.Entry]error, error) {
	defer a.add(changes)()
	header := a.file.Header
	if header != nil && !a.options.Revision.IsZero() {
		was := *header
		defer func() { *header = was }()
		a.revise(header, author)
	}
	for i := range changes {
		*changes[i].entry = changes[i].wants
	}
	var b bytes.Buffer
	failed := map[*poparse.Entry]error{}
	_, err := a.file.WriteSome(&b, func(e *poparse.Entry, err error) {
		if e != header {
			failed[e] = err
		}
	})
	for i := len(changes) - 1; i >= 0; i-- {
		*changes[i].entry = changes[i].was
	}
	return b.Bytes(), failed, err
}

// check reads a written file: what a commit has must be what was meant.
func (a *applier) check(data []byte, changes []change) error {
	f, err := poparse.Parse(a.file.Name, data)
	if err != nil {
		return fmt.Errorf("what was written: %w", err)
	}
	entries := indexEntries(f)
	var h catalog.Hasher
	for i := range changes {
		wants := &changes[i].wants
		got := entries[h.Identity(SourceOf(wants), wants.Context)]
		if got == nil || !TextOf(got).Equal(TextOf(wants)) {
			return fmt.Errorf("%s: the string of line %d would not be read as it was written", f.Name, wants.Line)
		}
	}
	return nil
}

// revise sets PO-Revision-Date and Last-Translator in a header that has them. Fields
// that it lacks are not added: the project does without them.
func (a *applier) revise(header *poparse.Entry, author Author) {
	if len(header.Str) == 0 {
		return
	}
	text, _ := setField(header.Str[0], "PO-Revision-Date", a.options.Revision.UTC().Format("2006-01-02 15:04-0700"))
	if author.Name != "" {
		text, _ = setField(text, "Last-Translator", author.inHeader())
	}
	header.Str = append([]string{text}, header.Str[1:]...)
}

// inHeader is an author as the fields of a header have one.
func (a Author) inHeader() string {
	who := headerText(a.Name)
	if a.Email != "" {
		who += " <" + headerText(a.Email) + ">"
	}
	return who
}

// setField replaces the value of a header's field, the first one of that name, if there is one.
func setField(header, name, value string) (set string, has bool) {
	lines := strings.SplitAfter(header, "\n")
	for i, line := range lines {
		key, _, ok := strings.Cut(line, ":")
		if !ok || !strings.EqualFold(strings.TrimSpace(key), name) {
			continue
		}
		lines[i] = key + ": " + value
		if strings.HasSuffix(line, "\n") {
			lines[i] += "\n"
		}
		return strings.Join(lines, ""), true
	}
	return header, false
}

// headerText makes a name one that ends neither its field nor its address.
func headerText(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7F || r == '\u2028' || r == '\u2029':
			return ' '
		case r == '<' || r == '>':
			return -1
		}
		return r
	}, s))
}

// newest returns the author of the latest change.
func newest(changes []change, edits []Edit) Author {
	var last Author
	for i := range changes {
		if by := edits[changes[i].edit].Last(); i == 0 || by.Time.After(last.Time) {
			last = by
		}
	}
	return last
}
