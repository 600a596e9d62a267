package checks

import (
	"unicode"
	"unicode/utf8"
)

// digits returns the position after the digits at byte i.
func digits(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

// starts fails at the first characters.
func starts(s, t string) hit {
	_, a := utf8.DecodeRuneInString(s)
	_, b := utf8.DecodeRuneInString(t)
	return hit{failed: true, source: Span{0, a}, target: Span{0, b}}
}

// ends fails at the last characters.
func ends(s, t string) hit {
	_, a := utf8.DecodeLastRuneInString(s)
	_, b := utf8.DecodeLastRuneInString(t)
	return hit{failed: true, source: Span{len(s) - a, len(s)}, target: Span{len(t) - b, len(t)}}
}

// wordRune reports whether c is a letter, a number or an underscore.
func wordRune(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsNumber(c) }

// last returns the last character of s.
func last(s string) rune {
	c, _ := utf8.DecodeLastRuneInString(s)
	return c
}

// entity returns the length of the HTML entity that s begins with, or 0.
func entity(s string) int {
	if len(s) < 3 || s[0] != '&' {
		return 0
	}
	i := 1
	if s[i] == '#' {
		i++
	}
	from := i
	for i < len(s) && (isLetter(s[i]) || isDigit(s[i])) {
		i++
	}
	if i == from || i == len(s) || s[i] != ';' {
		return 0
	}
	return i + 1
}
