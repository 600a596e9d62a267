package poparse

import (
	"slices"
	"strings"
)

// pending is the content of the comments before an entry.
type pending struct {
	line                               int // of the first comment, 0 without one
	fuzzy                              bool
	comments, extracted, refs, flagged []string
}

// listBuffers is the first memory of the lists of an entry; most lists fit.
type listBuffers struct{ comments, extracted, refs, flagged, strs [6]string }

func (r *listBuffers) pending() pending {
	return pending{
		comments:  r.comments[:0],
		extracted: r.extracted[:0],
		refs:      r.refs[:0],
		flagged:   r.flagged[:0],
	}
}

// moveTo gives the comments to an entry and resets them.
func (c *pending) moveTo(e *Entry, p *parser) {
	if c.line == 0 {
		return
	}
	e.Line = c.line
	e.Fuzzy = c.fuzzy
	if len(c.refs) > 0 {
		e.References = p.keepList(&c.refs)
	}
	if len(c.comments) > 0 {
		e.Comments = p.keepList(&c.comments)
	}
	if len(c.extracted) > 0 {
		e.Extracted = p.keepList(&c.extracted)
	}
	if len(c.flagged) > 0 {
		e.Flags = p.keepList(&c.flagged)
	}
	c.reset()
}

// reset drops the comments.
func (c *pending) reset() {
	c.line = 0
	c.fuzzy = false
	c.comments, c.extracted = c.comments[:0], c.extracted[:0]
	c.refs, c.flagged = c.refs[:0], c.flagged[:0]
}

// keep copies a list of the entry being read.
func (p *parser) keep(list []string) []string { return p.lists.copy(list) }

// keepList is keep for a list that may be huge: a huge one is not copied.
func (p *parser) keepList(list *[]string) []string {
	n := len(*list)
	if n <= maxBlock {
		return p.keep(*list)
	}
	kept := (*list)[:n:n]
	*list = nil
	return kept
}

// comment reads the comment at the position up to the end of its line. Its
// second character tells its kind (gettext manual, section "The Format of PO
// Files").
func (p *parser) comment() {
	rest := p.text[p.pos+1:]
	if nl := strings.IndexByte(rest, '\n'); nl >= 0 {
		rest = rest[:nl]
	}
	c := &p.pending
	if c.line == 0 {
		c.line = p.line
		p.record.begin(p)
	}
	start := p.pos + 1
	p.pos += 1 + len(rest)
	p.tokenEnd = p.pos
	if p.previous && p.pos < len(p.text) {
		// "#|# note": for gettext's lexer, the line end belongs to the comment,
		// so the next line, too, is a previous one, though not an obsolete one.
		p.pos++
		p.line++
		p.lineStart = p.pos
		p.obsolete = false
		p.record.joinNextLine()
	}
	rest = strings.TrimRight(rest, "\r")
	kind := byte(0)
	if len(rest) > 0 {
		kind = rest[0]
	}
	switch kind {
	case '.':
		p.add(&c.extracted, strings.TrimPrefix(rest[1:], " "))
	case ':':
		p.references(rest[1:])
	case ',', '=':
		p.flags(rest[1:])
	case '!':
		// An old marker; gettext still looks for flags here.
		c.fuzzy = c.fuzzy || slices.ContainsFunc(strings.FieldsFunc(rest[1:], isFlagSpace), isFuzzy)
		p.add(&c.comments, p.text[start:start+len(rest)])
	default:
		p.add(&c.comments, strings.TrimPrefix(rest, " "))
	}
}

// add appends to a list of the entry being read. An element costs 16 bytes even
// if it is empty, so a hostile file could multiply its size. Elements beyond
// 65,536 and one for 32 bytes of text, more than any real file has, are left out.
func (p *parser) add(list *[]string, s string) {
	const free = 1 << 16
	left := free + len(p.text)/32 - p.items
	p.items++
	if left <= 0 {
		if !p.tooMany {
			p.tooMany = true
			p.warn(p.line, 1, WarnTooMany, "more comments, references and flags than a file of this size can have: the rest is left out")
		}
		return
	}
	if n := len(*list); n == cap(*list) && n >= maxBlock {
		// Double it, up to the elements that may still come: append would
		// allocate five times the size of a huge list in all.
		grown := make([]string, n, n+min(n, left))
		copy(grown, *list)
		*list = grown
	}
	*list = append(*list, s)
}

// The isolates around file names with blanks, written since gettext 0.19.
const (
	firstStrongIsolate    = "\u2068"
	popDirectionalIsolate = "\u2069"
)

// references splits a "#:" line at blanks outside of isolates.
func (p *parser) references(s string) {
	closed := true // there may be an isolate that is closed
	for {
		i := 0
		for i < len(s) && isBlank(s[i]) {
			i++
		}
		if s = s[i:]; s == "" {
			return
		}
		end := wordEnd(s, 0)
		isolated := false
		for end < len(s) && !isBlank(s[end]) {
			if s[end] == firstStrongIsolate[0] && closed && strings.HasPrefix(s[end:], firstStrongIsolate) {
				n := strings.Index(s[end:], popDirectionalIsolate)
				if closed = n >= 0; closed {
					isolated = true
					end += n + len(popDirectionalIsolate) - 1
				}
			}
			end = wordEnd(s, end+1)
		}
		ref := s[:end]
		if isolated {
			ref = strings.NewReplacer(firstStrongIsolate, "", popDirectionalIsolate, "").Replace(ref)
		}
		p.add(&p.pending.refs, ref)
		s = s[end:]
	}
}

// blanks are those of isBlank.
const blanks = " \t\r\f\v"

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' }

// flags splits a "#," line at commas and blanks, as gettext does
// (po_parse_comment_special). A number after a name and colon ("range: 0..5") and
// a text in quotes after a colon belong to the flag. See docs/po.md#flags.
func (p *parser) flags(s string) {
	c := &p.pending
	for {
		i := 0
		for i < len(s) && (isBlank(s[i]) || s[i] == ',') {
			i++
		}
		if s = s[i:]; s == "" {
			return
		}
		end := flagEnd(s)
		flag := s[:end]
		s = s[end:]
		switch {
		case isFuzzy(flag):
			c.fuzzy = true
		case len(c.flagged) < 32 && slices.Contains(c.flagged, flag):
			// Repeated. No real entry has more than 32 flags; beyond them
			// repetitions are kept, as comparing all would take too long.
		default:
			p.add(&c.flagged, flag)
		}
	}
}

func flagEnd(s string) int {
	i := 0
	for i < len(s) && !isBlank(s[i]) && s[i] != ',' {
		if s[i] != ':' {
			i++
			continue
		}
		i++
		number := i
		for number < len(s) && s[number] == ' ' {
			number++
		}
		if number < len(s) && isDigit(s[number]) {
			i = number
		}
		if strings.HasPrefix(s[i:], `r"`) { // a regular expression
			i++
		}
		if i < len(s) && s[i] == '"' {
			if n := closingQuote(s, i+1); n < len(s) {
				i = n + 1
			}
		}
	}
	return i
}

func isFuzzy(flag string) bool { return flag == "fuzzy" }

func isFlagSpace(r rune) bool { return r == ',' || r < 0x80 && isBlank(byte(r)) }
