package poparse

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// WriteTo writes the file. Parts that have not changed since Parse keep their exact
// bytes, including comments after the last entry, so an unchanged File is written
// with the bytes that were read.
//
// To change a file, change the exported fields of Header, OtherHeaders and
// Entries, add entries with KeywordLine 0, or remove some; a copy with its KeywordLine
// stands for an entry. In a changed entry, the equal parts keep their bytes (each kind of comment,
// the previous strings, the msgids, each translation, and of a translation of several
// lines those at its start and end). The other parts are written in the form of
// gettext's msgcat, with the line ends of the file, and wrapped as the file's other
// entries are: at 79 columns where they do not tell, and not at all if the entry has
// the flag no-wrap. Obsolete entries are not moved to the end.
//
// Text is written in the charset of the file. If the header names another charset
// than before, the whole file is converted. It is an error, which names the entry,
// if a character is not in the charset, if an entry is listed twice, or if it would
// not read back as it is (two lines in a flag, no msgid). Nothing is written then.
//
// A File made by hand is written in the charset of its header, else in UTF-8.
func (f *File) WriteTo(w io.Writer) (int64, error) { return f.WriteSome(w, nil) }

// WriteSome is WriteTo, but an entry that was read and cannot be written as it is now
// keeps its bytes, and a new one is left out: failed is called with it, and with the error.
func (f *File) WriteSome(w io.Writer, failed func(*Entry, error)) (int64, error) {
	text, err := f.text(failed)
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", f.Name, err)
	}
	n, err := w.Write(text)
	return int64(n), err
}

func (f *File) text(failed func(*Entry, error)) ([]byte, error) {
	if err := f.listedOnce(); err != nil {
		return nil, err
	}
	src := cmp.Or(f.source, &source{})
	was := &record{all: true}
	before, err := scan(f.Name, src.decoded, was, nil)
	if err != nil {
		return nil, err // cannot happen after Parse
	}
	out, same, err := outputFor(src, before.Header, f.Header)
	if err != nil {
		return nil, err
	}
	e := &editor{
		f: f, record: was, cursor: &cursor{source: src}, enc: out, same: same, nl: lineEnd(src.text, "\n"), failed: failed,
	}
	e.render = newRenderer(&e.part, e.nl, isAsianCharset(out.charset))
	e.together = f.source == nil
	if err := e.run(); err != nil {
		return nil, err
	}
	if e.together {
		if same, err := e.readsBackWhole(); !same {
			e.together, e.progress = false, progress{}
			e.out.Reset()
			if err := cmp.Or(e.run(), err); err != nil { // preferably one that names the entry
				return nil, err
			}
		}
	}
	text := e.out.Bytes()
	if src.enc == charmap.ISO8859_1 && same && src.guessed(f.Header) && becomesUTF8(text) {
		return nil, errors.New("the header names no charset, and what was read as ISO-8859-1 would now be read as UTF-8: name the charset in the header")
	}
	return text, nil
}

// listedOnce checks that no entry is nil or listed twice.
func (f *File) listedOnce() error {
	seen := map[*Entry]bool{f.Header: true}
	for _, list := range [][]*Entry{f.OtherHeaders, f.Entries} {
		for i, e := range list {
			switch {
			case e == nil:
				return fmt.Errorf("entry %d of %d is nil: leave it out", i, len(list))
			case seen[e]:
				return fmt.Errorf("the entry of line %d, msgid %q, is listed twice: list a copy, with KeywordLine 0", e.KeywordLine, clip(e.ID))
			}
			seen[e] = true
		}
	}
	return nil
}

// becomesUTF8 reports whether ISO-8859-1 text without a declared charset would be
// read as UTF-8, or as ASCII with escapes that would then be UTF-8.
func becomesUTF8(text []byte) bool {
	if firstHigh(text) < 0 {
		return hasNumbers(string(text))
	}
	return firstInvalid(text) < 0
}

// lineEnd returns the line end that most lines of a text have, or, if as many have the
// other one, a usual one.
func lineEnd(text, usual string) string {
	switch all, crlf := strings.Count(text, "\n"), strings.Count(text, "\r\n"); {
	case 2*crlf > all:
		return "\r\n"
	case 2*crlf < all:
		return "\n"
	}
	return usual
}

// editor writes a file from the bytes read and the changed entries.
type editor struct {
	f      *File
	record *record
	cursor *cursor
	enc    output
	same   bool         // bytes read can be written unchanged
	nl     string       // that most lines end with
	out    bytes.Buffer // in the file's charset
	render *renderer
	part   bytes.Buffer // output of render, in UTF-8
	styled bool         // render has the style of the file
	failed func(*Entry, error)
	// together says that the entries are read back when all are written, not one by one.
	together bool

	progress
}

