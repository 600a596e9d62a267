package checks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// text skips text up to a brace, a tag, or # in a plural. In the style of an
// argument, an apostrophe always begins a quotation.
func (p *icuParser) text(plural, style bool) {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '{', c == '}', plural && c == '#', c == '<' && p.opensTag():
			return
		case c == '\'':
			p.quoted(plural, style)
		default:
			p.i++
		}
	}
}

// quoted skips an apostrophe. If a character follows that is not text, it skips
// the quotation as well: up to the next apostrophe that is not doubled, or the end.
func (p *icuParser) quoted(plural, style bool) {
	p.i++
	if p.i == len(p.s) {
		return
	}
	switch c := p.s[p.i]; {
	case c == '\'':
		p.i++
		return
	case style, c == '{', c == '}', plural && c == '#', c == '<' && p.flags.tags():
	default:
		return
	}
	for {
		n := strings.IndexByte(p.s[p.i:], '\'')
		if n < 0 {
			p.i = len(p.s)
			return
		}
		p.i += n + 1
		if !p.has("'") {
			return
		}
		p.i++
	}
}

// opensTag reports whether the < at the current position begins a tag.
func (p *icuParser) opensTag() bool {
	switch {
	case !p.flags.tags():
		return false
	case p.flags.has(icuStrictXML):
		return true
	}
	rest := strings.TrimPrefix(p.s[p.i+1:], "/")
	if p.flags.prefix != "" {
		return strings.HasPrefix(rest, p.flags.prefix)
	}
	return rest != "" && isLetter(rest[0])
}

// word skips blanks and reads a name, a type or a selector.
func (p *icuParser) word() string {
	p.blanks()
	return p.until("{},#'")
}

// tagName reads the name of a tag.
func (p *icuParser) tagName() string { return p.until("{},#'</>") }

// until reads up to a blank or one of the characters of marks.
func (p *icuParser) until(marks string) string {
	from := p.i
	for p.i < len(p.s) && strings.IndexByte(marks, p.s[p.i]) < 0 {
		c, n := utf8.DecodeRuneInString(p.s[p.i:])
		if icuBlank(c) {
			break
		}
		p.i += n
	}
	return p.s[from:p.i]
}

func (p *icuParser) blanks() {
	for p.i < len(p.s) {
		c, n := utf8.DecodeRuneInString(p.s[p.i:])
		if !icuBlank(c) {
			return
		}
		p.i += n
	}
}

// icuBlank reports whether c is white space or has no width.
func icuBlank(c rune) bool {
	return unicode.IsSpace(c) || c >= 0x200b && c <= 0x200d || c == 0x180e || c == 0x2060 || c == 0xfeff
}

// has reports whether text is next.
func (p *icuParser) has(text string) bool { return strings.HasPrefix(p.s[p.i:], text) }

// take skips blanks, and then a character if it is next.
func (p *icuParser) take(c byte) bool {
	p.blanks()
	if p.i == len(p.s) || p.s[p.i] != c {
		return false
	}
	p.i++
	return true
}
