package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unusedSingular begins the first form of a plural whose singular cannot
// occur; such a form is not counted (weblate-facts §3).
const unusedSingular = "<unused singular"

// CountWords returns the number of words of a source, all plural forms summed
// (decision 14): runs of characters that are not white space in the sense of
// weblate-facts §3. With cjk, for source languages Japanese, Chinese and
// Korean, every CJK code point counts one and separates words.
func CountWords(source string, cjk bool) int {
	words := 0
	for form := range strings.SplitSeq(source, FormSeparator) {
		if !strings.HasPrefix(form, unusedSingular) {
			words += countForm(form, cjk)
		}
	}
	return words
}

func countForm(form string, cjk bool) int {
	words, inWord := 0, false
	for _, r := range form {
		switch {
		case isSpace(r):
			inWord = false
		case cjk && isCJK(r):
			words++
			inWord = false
		case !inWord:
			words++
			inWord = true
		}
	}
	return words
}

// CountChars returns the number of code points of a source, separators of
// plural forms included (weblate-facts §3).
func CountChars(source string) int { return utf8.RuneCountInString(source) }

// isSpace is Unicode white space with the four separators U+001C to U+001F,
// which unicode.IsSpace lacks.
func isSpace(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || '\t' <= r && r <= '\r' || 0x1c <= r && r <= 0x1f
	}
	return unicode.IsSpace(r)
}

// isCJK holds the ranges of weblate-facts §3.
func isCJK(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r <= 0x11FF,
		0x2E80 <= r && r <= 0x2FDF,
		0x2FF0 <= r && r <= 0x9FFF,
		0xA960 <= r && r <= 0xA97F,
		0xAC00 <= r && r <= 0xD7FF,
		0xF900 <= r && r <= 0xFAFF,
		0xFE30 <= r && r <= 0xFE4F,
		0xFF00 <= r && r <= 0xFFEF,
		0x1AFF0 <= r && r <= 0x1B16F,
		0x1F200 <= r && r <= 0x1F2FF,
		0x20000 <= r && r <= 0x3FFFF:
		return true
	}
	return false
}
