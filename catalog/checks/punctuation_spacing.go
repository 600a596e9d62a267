package checks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// punctuationSpacing fails if high punctuation has no blank before it, in French and
// Breton.
func punctuationSpacing(r *run, _, t string) hit {
	base := r.set.base
	if base != "fr" && base != "br" || strings.EqualFold(r.set.code, "fr_CA") {
		return hit{}
	}
	previous := rune(-1)
	for i := 0; i < len(t); {
		if n := entity(t[i:]); n > 0 {
			previous = ' '
			i += n
			continue
		}
		c, n := utf8.DecodeRuneInString(t[i:])
		if isHigh(c) && (i == 0 || !spaced(previous) && !insideWord(t[i+n:])) {
			return hit{failed: true, target: Span{i, i + n}}
		}
		previous = c
		i += n
	}
	return hit{}
}

func isHigh(c rune) bool { return c == ';' || c == ':' || c == '?' || c == '!' }

func spaced(previous rune) bool {
	return previous == ' ' || previous == '\u00a0' || previous == '\u202f' || previous == '\u2009' || isHigh(previous)
}

// insideWord reports whether the text after a mark makes the mark a part of
// something else, such as a URL.
func insideWord(rest string) bool {
	if rest == "" || entity(rest) > 0 {
		return false
	}
	c, _ := utf8.DecodeRuneInString(rest)
	return !unicode.In(c, unicode.Zs, unicode.Ps, unicode.Pe)
}
