package poparse

import (
	"bytes"
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/encoding"
)

// MaxErrors is the number of errors that Errors lists at most. msgfmt stops at 20.
const MaxErrors = 100

// Errors returns the errors of a file in file order, nil if Parse can read it. After
// an error it continues at the next entry, as msgfmt does, and it does not report
// errors that follow from another one: in the lines of a damaged entry it looks for
// mistakes within strings only, a merge conflict is one error, and so are
// neighbouring lines that are not PO. After ErrNotPO and ErrCharset, and in broken
// UTF-16, it stops. If the header shares a line with another entry, invalid bytes
// are reported only when the file has no other error, as the charset is known only
// then. more tells that there are more than MaxErrors.
//
// It reads the file twice, so call Parse first. The bounds on memory are those of
// Parse, twice. In the offsets of errors after invalid bytes, each of these counts
// three.
func Errors(name string, data []byte) (list []*SyntaxError, more bool) {
	_, err := Parse(name, data)
	first, ok := errors.AsType[*SyntaxError](err)
	if !ok {
		return nil, false
	}
	if first.Code == ErrNotPO || first.Code == ErrCharset {
		return []*SyntaxError{first}, false
	}
	d, bad := decodeLossy(data)
	if d.text == "" {
		return []*SyntaxError{first}, false
	}
	d.replaceNUL()
	r := &recovery{p: &parser{position: position{line: 1}, file: &File{Name: name}, text: d.text, enc: d, slots: new(entryArena)}}
	r.p.recovery = r
	for _, e := range bad {
		e.File = name
		r.add(e)
	}
	r.run()
	list = r.sorted()
	if !r.more && !slices.ContainsFunc(list, func(e *SyntaxError) bool { return *e == *first }) {
		// Parse found the charset late, as the header shares a line with another
		// entry, so it read another text.
		return []*SyntaxError{first}, false
	}
	return list, r.more
}

// recovery collects the errors of a file.
type recovery struct {
	p    *parser
	list []*SyntaxError
	more bool
	// broken is the line of the last string with a wrong end.
	broken int
	// conflictEnd is the offset after the last merge conflict; endless tells that
	// no later conflict has an end.
	conflictEnd int
	endless     bool
}

// run reads the whole text.
func (r *recovery) run() {
	for !r.more {
		if r.p.run(); r.p.err == nil || !r.report() {
			return
		}
		r.resync()
	}
}

// report adds the parser's error, unless it follows from another one. It returns false if the
// rest of the file cannot be read.
func (r *recovery) report() bool {
	e := r.p.caught()
	switch e.Code {
	case ErrNotPO:
		r.add(e)
		return false
	case ErrConflict:
		if strings.HasPrefix(r.p.text[r.p.pos:], "<<<<<<<") {
			r.conflict()
		} else if r.p.pos < r.conflictEnd {
			return true
		}
	case ErrEscape, ErrUnclosed, ErrAfterString:
	default:
		if r.p.pos < r.conflictEnd {
			return true
		}
	}
	if e.Code == ErrUnclosed || e.Code == ErrAfterString {
		r.broken = e.Line
	}
	r.add(e)
	return true
}

// conflict finds the end of the merge conflict at the position.
func (r *recovery) conflict() {
	if r.endless || r.p.pos < r.conflictEnd {
		return
	}
	const end = "\n>>>>>>>"
	n := strings.Index(r.p.text[r.p.pos:], end)
	if n < 0 {
		r.endless = true
		return
	}
	r.conflictEnd = r.p.pos + n + len(end)
}

// add adds an error, unless there are too many or one at the same position.
func (r *recovery) add(e *SyntaxError) {
	switch {
	case slices.ContainsFunc(r.list, func(o *SyntaxError) bool { return o.Line == e.Line && o.Column == e.Column }):
		return
	case len(r.list) == MaxErrors:
		r.more = true
		return
	}
	r.list = append(r.list, e)
}

