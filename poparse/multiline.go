package poparse

import "strings"

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
