package poparse

import (
	"math"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// pageWidth is the number of columns that gettext's programs fill.
const pageWidth = 79

// columns returns how many columns of a terminal a character takes; 0 for
// control characters, which gettext does not count.
func columns(r rune, asian bool) int {
	switch {
	case r < 0x20 || 0x7F <= r && r < 0xA0:
		return 0
	case r < 0x80:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || 0x1160 <= r && r <= 0x11FF || 0xD7B0 <= r && r <= 0xD7FF:
		return 0
	case 0x2E80 <= r && r <= 0xA4CF && r != 0x303F && (r < 0x4DC0 || r > 0x4DFF) || 0xFE10 <= r && r <= 0xFE6F:
		return 2 // blocks that are wide as a whole, unassigned characters included
	case asian && r >= 0xA1 && r < 0xFF61 && r != 0x20A9:
		return 2
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// wrapper writes keywords with their strings as gettext's write-po.c does: a
// new line behind each line feed, and where the page is full.
type wrapper struct {
	out    *strings.Builder
	nl     string // line end of the file
	prefix string // "", "#| ", "#~ " or "#~| "
	asian  bool   // the charset is an East Asian one of old: ambiguous widths are 2
	// noWrap breaks at line feeds only; format says that the strings have
	// directives, which are not broken.
	noWrap, format bool

	text   []rune
	breaks []bool
	fixed  []bool // no break before this character
}

// write writes one keyword and its string.
func (w *wrapper) write(keyword, value string) {
	first := true
	for {
		portion, rest, more := strings.Cut(value, "\n")
		w.escape(portion, more)
		limit := pageWidth - 1 - len(w.prefix) - 1
		if w.noWrap {
			limit = math.MaxInt
		}
		start := len(keyword) + 1
		if first && (rest != "" || w.fill(limit, start) || start > limit) && len(w.text) > 0 {
			w.out.WriteString(w.prefix + keyword + " \"\"" + w.nl)
			first = false
		}
		if !first {
			w.fill(limit, 0)
		}
		w.out.WriteString(w.prefix)
		if first {
			w.out.WriteString(keyword + " ")
			first = false
		}
		w.out.WriteByte('"')
		for i, r := range w.text {
			if w.breaks[i] {
				w.out.WriteString("\"" + w.nl + w.prefix + "\"")
			}
			w.out.WriteRune(r)
		}
		w.out.WriteString("\"" + w.nl)
		if rest == "" {
			return
		}
		value = rest
	}
}

// escape fills text and fixed with the escaped form of a portion.
func (w *wrapper) escape(portion string, lineFeed bool) {
	w.text, w.fixed = w.text[:0], w.fixed[:0]
	directive := 0 // up to where a directive goes
	for i, r := range portion {
		inside := i < directive
		if w.format && !inside {
			directive = i + directiveLen(portion[i:])
		}
		e := rune(0)
		switch r {
		case '\a':
			e = 'a'
		case '\b':
			e = 'b'
		case '\f':
			e = 'f'
		case '\r':
			e = 'r'
		case '\t':
			e = 't'
		case '\v':
			e = 'v'
		case '\\', '"':
			e = r
		default:
			w.text, w.fixed = append(w.text, r), append(w.fixed, inside)
			continue
		}
		w.text, w.fixed = append(w.text, '\\', e), append(w.fixed, inside, true)
	}
	if lineFeed {
		w.text, w.fixed = append(w.text, '\\', 'n'), append(w.fixed, true, true)
	}
}

// directiveLen returns the length of the printf directive that s begins with,
// also Python's "%(name)s", or 0.
func directiveLen(s string) int {
	if s[0] != '%' {
		return 0
	}
	i := 1
	if i < len(s) && s[i] == '(' {
		n := strings.IndexByte(s, ')')
		if n < 0 {
			return 0
		}
		i = n + 1
	}
	for i < len(s) && strings.IndexByte("0123456789$*.#-+ 'IhlLqjzt", s[i]) >= 0 {
		i++
	}
	if i < len(s) && isLetter(s[i]) {
		return i + 1
	}
	return 0
}

// fill sets breaks so that each line has at most limit columns, the first one
// less start of them, and reports whether there are any.
func (w *wrapper) fill(limit, start int) bool {
	for len(w.breaks) < len(w.text) {
		w.breaks = append(w.breaks, false)
	}
	w.breaks = w.breaks[:len(w.text)]
	lineBreaks(w.text, w.asian, w.breaks)
	any := false
	last, column, piece := -1, start, 0 // the last opportunity, columns before and since it
	end := func(at int) {
		if last >= 0 && column+piece > limit {
			w.breaks[last] = true
			any = true
			column = 0
		}
		last = at
		column += piece
		piece = 0
	}
	for i, r := range w.text {
		possible := w.breaks[i] && !w.fixed[i]
		w.breaks[i] = false
		if possible {
			end(i)
		}
		piece += columns(r, w.asian)
	}
	end(-1)
	return any
}
