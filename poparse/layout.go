package poparse

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Layout says where the entries of a File are in the text that it was read from. A caller
// that makes a file of pieces of others copies these, so nothing is wrapped again.
type Layout struct {
	// Text is the file in UTF-8, without its byte order mark.
	Text string
	// Spans are of all entries in the order of the file, headers among them.
	Spans []Span

	source *source
}

// A Span is the text of an entry in Layout.Text.
type Span struct {
	// Entry is one of the File's Header, OtherHeaders and Entries; a header beyond those that
	// a File lists is in none.
	Entry *Entry
	// Comments, Previous, IDs and Str are offsets: where the comments begin, the "#|" lines,
	// the msgctxt or msgid, and the msgstr. To is where the entry ends, after its line end.
	Comments, Previous, IDs, Str, To int
	// Lines says that each of these parts begins at the start of a line.
	Lines bool
}

// ParseLayout is Parse, and says where the entries are.
func ParseLayout(name string, data []byte) (*File, *Layout, error) {
	n := bytes.Count(data, []byte(`msgid "`))
	r := &record{entries: make([]*Entry, 0, n), spans: make([]span, 0, n)}
	f, err := parse(name, data, nil, r)
	if err != nil {
		return nil, nil, err
	}
	l := &Layout{Text: f.source.text, source: f.source, Spans: make([]Span, len(r.spans))}
	for k := range r.spans {
		s := &r.spans[k]
		l.Spans[k] = Span{r.entries[k], s.from[partComments], s.from[partPrevious], s.from[partIDs], s.from[partTranslations], s.to, s.lines()}
	}
	return f, l, nil
}

// Encode returns text as the file has it: in its charset, with its byte order mark. The error
// names a character that the charset lacks.
func (l *Layout) Encode(text string) ([]byte, error) {
	out, _, err := outputFor(l.source, nil, nil)
	if err == nil {
		text, err = out.encode(text)
	}
	if err != nil {
		return nil, fmt.Errorf("in the charset %s: %w", cmp.Or(clip(l.source.charset), charsetASCII), err)
	}
	return append([]byte(l.source.mark()), text...), nil
}

// SameEncoding reports whether two files have the same charset, byte order and mark.
func (l *Layout) SameEncoding(o *Layout) bool {
	a, b := l.source, o.source
	return a.charset == b.charset && a.bom == b.bom && a.bigEndian == b.bigEndian
}

// Exact reports whether Encode gives the bytes that were read for Text: some charsets have
// several for one character, and NUL is read as another one.
func (l *Layout) Exact() bool {
	if l.source.raw == "" {
		return true
	}
	data, err := l.Encode(l.Text)
	return err == nil && strings.TrimPrefix(string(data), l.source.mark()) == l.source.raw
}

// A Kind is a kind of lines of an entry.
type Kind uint8

// The kinds, in msgcat's order.
const (
	// KindComments are the translator's comments.
	KindComments Kind = iota
	KindExtracted
	KindReferences
	KindFlags
	// KindPrevious are the "#|" lines, KindIDs msgctxt, msgid and msgid_plural, KindStr all msgstr.
	KindPrevious
	KindIDs
	KindStr
	// Kinds is the number of kinds.
	Kinds

	commentKinds = KindPrevious // the first ones are comments
)

// KindSet is a set of kinds.
type KindSet uint8

// AllKinds has all kinds.
const AllKinds KindSet = 1<<Kinds - 1

// Has reports whether a kind is in the set.
func (s KindSet) Has(k Kind) bool { return s>>k&1 != 0 }

// Alike returns the kinds of lines that are written alike for two entries, but for "#~".
func Alike(a, b *Entry) (set KindSet) {
	if a == b {
		return AllKinds
	}
	for k, same := range [Kinds]bool{
		KindComments:   sameLines(a.Comments, b.Comments),
		KindExtracted:  sameLines(a.Extracted, b.Extracted),
		KindReferences: slices.Equal(a.References, b.References),
		KindFlags:      a.Fuzzy == b.Fuzzy && slices.Equal(a.Flags, b.Flags),
		KindPrevious:   a.Previous.Equal(b.Previous),
		KindIDs: a.ID == b.ID && a.HasContext == b.HasContext && a.HasPlural == b.HasPlural &&
			(!a.HasContext || a.Context == b.Context) && (!a.HasPlural || a.IDPlural == b.IDPlural),
		KindStr: a.HasPlural == b.HasPlural && sameForms(a.Str, b.Str),
	} {
		if same {
			set |= 1 << k
		}
	}
	return set
}

// Lines are the lines of an entry by kind, without "#~".
type Lines [Kinds]string

// LinesOf returns the lines of an entry as Render writes them.
func LinesOf(e *Entry) (of Lines) {
	live := *e
	live.Obsolete = false
	var b bytes.Buffer
	r := newRenderer(&b, "\n", false)
	for k := range Kinds {
		b.Reset()
		r.kind(&live, k)
		of[k] = b.String()
	}
	return of
}

// Lines returns the lines of a span, and in which order the kinds come; blank lines belong to
// the line before. If parts share lines, they are those of LinesOf.
func (l *Layout) Lines(s *Span) (of Lines, order []Kind) {
	comments := l.Text[s.Comments:s.Previous]
	kinds, ok := commentLines(comments)
	of[KindPrevious], of[KindIDs], of[KindStr] = l.Text[s.Previous:s.IDs], l.Text[s.IDs:s.Str], l.Text[s.Str:s.To]
	for k := KindPrevious; k < Kinds && ok; k++ {
		if of[k] != "" && !strings.HasSuffix(of[k], "\n") {
			of[k] += "\n"
		}
		if s.Entry.Obsolete {
			of[k], ok = uncommented(of[k])
		}
	}
	if !ok || !s.Lines {
		of, comments = LinesOf(s.Entry), ""
	}
	k, i := KindComments, 0
	for line := range strings.Lines(comments) {
		if kinds[i] != commentKinds {
			k = kinds[i]
		}
		if i++; of[k] == "" {
			order = append(order, k)
		}
		of[k] += line
	}
	for k := range Kinds {
		if !slices.Contains(order, k) {
			at := slices.IndexFunc(order, func(o Kind) bool { return o > k })
			if at < 0 {
				at = len(order)
			}
			order = slices.Insert(order, at, k)
		}
	}
	return of, order
}

// uncommented removes "#~" from lines; false if one has none.
func uncommented(text string) (string, bool) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "#~")
		if !ok {
			return "", false
		}
		if strings.HasPrefix(rest, "|") {
			rest = "#" + rest
		}
		b.WriteString(strings.TrimPrefix(rest, " "))
	}
	return b.String(), true
}