// sorted returns the errors in file order. On a line with invalid bytes, other
// errors may follow from these and are left out.
func (r *recovery) sorted() []*SyntaxError {
	bytesOn := map[int]bool{}
	for _, e := range r.list {
		if e.Code == ErrBytes {
			bytesOn[e.Line] = true
		}
	}
	list := slices.DeleteFunc(r.list, func(e *SyntaxError) bool { return e.Code != ErrBytes && bytesOn[e.Line] })
	slices.SortStableFunc(list, func(a, b *SyntaxError) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return list
}

// resync moves from the token with the error to the next entry, or to a line that is
// not a part of the damaged one.
func (r *recovery) resync() {
	p := r.p
	p.pending.reset()
	if n := len(p.entries); n > 2 { // sniff asks whether there are two
		copy(p.entries, p.entries[n-2:])
		p.entries = p.entries[:2]
	}
	translated := r.translated()
	seenHere := p.beginsLine()
	if seenHere {
		p.pos = p.lineStart
	} else {
		p.nextLine()
	}
	for touching := true; p.pos < len(p.text); p.nextLine() {
		at := p.position
		p.enterLine()
		switch c := p.lineToken(); {
		case c == '\n':
			touching = false
			continue
		case c == '#' && !(translated && r.isPO()):
			touching = false
			continue
		case c == '#', p.beginsEntry(), c == 'm' && p.on("msgstr") && translated && !touching,
			c == 't' && !seenHere && (!touching && r.isPO() || conflictMarker(p.restOfLine())):
			p.position = at
			return
		case c == 'm':
			translated = translated || p.on("msgstr")
			if r.keywords(); p.pos < len(p.text) && p.beginsEntry() {
				return
			}
		case c == '"':
			r.strings(false)
		}
		touching, seenHere = true, false
	}
}

// translated reports whether the last keyword before the position is a msgstr, or
// there is no keyword: the following lines are then not a part of its entry.
func (r *recovery) translated() bool {
	p := *r.p
	for end := p.lineStart; end > 0; end = p.lineStart {
		p.lineStart = strings.LastIndexByte(p.text[:end-1], '\n') + 1
		p.pos = p.lineStart
		if p.enterLine(); p.lineToken() == 'm' || p.beginsEntry() {
			return p.on("msgstr")
		}
	}
	return true
}

// isPO reports whether the file has shown a construct that only PO files have.
func (r *recovery) isPO() bool {
	return r.p.file.Header != nil || len(r.p.entries) > 0 && r.p.entries[0].Str != nil ||
		slices.ContainsFunc(r.list, func(e *SyntaxError) bool { return e.Code != ErrText && e.Code != ErrKeyword })
}

// indexText is the number of a plural form after its keyword.
var indexText = regexp.MustCompile(`^\[[ \t\r\f\v]*[0-9]*[ \t\r\f\v]*\]`)

// keywords looks for mistakes within the strings of those keywords on the line that
// do not begin an entry.
func (r *recovery) keywords() {
	p := r.p
	for p.lineToken() == 'm' {
		p.pos += len(p.word())
		p.skipBlanks()
		p.pos += len(indexText.FindString(p.text[p.pos:]))
		r.strings(true)
	}
}

// strings looks for mistakes within the strings on the rest of the line.
func (r *recovery) strings(afterKeyword bool) {
	p := r.p
	from := p.pos
	seen := slices.ContainsFunc(r.list, func(e *SyntaxError) bool { return e.Line == p.line })
	for {
		p.skipBlanks()
		if p.pos == len(p.text) || p.text[p.pos] != '"' {
			break
		}
		s := segments{at: p.pos, line: p.line, lineStart: p.lineStart}
		// A lone quote is the end of the string before it.
		lone := !afterKeyword && p.restOfLine() == `"`
		if p.segment(&s); p.err != nil {
			if seen || lone && p.line == r.broken+1 {
				p.caught()
			} else {
				r.report()
			}
			return
		}
		if s.escapes {
			_ = p.build(s) // reports wrong escapes
		}
	}
	switch c := p.lineToken(); {
	case c != 't' || p.beginsEntry() || seen:
	case p.pos > from && p.afterQuote():
		p.stray(ErrAfterString, "unexpected text")
		r.report()
	default:
		p.stray(ErrNoString, "expected a string in quotes")
		r.report()
	}
}

// nextLine moves to the start of the next line, or the end of the text.
func (p *parser) nextLine() {
	n := strings.IndexByte(p.text[p.pos:], '\n')
	if n < 0 {
		p.pos = len(p.text)
		return
	}
	p.pos += n + 1
	p.line++
	p.lineStart = p.pos
	p.obsolete, p.previous = false, false
}

// skipBlanks moves over white space within the line.
func (p *parser) skipBlanks() {
	p.pos = len(p.text) - len(strings.TrimLeft(p.text[p.pos:], blanks))
}

// enterLine moves from the start of a line to its first token.
func (p *parser) enterLine() {
	p.obsolete, p.previous = false, false
	for p.skipBlanks(); p.pos < len(p.text) && p.text[p.pos] == '#' && p.prefix(); {
		p.skipBlanks()
	}
}

// lineToken returns the kind of the token at the position: '\n' for a line feed or
// the end of the text, '#' for a comment, '"' for a string, 'm' for a keyword inside
// an entry, 't' for any other text.
func (p *parser) lineToken() byte {
	if p.pos == len(p.text) {
		return '\n'
	}
	switch c := p.text[p.pos]; {
	case c == '\n', c == '#', c == '"':
		return c
	case p.on("msgstr"), p.on("msgid_plural"):
		return 'm'
	}
	return 't'
}

// beginsEntry reports whether a keyword at the position can be the first of an
// entry, or is a directive.
func (p *parser) beginsEntry() bool {
	return p.pos < len(p.text) && (p.on("msgid") || p.on("msgctxt") || p.on("domain") && !p.previous)
}

// beginsLine reports whether there are only blanks and prefixes before the position
// on its line.
func (p *parser) beginsLine() bool {
	q := parser{text: p.text, position: position{pos: p.lineStart}}
	q.enterLine()
	return q.pos == p.pos
}

// restOfLine returns the text up to the end of the line, without trailing blanks.
func (p *parser) restOfLine() string {
	line, _, _ := strings.Cut(p.text[p.pos:], "\n")
	return strings.TrimRight(line, blanks)
}

// decodeLossy converts data to UTF-8 as decode does, and replaces each invalid byte
// by U+FFFD. It returns an error for the first invalid bytes of each line. The text
// is empty if data cannot be decoded at all.
func decodeLossy(data []byte) (decoded, []*SyntaxError) {
	d, e := decode(data, copies)
	if e == nil {
		return d, nil
	}
	bom := 0
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		bom = 3
	}
	name, _ := declaredCharset(data[bom:])
	class, enc := lookupCharset(name)
	switch {
	case e.Code != ErrBytes:
		return decoded{}, []*SyntaxError{e}
	case bom > 0 || class == charsetUTF8:
		enc = nil
	case class != charsetTable: // UTF-16
		return decoded{}, []*SyntaxError{e}
	}
	if bom > 0 {
		name = "UTF-8"
	}
	text, list := replaceInvalid(data, bom, enc, name)
	return decoded{text: text, bom: bom, enc: enc, charset: name}, list
}

