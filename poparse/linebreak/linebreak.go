// Package linebreak wraps text at the width of a page, as GNU gettext's
// programs wrap the strings of a PO file.
//
// Goal: the breaks of gettext 0.21, to the character. It uses libunistring 1.0
// (unilbrk/u8-width-linebreaks.c and unilbrk/u8-possible-linebreaks.c), which
// follows Unicode Standard Annex #14, "Unicode Line Breaking Algorithm", but
// not in one edition: it has no rule LB30 for wide brackets, and the classes
// are from Unicode 14.0.0.
//
// Non-goals: text with line feeds, languages that need a dictionary (Thai, Lao,
// Khmer), later editions of the annex.
//
// See https://www.unicode.org/reports/tr14/ and
// https://git.savannah.gnu.org/gitweb/?p=libunistring.git;a=tree;f=lib/unilbrk.
package linebreak

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
}

// Wrap sets breaks[i] for each character that begins a new line and reports
// whether there are any. A line has at most limit columns if it can be broken
// so, and the first one begins at column start. The length of breaks is the
// length of t.Runes.
func (t Text) Wrap(start, limit int, breaks []bool) bool {
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
		possible := breaks[i] && !t.Fixed[i]
		breaks[i] = false
		if possible {
			end(i)
		}
		piece += columns(r, t.EastAsian)
	}
	end(-1)
	return any
}

// opportunities sets breaks[i] for each character that may begin a new line.
func (t Text) opportunities(breaks []bool) {
	if t.Blanks {
		for i, r := range t.Runes {
			breaks[i] = i > 0 && t.Runes[i-1] == ' ' && r != ' '
		}
		return
	}
	s := scanner{before: lbBK, last: lbBK}
	for i, r := range t.Runes {
		c := classOf(r, t.EastAsian)
		breaks[i] = s.next(r, c)
		s.hyphen = s.last == lbHL && (c == lbHY || c == lbBA)
		s.last = c
		if s.flags++; c != lbRI {
			s.flags = 0
		}
	}
}

// scanner is the state between two characters.
type scanner struct {
	before class // of the last character that is not a space or a mark
	last   class // of the last character
	space  bool  // there was a space after before
	hyphen bool  // the last character is a hyphen after a Hebrew letter
	flags  int   // number of regional indicators in a row
}

// next takes the character r of class c and reports whether a line may end
// before it.
func (s *scanner) next(r rune, c class) bool {
	switch c {
	case lbSP:
		s.space = true
		return false
	case lbBK, lbZW:
		s.before, s.space = c, false
		return false
	case lbCM, lbZWJ:
		may := s.before == lbZW || s.space && s.before != lbBK
		if may || s.before == lbBK {
			s.before, s.space = lbAL, false
		}
		return may
	}
	may := s.mayBreak(r, c)
	s.before, s.space = c, false
	return may
}

// mayBreak reports whether a line may end before a character that is neither a
// space nor a mark.
func (s *scanner) mayBreak(r rune, c class) bool {
	switch {
	case s.before == lbBK, s.last == lbZWJ, s.hyphen:
		return false
	case s.before == lbZW:
		return true
	case s.before == lbRI && c == lbRI:
		return s.space || s.flags%2 == 0
	case c == lbOP && (s.before == lbAL || s.before == lbHL || s.before == lbNU) && (columns(r, false) == 2 || r == 0xFF62):
		return true // LB30 does not hold for wide brackets
	}
	action := pairBreak(s.before, c)
	return action == breakDirect || action == breakAtSpace && s.space
}