// progress is what of an editor changes from one entry to the next.
type progress struct {
	next     int    // index of the first entry read that has not been passed
	done     int    // offset in the text
	kept     int    // end of the text that has been kept last, 0 after other output
	held     [2]int // start and end of the text to be written next
	domain   string // of the entry written last
	newLine  bool   // the last output did not end its line
	separate bool   // an added entry needs a blank line after it
	err      error  // the first one: nothing is written after it
}

func (e *editor) run() error {
	e.out.WriteString(e.cursor.mark())
	was := e.match()
	for _, c := range e.order() {
		if e.err != nil {
			return e.err
		}
		k, ok := was[c]
		if !ok {
			e.or(c, e.add, func() {})
			continue
		}
		e.pass(k)
		e.directive(c)
		e.or(c, func(c *Entry) { e.entry(c, k) }, func() {
			s := &e.record.spans[k]
			e.next, e.done = k+1, s.to
			e.keep(s.from[partComments], s.to)
		})
	}
	e.pass(len(e.record.entries))
	e.keep(e.done, len(e.cursor.text))
	e.release()
	return e.err
}

// order returns the entries to write, with the headers in the order of their lines.
func (e *editor) order() []*Entry {
	f := e.f
	var headers []*Entry
	if f.Header != nil {
		headers = append(headers, f.Header)
	}
	headers = append(headers, f.OtherHeaders...)
	slices.SortStableFunc(headers, func(a, b *Entry) int { return cmp.Compare(a.place(), b.place()) })
	all := make([]*Entry, 0, len(headers)+len(f.Entries))
	for _, entry := range f.Entries {
		for len(headers) > 0 && e.headerFirst(headers[0], entry, all) {
			all = append(all, headers[0])
			headers = headers[1:]
		}
		all = append(all, entry)
	}
	return append(all, headers...)
}

// headerFirst reports whether a header comes before an entry; before has the entries
// that precede both.
func (e *editor) headerFirst(header, entry *Entry, before []*Entry) bool {
	switch {
	case header.place() == 0:
		// Not before the entries of another domain: its name would become
		// the Domain of the file.
		return header == e.f.Header || header.Domain == entry.Domain
	case entry.place() == 0 && len(before) == 0:
		// A new first entry follows the header that begins the file.
		return header == e.f.Header && header.place() == 1
	}
	return header.place() < entry.place()
}

// place is the number of an entry that was read, 0 for a new one.
func (e *Entry) place() int {
	if e.KeywordLine == 0 {
		return 0
	}
	return e.number
}

// match finds for each entry the one that was read.
func (e *editor) match() map[*Entry]int {
	read := e.record.entries
	was := make(map[*Entry]int, len(read))
	last := -1
	for _, c := range e.order() {
		// Entries that have moved are written as new ones.
		if k := c.place() - 1; k > last && k < len(read) && isHeader(c) == isHeader(read[k]) {
			was[c], last = k, k
		}
	}
	return was
}

func isHeader(e *Entry) bool { return e.ID == "" && !e.HasContext && !e.Obsolete }

// pass moves to an entry that was read. Entries before it that have been removed
// are left out, with the blank lines before them.
func (e *editor) pass(to int) {
	for ; e.next < to; e.next++ {
		k := e.next
		s := &e.record.spans[k]
		from := s.from[partComments]
		gone := e.record.entries[k]
		// Headers beyond what a File lists have not been removed.
		if isHeader(gone) && len(e.f.OtherHeaders) >= maxWarnings {
			continue
		}
		if strings.TrimSpace(e.cursor.text[e.done:from]) != "" {
			e.keep(e.done, from)
			e.domain = gone.Domain
		}
		e.done = s.to
	}
}

// directive writes a domain directive if the next entry needs one.
func (e *editor) directive(c *Entry) {
	if k := e.next; k < len(e.record.entries) {
		from := e.record.spans[k].from[partComments]
		e.keep(e.done, from)
		e.done, e.domain = from, e.record.entries[k].Domain
	}
	e.switchDomain(c)
}

func (e *editor) switchDomain(c *Entry) {
	if c.Domain == e.domain {
		return
	}
	e.domain = c.Domain
	e.flush(c, func() {
		e.render.prefix, e.render.noWrap = "", true
		e.render.write("domain", c.Domain)
	})
}

// add writes an entry that was not read.
func (e *editor) add(c *Entry) {
	e.switchDomain(c)
	if e.release(); e.out.Len() > len(e.cursor.mark()) {
		if e.newLine {
			e.write(e.nl)
		}
		e.write(e.nl)
	}
	e.whole(c)
	e.separate = true
}

// whole writes all of an entry again.
func (e *editor) whole(c *Entry) {
	e.render.nl = e.nl
	e.readsBack(c)
	e.flushPart(c)
}