// replaceInvalid decodes data line by line: in none of the charsets is a line feed
// a part of another character.
func replaceInvalid(data []byte, bom int, enc encoding.Encoding, name string) (string, []*SyntaxError) {
	var text strings.Builder
	var list []*SyntaxError
	for at := bom; at < len(data); {
		line := data[at:]
		if nl := bytes.IndexByte(line, '\n'); nl >= 0 {
			line = line[:nl+1]
		}
		out, bad := replaceInLine(line, enc, name)
		text.WriteString(out)
		if bad >= 0 && len(list) <= MaxErrors {
			e := encodingError(data[bom:], at-bom+bad, enc)
			e.Offset += bom
			e.Msg = invalidByte(data[at+bad:], enc, name)
			list = append(list, e)
		}
		at += len(line)
	}
	return text.String(), list
}

// replaceInLine decodes a line and returns the index of its first invalid byte, or
// -1.
func replaceInLine(line []byte, enc encoding.Encoding, name string) (text string, bad int) {
	if enc == nil {
		return string([]rune(string(line))), firstInvalid(line)
	}
	if firstHigh(line) < 0 {
		return string(line), -1
	}
	out, err := enc.NewDecoder().Bytes(line)
	if err != nil {
		return "", 0
	}
	return string(repertoireOf(name, enc).read(out)), invalidIn(line, out, enc)
}
