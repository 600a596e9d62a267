package poparse

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
)

// Parse reads a whole PO or POT file. name is used in errors only. Parse neither
// keeps nor changes data. A non-nil error is a *SyntaxError.
//
// An empty file is valid and has no entries. The cost is bounded: for a file in
// UTF-8, Parse allocates at most three times its size, plus 400 bytes for each msgid,
// plus 3 MiB, garbage included. A file in another charset counts with its size in UTF-8,
// and with its own size, as its bytes are kept for WriteTo. A file is read twice if
// its charset is found late, because the header is longer than 64 KiB or shares a
// line with another entry. Comments, references and flags are elements of slices:
// one for every 32 bytes of the file and 65,536 more are kept, the rest is left out
// with a warning.
func Parse(name string, data []byte) (*File, error) { return parse(name, data, nil, nil) }

// parse is Parse with the memory of a Reader and a record of the entries, which may be nil.
func parse(name string, data []byte, reader *Reader, r *record) (*File, error) {
	if what := sniffBinary(data); what != "" {
		if _, _, ok := decodeMarked(data[:min(len(data), 512)], copies); !ok {
			return nil, &SyntaxError{File: name, Line: 1, Column: 1, Code: ErrNotPO, Msg: "this is not a PO file, it looks like " + what}
		}
	}
	h := holding(reader != nil)
	d, bad := decode(data, h)
	f, err := read(name, d, bad, reader, r)
	if err == nil && d.undeclared && f.Charset != "" {
		// The header shares a line with another entry, so its charset is
		// known only now.
		d, bad = decodeAs(data, f.Charset, max(0, bytes.Index(data, []byte(f.Charset))), h)
		r.reset()
		f, err = read(name, d, bad, reader, r)
	}
	if err != nil {
		return nil, err
	}
	if reader == nil {
		f.source.keep(data)
	}
	return f, nil
}

// read reads decoded text, or returns the error of decoding it.
func read(name string, d decoded, bad *SyntaxError, reader *Reader, r *record) (*File, error) {
	if bad != nil {
		bad.File = name
		return nil, bad
	}
	d.replaceNUL()
	f, err := scan(name, d, r, reader)
	if err != nil {
		return nil, err
	}
	if reader == nil {
		f.source = &source{decoded: d}
	}
	return f, nil
}

// scan reads decoded text. The record and the reader may be nil.
func scan(name string, d decoded, r *record, reader *Reader) (*File, error) {
	p := &parser{
		position: position{line: 1},
		file:     &File{Name: name, Warnings: d.warnings},
		text:     d.text,
		enc:      d,
		record:   r,
		seed:     maphash.MakeSeed(),
	}
	p.pending, p.strs = p.buffers.pending(), p.buffers.strs[:0]
	reader.lend(p)
	if p.run(); p.err != nil {
		return nil, p.err
	}
	p.file.Entries = p.entries
	p.finish()
	reader.takeBack(p)
	return p.file, nil
}

// run reads all entries, up to the first error.
func (p *parser) run() {
	for {
		p.skip()
		if p.pos == len(p.text) {
			return
		}
		switch c := p.text[p.pos]; {
		case c == '#':
			p.file.CommentsBehind = p.file.CommentsBehind || p.tokenEnd > p.lineStart
			p.comment()
		case c == '"':
			p.looseString()
		case !isLetter(c):
			p.stray(ErrText, "unexpected text")
		case c == 'd' && p.on("domain") && !p.previous:
			p.directive()
		default:
			switch e := p.message(); {
			case p.err != nil:
			case isHeader(e):
				p.takeHeader(e)
			case p.recovery == nil:
				p.remember(e)
			}
		}
	}
}

func (p *parser) looseString() {
	if n := len(p.entries); n > 0 && p.pending.line == 0 && p.obsolete != p.entries[n-1].Obsolete {
		p.mixed(p.entries[n-1].Obsolete)
	}
	p.fail(ErrLooseString, p.pos, "a string without msgctxt, msgid or msgstr before it: is a line missing, or a comment between the lines of a string?")
}

// takeHeader moves the entry just read from the entries to the headers.
func (p *parser) takeHeader(e *Entry) {
	p.entries = p.entries[:len(p.entries)-1]
	f := p.file
	if f.Header == nil {
		f.Header = e
		return
	}
	if f.Header.Domain != f.Domain && e.Domain == f.Domain {
		e, f.Header = f.Header, e
	}
	repeated := e.Domain == f.Header.Domain
	for _, other := range f.OtherHeaders {
		repeated = repeated || other.Domain == e.Domain
	}
	if len(f.OtherHeaders) < maxWarnings {
		f.OtherHeaders = append(f.OtherHeaders, e)
	}
	if repeated {
		p.warn(e.KeywordLine, 1, WarnHeader, "a second header (msgid \"\"): the one on line %d counts", f.Header.KeywordLine)
	}
}

