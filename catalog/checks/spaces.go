package checks

import (
	"strings"
	"unicode/utf8"
)

// short reports strings that the checks of blanks leave alone.
func short(s, t string) bool {
	return utf8.RuneCountInString(s) <= 1 && utf8.RuneCountInString(t) <= 1
}

func beginNewline(_ *run, s, t string) hit {
	if s == "" || t == "" || (s[0] == '\n') == (t[0] == '\n') {
		return hit{}
	}
	return starts(s, t)
}

func endNewline(_ *run, s, t string) hit {
	if s == "" || t == "" || (s[len(s)-1] == '\n') == (t[len(t)-1] == '\n') {
		return hit{}
	}
	return ends(s, t)
}

func beginSpace(_ *run, s, t string) hit {
	a, b := leading(s), leading(t)
	if a == b || b == len(t) || short(s, t) {
		return hit{}
	}
	return hit{true, Span{0, a}, Span{0, b}}
}

func endSpace(_ *run, s, t string) hit {
	if s == "" || t == "" || short(s, t) {
		return hit{}
	}
	a, b := len(strings.TrimRight(s, " ")), len(strings.TrimRight(t, " "))
	if b == 0 || len(s)-a == len(t)-b {
		return hit{}
	}
	return hit{true, Span{a, len(s)}, Span{b, len(t)}}
}

func leading(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

func doubleSpace(_ *run, s, t string) hit {
	i := strings.Index(t, "  ")
	if i < 0 || s == "" || short(s, t) || strings.Contains(s, "  ") {
		return hit{}
	}
	return hit{true, Span{}, Span{i, i + 2}}
}

func newlineCount(_ *run, s, t string) hit {
	if s == "" || t == "" || strings.Count(s, "\n") == strings.Count(t, "\n") {
		return hit{}
	}
	return hit{true, Span{0, len(s)}, Span{0, len(t)}}
}

func zeroWidthSpace(r *run, s, t string) hit {
	i := strings.Index(t, "\u200b")
	if i < 0 || r.set.base == "km" || strings.Contains(s, "\u200b") {
		return hit{}
	}
	return hit{true, Span{}, Span{i, i + len("\u200b")}}
}

func kashida(_ *run, _, t string) hit {
	previous := rune(0)
	for i, c := range t {
		if c >= 0x640 && isKashida(c) && previous != 0x628 && previous != 0x643 && previous != 0x644 {
			return hit{true, Span{}, Span{i, i + utf8.RuneLen(c)}}
		}
		previous = c
	}
	return hit{}
}

func isKashida(c rune) bool {
	switch c {
	case 0x640, 0xfcf2, 0xfcf3, 0xfcf4, 0xfe71, 0xfe77, 0xfe79, 0xfe7b, 0xfe7d, 0xfe7f:
		return true
	}
	return false
}

// escapedNewline counts backslash n outside of Windows paths.
func escapedNewline(_ *run, s, t string) hit {
	if s == "" || t == "" || countEscaped(s) == countEscaped(t) {
		return hit{}
	}
	return hit{true, Span{0, len(s)}, Span{0, len(t)}}
}

func countEscaped(s string) int {
	n := 0
	for i := strings.IndexByte(s, '\\'); i >= 0 && i < len(s); {
		if i >= 2 && s[i-1] == ':' && isLetter(s[i-2]) {
			for i < len(s) && (s[i] == '\\' || isWord(s[i])) {
				i++ // a path: its backslashes part names
			}
		} else {
			if i+1 < len(s) && s[i+1] == 'n' {
				n++
			}
			i++
		}
		next := strings.IndexByte(s[min(i, len(s)):], '\\')
		if next < 0 {
			break
		}
		i += next
	}
	return n
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) || c == '_' }

func starts(s, t string) hit {
	_, a := utf8.DecodeRuneInString(s)
	_, b := utf8.DecodeRuneInString(t)
	return hit{true, Span{0, a}, Span{0, b}}
}

func ends(s, t string) hit {
	_, a := utf8.DecodeLastRuneInString(s)
	_, b := utf8.DecodeLastRuneInString(t)
	return hit{true, Span{len(s) - a, len(s)}, Span{len(t) - b, len(t)}}
}
