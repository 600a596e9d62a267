package poparse

import (
	"fmt"
	"hash/maphash"
	"strings"
	"unicode/utf8"
)

// position is where a parser is in the text, and the prefixes of that line.
type position struct {
	pos, line, lineStart int
	// tokenEnd is where the last string or comment ends.
	tokenEnd           int
	obsolete, previous bool
}

// parser is a scanner over decoded text. It is at the next token; obsolete and
// previous say which of the prefixes "#~" and "#|" the current line has. As in
// gettext's po-lex.c, they belong to every token on the line.
type parser struct {
	text string
	position

	file *File
	enc  decoded
	// domain is the name in the last domain directive; directives counts them.
	domain     string
	directives int

	// pending has the comments of the next entry.
	pending pending
	strs    []string
	buffers listBuffers

	entries []*Entry
	count   int         // of the entries so far, headers among them
	slots   *entryArena // of entries
	hashes  []uint64    // of entries, see markDuplicates; 0 for obsolete entries
	plurals []*Entry    // the live entries with plural forms
	seed    maphash.Seed
	lists   stringArena
	texts   textArena
	items   int // number of list elements so far, see add
	dropped int // number of warnings above maxWarnings
	scratch []byte
	tooMany bool

	// err is the first error, and failed is where it was found: the text ends for what is
	// read after it.
	err    *SyntaxError
	failed position

	// record is nil except in WriteTo.
	record *record
	// recovery is nil except in Errors.
	recovery *recovery
}

// skip moves over white space, line ends and the prefixes "#~", "#|" and "#~|"
// to the next token or comment.
func (p *parser) skip() {
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		if c > '#' || c == '"' {
			return
		}
		switch c {
		case '\n':
			p.pos++
			p.line++
			p.lineStart = p.pos
			p.obsolete, p.previous = false, false
		case ' ', '\t', '\r', '\f', '\v':
			p.pos++
		case '#':
			if !p.prefix() {
				return
			}
		default:
			return
		}
	}
}

// prefix moves over "#~", "#|" or "#~|" and reports whether there was one.
func (p *parser) prefix() bool {
	n := prefixLen(p.text[p.pos:])
	if n == 0 {
		return false
	}
	mark := p.text[p.pos : p.pos+n]
	p.obsolete = p.obsolete || mark[1] == '~'
	p.previous = p.previous || mark[n-1] == '|'
	p.pos += n
	return true
}

func prefixLen(s string) int {
	switch {
	case len(s) < 2 || s[1] != '~' && s[1] != '|':
		return 0
	case len(s) >= 3 && s[1] == '~' && s[2] == '|':
		return 3
	}
	return 2
}

// word returns the word at the position, "" without one.
func (p *parser) word() string {
	i := p.pos
	for i < len(p.text) && (isLetter(p.text[i]) || i > p.pos && isDigit(p.text[i])) {
		i++
	}
	return p.text[p.pos:i]
}