// readsBack leaves a written entry in part, and checks that it is read as the same entry.
func (e *editor) readsBack(c *Entry) {
	if !e.styled {
		e.styled = true
		if e.render.style = (style{}); !e.f.NoWrap {
			e.render.style = e.detectStyle()
		}
	}
	e.part.Reset()
	e.render.entry(c)
	if e.together || e.err != nil {
		return
	}
	back := &record{all: true}
	_, err := scan(e.f.Name, decoded{text: e.part.String()}, back, nil)
	if err != nil || len(back.entries) != 1 || !e.isBack(back.entries[0], c) {
		e.err = fmt.Errorf("the entry of line %d, msgid %q, cannot be written, as it would not read back as it is: "+
			"look for line breaks and commas in flags and references, and for an empty msgid", c.KeywordLine, clip(c.ID))
	}
}

// isBack reports whether an entry that was read is the one that was written.
func (e *editor) isBack(back, c *Entry) bool {
	return Alike(back, c) == AllKinds && back.Obsolete == c.Obsolete && isHeader(c) == (c == e.f.Header || slices.Contains(e.f.OtherHeaders, c))
}

// readsBackWhole reports whether a file that was written is read as its entries; err says
// that it is not read.
func (e *editor) readsBackWhole() (same bool, err error) {
	back, err := Parse(e.f.Name, e.out.Bytes())
	if err != nil || (back.Header == nil) != (e.f.Header == nil) {
		return false, err
	}
	return (e.f.Header == nil || e.isBack(back.Header, e.f.Header)) && slices.EqualFunc(back.OtherHeaders, e.f.OtherHeaders, e.isBack) &&
		slices.EqualFunc(back.Entries, e.f.Entries, e.isBack), nil
}

// flush writes the output of render for an entry.
func (e *editor) flush(c *Entry, render func()) {
	e.part.Reset()
	render()
	e.flushPart(c)
}

// flushPart writes part, which is of an entry.
func (e *editor) flushPart(c *Entry) {
	text, err := e.enc.encode(e.part.String())
	switch {
	case e.err != nil || err == nil && text == "":
		return
	case err != nil:
		e.err = fmt.Errorf("the entry of line %d, msgid %q: %w", c.KeywordLine, clip(c.ID), err)
		return
	}
	if e.newLine {
		e.write(e.nl)
	}
	e.release()
	e.out.WriteString(text)
	e.kept = 0
}

// write writes ASCII.
func (e *editor) write(s string) {
	e.release()
	text, _ := e.enc.encode(s)
	e.out.WriteString(text)
	e.newLine = false
}

// release writes the held text. It is joined first: finding the bytes of each piece
// would take long if all are on one line in another charset.
func (e *editor) release() {
	if e.held[0] < e.held[1] {
		e.out.WriteString(e.cursor.piece(e.held[0], e.held[1]))
	}
	e.held = [2]int{}
}

// keep writes a part of the text that was read.
func (e *editor) keep(from, to int) {
	if from >= to || e.err != nil {
		return
	}
	text := e.cursor.text[from:to]
	if e.separate {
		e.separate = false
		if text[0] != '\n' && text[0] != '\r' {
			e.write(e.nl)
		}
	}
	switch {
	case !e.same:
		piece, err := e.enc.encode(text)
		if err != nil {
			e.err = fmt.Errorf("line %d: %w", 1+strings.Count(e.cursor.text[:from], "\n"), err)
		}
		e.out.WriteString(piece)
	case e.held[1] == from:
		e.held[1] = to
	default:
		e.release()
		e.held = [2]int{from, to}
	}
	if e.kept == from || strings.Contains(text, "\n") || strings.HasSuffix(e.cursor.text[:from], "\n") {
		e.kept = to
	}
	e.newLine = !strings.HasSuffix(text, "\n")
}

// or writes an entry or, if it cannot be written and somebody asked for that, does something
// else.
func (e *editor) or(c *Entry, write func(*Entry), otherwise func()) {
	was, size, cursor := e.progress, e.out.Len(), *e.cursor
	write(c)
	if e.err == nil || was.err != nil || e.failed == nil || !e.same {
		return
	}
	e.failed(c, e.err)
	e.out.Truncate(size)
	e.progress, *e.cursor = was, cursor
	otherwise()
}

// entry writes an entry that was read: its bytes and the changed parts.
func (e *editor) entry(c *Entry, k int) {
	was, s := e.record.entries[k], &e.record.spans[k]
	e.next, e.done = k+1, s.to
	same := Alike(was, c)
	if !e.same && hasNumbers(e.cursor.text[s.from[partComments]:s.to]) {
		same = 0 // these escapes are bytes of the old charset
	}
	if was.Obsolete != c.Obsolete || !s.whole[partComments] && e.kept != s.from[partComments] { // a prefix may be on the line before it
		same = 0
	}
	switch {
	case same == AllKinds:
		e.keep(s.from[partComments], s.to)
	case same == 0 || !s.lines():
		e.whole(c)
	default:
		e.readsBack(c)
		e.changed(c, was, s, same)
		e.render.nl = e.nl
	}
}
