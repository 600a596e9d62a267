package poparse

import (
	"bytes"
	"cmp"
	"fmt"
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