// remember keeps the data of an entry that finish needs, while the entry is in the
// processor's cache.
func (p *parser) remember(e *Entry) {
	if e.Obsolete {
		p.hashes = append(p.hashes, 0)
		return
	}
	h := maphash.String(p.seed, e.ID)
	if e.HasContext {
		h = bits.RotateLeft64(h, 21) ^ maphash.String(p.seed, e.Context)
	}
	if p.directives > 0 {
		h = bits.RotateLeft64(h, 21) ^ maphash.String(p.seed, e.Domain)
	}
	p.hashes = append(p.hashes, max(h, 1))
	if e.HasPlural {
		p.plurals = append(p.plurals, e)
	}
}

// finish does the work that needs the whole file.
func (p *parser) finish() {
	f := p.file
	if h := f.Header; h != nil {
		f.Charset = charsetOf(h.Str[0])
	}
	p.checkPlurals()
	p.markDuplicates()
	slices.SortStableFunc(f.Warnings, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if p.dropped > 0 {
		f.Warnings = append(f.Warnings, Warning{p.line, 1, WarnMore, "and more faults like these, not listed"})
	}
}

// checkPlurals compares the plural entries with the header.
func (p *parser) checkPlurals() {
	f := p.file
	forms, ok := f.PluralForms()
	if field := f.Field("Plural-Forms"); !ok && field != "" && !(strings.Contains(field, "INTEGER") || strings.Contains(field, "EXPRESSION")) {
		p.warn(f.Header.KeywordLine, 1, WarnPluralForms,
			"Plural-Forms %q is not understood: write nplurals=NUMBER; plural=EXPRESSION;", clip(field))
	}
	if !ok {
		return
	}
	for _, e := range p.plurals {
		if e.Domain == f.Domain && len(e.Str) != forms.Number && e.Str[0] != "" {
			p.warn(e.KeywordLine, 1, WarnPluralCount, "the entry has %d plural forms, but the header says nplurals=%d",
				len(e.Str), forms.Number)
		}
	}
}

// markDuplicates marks the second and later ones of live entries with the same
// domain, context and msgid.
func (p *parser) markDuplicates() {
	seen := make(map[uint64]int, len(p.entries))
	for i, h := range p.hashes {
		k, ok := seen[h]
		switch e, first := p.entries[i], p.entries[k]; {
		case h == 0: // obsolete
		case !ok:
			seen[h] = i
		case first.ID == e.ID && first.Context == e.Context && first.HasContext == e.HasContext && first.Domain == e.Domain:
			e.Duplicate = true
			p.warn(e.KeywordLine, 1, WarnDuplicate, "the entry repeats that on line %d, which counts", first.KeywordLine)
		}
	}
}

// A PO file is its header and its paragraphs. A paragraph begins with a comment or a
// keyword after a blank line that ends a complete entry, and goes on to the next
// beginning. What Parse makes of a text up to there does not depend on what follows, and
// it reads the text from there on as if that followed the header. So where nothing else
// leads from one paragraph to another (one domain, one header, which is the first entry,
// no comment behind a string, no repeated entry, far from the limits of a file), the
// entries of some paragraphs are what is read of the header and these.

// NextParagraph returns the first beginning of a paragraph at or after an offset, in
// bytes; -1 if there is none within 64 KiB. The header is what is before
// NextParagraph(data, 1), with comments before it and entries that no blank line parts
// from it. The charset must contain ASCII.
func NextParagraph(data []byte, at int) int {
	for end := at + paragraphReach; at < end; at++ {
		at = max(at-1, 0)
		n := bytes.IndexByte(data[at:], '\n')
		if n < 0 {
			return -1
		}
		if at += n + 1; afterBlank(data[:at]) && beginsLine(data[at:]) && endsEntry(data[:at]) {
			return at
		}
	}
	return -1
}

// paragraphReach bounds how far one beginning of a paragraph is looked for.
const paragraphReach = 64 << 10

// beginsLine reports whether a line may begin an entry.
func beginsLine(text []byte) bool {
	return len(text) > 0 && text[0] == '#' || bytes.HasPrefix(text, []byte("msgid")) || bytes.HasPrefix(text, []byte("msgctxt"))
}

// afterBlank reports whether the last line of a text, which a line feed ends, is blank.
func afterBlank(text []byte) bool {
	n := len(text) - 2
	if n > 0 && text[n] == '\r' {
		n--
	}
	return n >= 0 && text[n] == '\n'
}

// endsEntry reports whether the last line of a text that is not blank is part of a
// msgstr.
func endsEntry(text []byte) bool {
	for n := len(text); len(text) > 0 && len(text) > n-paragraphReach; {
		var line []byte
		if line, text = lastLine(text); len(line) > 0 && line[0] != '"' {
			return bytes.HasPrefix(line, []byte("msgstr"))
		}
	}
	return false
}

// lastLine returns the last line of a text, without what ends it, and what is before.
func lastLine(text []byte) (line, before []byte) {
	text = bytes.TrimSuffix(text, []byte("\n"))
	begin := 1 + bytes.LastIndexByte(text, '\n')
	return bytes.TrimSuffix(text[begin:], []byte("\r")), text[:begin]
}
