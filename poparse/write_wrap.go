package poparse

import (
	"math"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/poparse/linebreak"
)

// pageWidth is the number of columns that gettext's programs fill.
const pageWidth = 79

// wrapper writes keywords with their strings as gettext's write-po.c does: a
// new line after each line feed, and where the page is full. Its style may differ from
// gettext's.
type wrapper struct {
	style
	out    *strings.Builder
	nl     string // line end of the file
	prefix string // "", "#| ", "#~ " or "#~| "
	// noWrap breaks at line feeds only; format says that the strings have format
	// directives, which are not broken.
	noWrap, format bool

	text   linebreak.Text // a portion of a string, escaped
	breaks []bool         // a line begins at this character of text
}

// write writes one keyword and its string. Without a keyword it writes the lines of
// a string that follow others.
func (w *wrapper) write(keyword, value string) {
	first := keyword != ""
	for {
		portion, rest, more := strings.Cut(value, "\n")
		if w.joined {
			portion, rest, more = value, "", false
		}
		w.escape(portion, more)
		limit := w.width - 1 - len(w.prefix) - 1
		if w.noWrap || w.width == 0 {
			limit = math.MaxInt
		}
		start := len(keyword) + 1
		if first && (rest != "" || w.fill(start, limit) || start > limit) && len(w.text.Runes) > 0 {
			w.out.WriteString(w.prefix + keyword + " \"\"" + w.nl)
			first = false
		}
		if !first {
			w.fill(0, limit)
		}
		w.out.WriteString(w.prefix)
		if first {
			w.out.WriteString(keyword + " ")
			first = false
		}
		w.out.WriteByte('"')
		for i, r := range w.text.Runes {
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

// escape fills text with the escaped form of a portion.
func (w *wrapper) escape(portion string, lineFeed bool) {
	text, fixed := w.text.Runes[:0], w.text.Fixed[:0]
	directive := 0 // end of the last directive
	for i, r := range portion {
		inside := i < directive
		if w.format && !inside {
			directive = i + directiveLen(portion[i:])
		}
		e := rune(0)
		switch r {
		case '\n': // in a joined string
			e = 'n'
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
			text, fixed = append(text, r), append(fixed, inside)
			continue
		}
		text, fixed = append(text, '\\', e), append(fixed, inside, true)
	}
	if lineFeed {
		text, fixed = append(text, '\\', 'n'), append(fixed, true, true)
	}
	w.text.Runes, w.text.Fixed = text, fixed
}

// directiveLen returns the length of the printf directive at the start of s, or 0.
// Python's "%(name)s" is one, too.
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

// fill sets breaks so that each line of text has at most limit columns, with
// the first one beginning at column start, and reports whether there are any.
func (w *wrapper) fill(start, limit int) bool {
	w.breaks = slices.Grow(w.breaks[:0], len(w.text.Runes))[:len(w.text.Runes)]
	if limit == math.MaxInt || start+2*len(w.text.Runes) <= limit { // no character has more than two columns
		clear(w.breaks)
		return false
	}
	return w.text.Wrap(start, limit, w.breaks)
}
