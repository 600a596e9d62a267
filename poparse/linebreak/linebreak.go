// Package linebreak wraps text at the width of a page, as GNU gettext's
// programs wrap the strings of a PO file.
//
// Goal: the breaks of gettext 0.21 in real files. It uses libunistring 1.0
// (unilbrk/u8-width-linebreaks.c and unilbrk/u8-possible-linebreaks.c), which
// follows Unicode Standard Annex #14, "Unicode Line Breaking Algorithm", but not in
// one edition. Here uniseg has the algorithm, and mayBreak what libunistring does
// otherwise.
//
// Non-goals: text with line feeds, languages that need a dictionary (Thai, Lao,
// Khmer), the classes of characters that came after Unicode 14.
//
// See https://www.unicode.org/reports/tr14/ and
// https://git.savannah.gnu.org/gitweb/?p=libunistring.git;a=tree;f=lib/unilbrk.
package linebreak

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/width"
)

// Text is a line to be wrapped.
type Text struct {
	// Runes are the characters.
	Runes []rune
	// Fixed forbids a break before the character of the same index. It is as
	// long as Runes.
	Fixed []bool
	// EastAsian says that the text's charset is a legacy East Asian one, where
	// characters of ambiguous width take two columns.
	EastAsian bool
	// Blanks breaks lines after blanks only, as programs do that know no Unicode
	// Line Breaking Algorithm.
	Blanks bool

	// known are where lines may end in texts that were wrapped before, and may be
	// again at another width.
	known map[string][]bool
}

// maxKnown bounds the texts that are remembered, maxKnownBytes the length of each.
const (
	maxKnown      = 1000
	maxKnownBytes = 4 << 10
)

// Wrap sets breaks[i] for each character that begins a new line and reports
// whether there are any. A line has at most limit columns if it can be broken
// so, and the first one begins at column start. The length of breaks is the
// length of t.Runes.
func (t *Text) Wrap(start, limit int, breaks []bool) bool {
	t.opportunities(breaks)
	any := false
	last, column, piece := -1, start, 0 // the last opportunity, columns before and since it
	end := func(at int) {
		if last >= 0 && column+piece > limit {
			breaks[last] = true
			any = true
			column = 0
		}
		last = at
		column += piece
		piece = 0
	}
	for i, r := range t.Runes {
		possible := breaks[i] && !t.Fixed[i] && (i == 0 || !separator(t.Runes[i-1]))
		breaks[i] = false
		if possible {
			end(i)
		}
		if piece += columns(r, t.EastAsian); separator(r) {
			end(-1)
			column = 0
		}
	}
	end(-1)
	return any
}

// separator reports whether a line of the text ends after a character: columns are counted anew,
// and the string goes on.
func separator(r rune) bool { return r == '\u2028' || r == '\u2029' }

// opportunities sets breaks[i] for each character that may begin a new line.
func (t *Text) opportunities(breaks []bool) {
	if t.Blanks {
		for i, r := range t.Runes {
			breaks[i] = i > 0 && t.Runes[i-1] == ' ' && r != ' '
		}
		return
	}
	text := t.text()
	if known, ok := t.known[text]; ok {
		copy(breaks, known)
		return
	}
	clear(breaks)
	for i, segment, rest, state := 0, "", text, -1; rest != ""; {
		segment, rest, _, state = uniseg.FirstLineSegmentInString(rest, state)
		if i += utf8.RuneCountInString(segment); rest != "" {
			breaks[i] = true
		}
	}
	before, spaced := rune(0), false // the last character that is not a space or a mark
	for i, r := range t.Runes {
		switch {
		case r == ' ':
			spaced = true
		case !unicode.Is(unicode.M, r):
			breaks[i] = mayBreak(before, r, spaced, breaks[i])
			before, spaced = r, false
		}
	}
	if len(text) > maxKnownBytes {
		return
	}
	if t.known == nil || len(t.known) == maxKnown {
		t.known = map[string][]bool{}
	}
	t.known[text] = slices.Clone(breaks)
}

// text returns the text. In East Asian charsets, symbols of ambiguous width are like
// ideographs.
func (t *Text) text() string {
	if !t.EastAsian {
		return string(t.Runes)
	}
	return strings.Map(func(r rune) rune {
		if !affix(r) && unicode.In(r, unicode.So, unicode.Sm, unicode.No) && width.LookupRune(r).Kind() == width.EastAsianAmbiguous {
			return '一'
		}
		return r
	}, string(t.Runes))
}

// mayBreak reports whether a line may end between two characters, perhaps with spaces
// between them, if uniseg says that it may or not.
func mayBreak(before, r rune, spaced, may bool) bool {
	const infix = ",.:;" // class IS
	switch {
	case before == 0:
		return false
	case spaced:
		return may || r == '-' && !unicode.Is(unicode.Ps, before)
	case strings.ContainsRune(infix, before) && unicode.Is(unicode.Nd, r), before == '/' && unicode.Is(unicode.Nd, r):
		return false
	case strings.ContainsRune(infix, before): // no LB29
		return may || r != '|' && (unicode.In(r, unicode.L, unicode.S, unicode.Ps) || strings.ContainsRune(`#%&*@\_`, r))
	case affix(before) && unicode.Is(unicode.Ps, r):
		return false
	case affix(r) && (unicode.Is(unicode.Pe, before) || strings.ContainsRune("、。，．", before)):
		return false
	case affix(r) && before == '/':
		return true
	}
	return may
}

// affix reports whether r stands before or after numbers: the classes PR and PO.
func affix(r rune) bool {
	return unicode.Is(unicode.Sc, r) || strings.ContainsRune(`%\+±°‰№′″`, r)
}

// spacingMarks are the marks that libunistring counts as letters: those that are written from left
// to right, by their bidirectional class.
const spacingMarks = "\u0CBF\u0CC6\U00011A07\U00011A08\U00011C3F"

// columns returns the number of columns that a character takes in a terminal.
// For control characters that is 0, as in libunistring's uc_width.
func columns(r rune, eastAsian bool) int {
	switch {
	case r < 0x20 || 0x7F <= r && r < 0xA0:
		return 0
	case r < 0x80 || strings.ContainsRune(spacingMarks, r):
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || 0x1160 <= r && r <= 0x11FF || 0xD7B0 <= r && r <= 0xD7FF:
		return 0
	case 0x2E80 <= r && r <= 0xA4CF && r != 0x303F && (r < 0x4DC0 || r > 0x4DFF) || 0xFE10 <= r && r <= 0xFE6F:
		return 2 // blocks that are wide as a whole, unassigned characters included
	case eastAsian && r >= 0xA1 && r < 0xFF61 && r != 0x20A9:
		return 2
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