// on reports whether a keyword is at the position.
func (p *parser) on(keyword string) bool {
	rest := p.text[p.pos:]
	// The fourth letter tells msgid from msgstr.
	return len(rest) >= len(keyword) && rest[3] == keyword[3] && rest[:len(keyword)] == keyword &&
		(len(rest) == len(keyword) || !isLetter(rest[len(keyword)]) && !isDigit(rest[len(keyword)]))
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// value reads the consecutive strings after a keyword, which must have the same
// prefix, and returns them unescaped and joined.
func (p *parser) value(keyword string, obsolete, previous bool) string {
	if p.previous == previous { // else it fails below
		if value, ok := p.multiline(); ok {
			return value
		}
	}
	p.skip()
	if p.pos == len(p.text) || p.text[p.pos] != '"' {
		p.noString(keyword)
		return ""
	}
	first := segments{at: p.pos, line: p.line, lineStart: p.lineStart}
	for p.pos < len(p.text) && p.text[p.pos] == '"' {
		if p.obsolete != obsolete || p.previous != previous {
			p.mixed(obsolete)
			return ""
		}
		p.segment(&first)
		p.skip()
	}
	switch {
	case p.err != nil:
		return ""
	case first.filled <= 1 && !first.escapes:
		return p.text[first.start:first.end]
	}
	return p.build(first)
}

// noString says that a keyword has no string.
func (p *parser) noString(keyword string) {
	// Only blanks, line ends and prefixes are between the keyword and here.
	end := len(strings.TrimRight(p.text[:p.pos], " \t\r\f\v\n#~|"))
	switch {
	case p.pos == len(p.text):
		p.fail(ErrTruncated, end, "the file ends after %s: is it truncated?", keyword)
	case strings.IndexByte(p.text[end:p.pos], '\n') < 0:
		p.stray(ErrNoString, fmt.Sprintf("expected a string in quotes after %s", keyword))
	case !p.sniff(p.pos):
		p.fail(ErrNoString, end, "expected a string in quotes after %s", keyword)
	}
}

// segments describes the strings of one value, with the data to build it.
type segments struct {
	at, line, lineStart int  // position of the first quote
	start, end          int  // the text of the last string that is not empty
	filled              int  // number of strings that are not empty
	size                int  // number of bytes between all quotes
	escapes             bool // a string has a backslash
}

// segment moves over one string.
func (p *parser) segment(s *segments) {
	start := p.pos + 1
	end := stringEnd(p.text, start)
	for end+1 < len(p.text) && p.text[end] == '\\' && p.text[end+1] != '\n' {
		s.escapes = true
		end = stringEnd(p.text, end+2)
	}
	n := end - start
	if end >= len(p.text) || p.text[end] != '"' {
		s.escapes = true
		if n = p.guarded(start); p.err != nil {
			return
		}
	}
	p.pos = start + n + 1
	p.tokenEnd = p.pos
	if n > 0 {
		s.filled++
		s.start, s.end = start, start+n
		s.size += n
	} else if s.filled == 0 {
		s.start, s.end = start, start
	}
}

// guarded returns the length of a string whose closing quote looks escaped because
// of a guard. For any other string without a closing quote on its line it fails.
func (p *parser) guarded(start int) (n int) {
	line, _, ended := strings.Cut(p.text[start:], "\n")
	n = len(strings.TrimRight(line, blanks)) - 1
	switch {
	case n >= 1 && p.guardsQuote(start+n-1):
	case !ended:
		p.fail(ErrTruncated, p.pos, "the file ends inside a string: is it truncated?")
	default:
		p.fail(ErrUnclosed, p.pos, "the string is not closed on its line: put a quote at its end, and write a line break as \\n")
	}
	return n
}

// closingQuote returns the index of the first unescaped quote in s[i:], or len(s).
// It does not stop at line ends.
func closingQuote(s string, i int) int {
	for from := i; ; {
		n := strings.IndexByte(s[from:], '"')
		if n < 0 {
			return len(s)
		}
		quote := from + n
		slash := quote
		for slash > from && s[slash-1] == '\\' {
			slash--
		}
		if (quote-slash)%2 == 0 {
			return quote
		}
		from = quote + 1
	}
}

// build joins the strings at s.at, which segment has checked, and resolves their
// escapes.
func (p *parser) build(s segments) string {
	// A NUL escape grows from two bytes to three; all other escapes shrink.
	room := s.size
	if s.escapes {
		room += s.size / 2
	}
	u := unescaper{p: p, out: p.texts.reserve(room), line: s.line, lineStart: s.lineStart}
	for left, i := s.filled, s.at; left > 0; {
		switch p.text[i] {
		case '"':
			n := 0
			if p.text[i+1] != '"' {
				n = u.segment(i + 1)
				left--
			}
			i += n + 2
		case '\n':
			i++
			u.line, u.lineStart = u.line+1, i
		case '#':
			i += prefixLen(p.text[i:])
		default:
			i++
		}
	}
	value := p.texts.keep(u.out)
	if u.raw && !utf8.ValidString(value) {
		p.warn(s.line, 1+utf8.RuneCountInString(p.text[s.lineStart:s.at]), WarnEscape,
			"octal or hexadecimal escapes in this string are not valid UTF-8: read as U+FFFD")
		value = strings.ToValidUTF8(value, "\uFFFD")
	}
	return value
}

// fail keeps an error at an offset of the text, unless there is one; code is one of the Err
// constants.
func (p *parser) fail(code string, at int, format string, args ...any) {
	if p.err != nil {
		return
	}
	lineStart := strings.LastIndexByte(p.text[:at], '\n') + 1
	offset := at
	if p.enc.enc == nil {
		offset += p.enc.bom
	}
	p.failed = p.position
	p.pos = len(p.text)
	p.err = &SyntaxError{
		File:   p.file.Name,
		Line:   1 + strings.Count(p.text[:at], "\n"),
		Column: 1 + utf8.RuneCountInString(p.text[lineStart:at]),
		Offset: offset,
		Code:   code,
		Msg:    fmt.Sprintf(format, args...),
	}
}

// caught returns the error, goes back to where it was found, and reads on from there.
func (p *parser) caught() *SyntaxError {
	err := p.err
	p.err, p.position = nil, p.failed
	return err
}

// pass moves over some bytes, after an error nowhere.
func (p *parser) pass(n int) { p.pos = min(p.pos+n, len(p.text)) }

// warn adds a warning, unless there are too many.
func (p *parser) warn(line, column int, code, format string, args ...any) {
	if len(p.file.Warnings) >= maxWarnings {
		p.dropped++
		return
	}
	p.file.Warnings = append(p.file.Warnings, Warning{line, column, code, fmt.Sprintf(format, args...)})
}

// maxJoined bounds the bytes that multiline joins: a longer string is worth two
// passes, which need no buffer.
const maxJoined = 64 << 10

// usualJoined is the size of most strings of several lines.
const usualJoined = 256

// multiline reads the value of a keyword in one pass if it has the form of almost
// all values: one blank after the keyword, strings that end their lines and begin
// the next ones, no escapes except those of one letter. Else it reads nothing.
func (p *parser) multiline() (string, bool) {
	text, i := p.text, p.pos
	if i+2 >= len(text) || text[i] != ' ' || text[i+1] != '"' {
		return "", false
	}
	i += 2
	var (
		start, end = i, i // of the first string that is not empty, until one joins it
		joins      bool   // out has the value, not text[start:end]
		out        []byte
		line       = p.line
		more       = p.nextString()
	)
	for {
		run := i
		i = stringEnd(text, i)
		if i+2 >= len(text) {
			return "", false
		}
		switch {
		case run == i:
		case (joins || start != end) && len(out)+end-start+i-run > maxJoined:
			return "", false
		case joins:
			out = append(out, text[run:i]...)
		case start == end:
			start, end = run, i
		default:
			joins = true
			out = append(append(p.texts.reserve(usualJoined), text[start:end]...), text[run:i]...)
		}
		switch text[i] {
		case '\\':
			c := letterEscape[text[i+1]]
			if c == 0 || c == '"' && p.enc.enc != nil || len(out)+end-start > maxJoined {
				return "", false // a number, an error, perhaps a guard; or too long
			}
			if !joins {
				joins = true
				out = append(p.texts.reserve(usualJoined), text[start:end]...)
			}
			out = append(out, c)
			i += 2
			continue
		case '\n':
			return "", false
		}
		if text[i+1] != '\n' {
			return "", false
		}
		line++
		i += 2
		if i == len(text) || text[i] != more[0] || !strings.HasPrefix(text[i:], more) {
			break
		}
		i += len(more)
	}
	if !p.nextUsualLine(i, line) && !p.nextTokenLine(i, line) {
		return "", false
	}
	if !joins {
		return text[start:end], true
	}
	return p.texts.keep(out), true
}

// nextString returns the beginning of a line that continues a string, with the
// prefixes of the present line.
func (p *parser) nextString() string {
	switch {
	case p.obsolete && p.previous:
		return `#~| "`
	case p.obsolete:
		return `#~ "`
	case p.previous:
		return `#| "`
	}
	return `"`
}

// nextUsualLine moves to the start of the line after a string, or after an empty
// line, if it begins as most lines do: with a keyword, or a comment that is not a
// prefix. Else it does nothing and returns false.
func (p *parser) nextUsualLine(start, line int) bool {
	text, at := p.text, start
	if len(text)-at < 3 {
		return false
	}
	if text[at] == '\n' {
		at, line = at+1, line+1
	}
	switch text[at] {
	case 'm':
	case '#':
		if c := text[at+1]; c == '~' || c == '|' {
			return false
		}
	default:
		return false
	}
	p.tokenEnd = start - 1
	p.pos, p.line, p.lineStart = at, line, at
	p.obsolete, p.previous = false, false
	return true
}

// nextTokenLine moves to the next token after a string. If the string continues
// there, after blanks or a prefix, it does nothing and returns false.
func (p *parser) nextTokenLine(start, line int) bool {
	before := p.position
	p.tokenEnd = start - 1
	p.pos = start
	p.line = line
	p.lineStart = start
	p.obsolete, p.previous = false, false
	if p.skip(); p.pos < len(p.text) && p.text[p.pos] == '"' {
		p.position = before
		return false
	}
	return true
}

// letterEscape has the character for a backslash and a letter, quote or backslash,
// 0 for all other bytes.
var letterEscape = [256]byte{
	'\\': '\\', '"': '"', 'n': '\n', 't': '\t', 'r': '\r',
	'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v',
}
