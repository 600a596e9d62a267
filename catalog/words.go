package catalog

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unusedSingular is the start of the first form of a plural whose singular cannot
// occur; Weblate does not count such a form.
const unusedSingular = "<unused singular"

// CountText returns CountWords and CountChars in one pass.
func CountText(source string, cjk bool) (words, chars int) {
	if !HasForms(source) && !strings.HasPrefix(source, unusedSingular) { // as in most
		return countForm(source, cjk)
	}
	for form := range strings.SplitSeq(source, FormSeparator) {
		if !strings.HasPrefix(form, unusedSingular) {
			n, _ := countForm(form, cjk)
			words += n
		}
	}
	return words, CountChars(source)
}

// CountWords returns the number of words of a source, summed over the plural forms: runs
// of characters that Python does not call white space (docs/compatibility.md#words).
// With cjk, for the source languages Japanese, Chinese and Korean, every CJK code
// point is a word and separates words.
func CountWords(source string, cjk bool) int {
	words, _ := CountText(source, cjk)
	return words
}

// countForm looks at eight bytes at a time while they are ASCII, and counts words by
// the bits of their first letters.
func countForm(form string, cjk bool) (words, chars int) {
	inWord := false
	for i := 0; i < len(form); {
		if len(form) >= 8 {
			var x uint64
			if i+8 <= len(form) {
				x = Load8(form[i:])
			} else {
				x = load8OrSpaces(form, i)
			}
			if x&highBits == 0 {
				spaces := spaceBits(x)
				before := spaces << 8
				if !inWord {
					before |= 0x80
				}
				words += bits.OnesCount64(before &^ spaces)
				inWord = spaces>>63 == 0
				chars += min(8, len(form)-i)
				i += 8
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(form[i:])
		i += n
		chars++
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
	return words, chars
}

const highBits = 0x8080808080808080

// Load8 returns the first eight bytes of s, the first one lowest.
func Load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// load8OrSpaces returns the eight bytes of s at i, with blanks after its end. s has
// at least eight bytes.
func load8OrSpaces(s string, i int) uint64 {
	rest := len(s) - i
	if rest >= 8 {
		return Load8(s[i:])
	}
	const blanks = 0x2020202020202020
	return Load8(s[len(s)-8:])>>(64-8*rest) | blanks<<(8*rest)
}

// spaceBits returns the high bit of each of eight ASCII bytes that isSpace. Adding
// 0x80-n sets that bit in bytes that are n or more.
func spaceBits(x uint64) uint64 {
	const each = 0x0101010101010101
	if controls := ^(x + (0x80-' ')*each) & highBits; controls == 0 { // as in most
		return ^(x + (0x80-' '-1)*each) & highBits
	}
	tabs := (x + (0x80-'\t')*each) &^ (x + (0x80-'\r'-1)*each)
	blanks := (x + (0x80-0x1c)*each) &^ (x + (0x80-' '-1)*each)
	return (tabs | blanks) & highBits
}

// CountChars returns the number of code points of a source, separators of
// plural forms included (docs/compatibility.md#words).
func CountChars(source string) int {
	ascii := 0
	for rest := source; len(rest) >= 8 && Load8(rest)&highBits == 0; rest = rest[8:] {
		ascii += 8
	}
	return ascii + utf8.RuneCountInString(source[ascii:])
}

// isSpace is Unicode white space with the four separators U+001C to U+001F,
// which unicode.IsSpace lacks.
func isSpace(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || '\t' <= r && r <= '\r' || 0x1c <= r && r <= 0x1f
	}
	return unicode.IsSpace(r)
}

// isCJK reports whether r is in one of Weblate's CJK ranges.
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

// Clip shortens a text of more than most characters to these and "…".
func Clip(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// Fit shortens a text of more than most characters to as many, the last one of which is "…".
func Fit(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return Clip(s, most-1)
}

// FormSeparator separates the plural forms of a source or target that is kept as one
// string: two U+001E characters, as in Weblate (docs/compatibility.md#hashes).
const FormSeparator = "\x1e\x1e"

// JoinForms joins plural forms to one string.
func JoinForms(forms []string) string {
	if len(forms) == 1 {
		return forms[0]
	}
	return strings.Join(forms, FormSeparator)
}

// SplitForms is the inverse of JoinForms. It never returns an empty slice: the
// empty string is one empty form.
func SplitForms(s string) []string { return strings.Split(s, FormSeparator) }

// FirstForm returns the first of the forms that are joined in s.
func FirstForm(s string) string {
	first, _, _ := strings.Cut(s, FormSeparator)
	return first
}

// TargetForms returns the forms of a target as the API shows them: exactly
// number forms, padded with "" or cut, if the source is a plural or the target
// has several forms, else the one form (docs/compatibility.md#plurals). A number
// below 1 counts as 1.
func TargetForms(source, target string, number int) []string {
	if !strings.Contains(source, FormSeparator) && !strings.Contains(target, FormSeparator) {
		return []string{target}
	}
	forms := make([]string, max(number, 1))
	copy(forms, SplitForms(target))
	return forms
}

// PadForms returns the forms of TargetForms as one string.
func PadForms(source, target string, number int) string {
	if !HasForms(target) && !HasForms(source) {
		return target // most strings have no plural
	}
	forms := strings.Count(target, FormSeparator) + 1
	if forms == max(number, 1) || forms == 1 && !strings.Contains(source, FormSeparator) {
		return target
	}
	return JoinForms(TargetForms(source, target, number))
}

// HasForms reports whether a text may have several forms: it has half of a separator.
func HasForms(s string) bool { return strings.IndexByte(s, FormSeparator[0]) >= 0 }

// EmptyForms reports whether every form of a target is empty.
func EmptyForms(target string) bool { return TrimForms(target) == "" }

// TrimForms drops trailing empty forms, so that a target is the same whether a file
// has its last empty msgstr[] or not.
func TrimForms(target string) string {
	for strings.HasSuffix(target, FormSeparator) {
		target = strings.TrimSuffix(target, FormSeparator)
	}
	return target
}

// FormsOf is the number of forms that a translation of a source has, in a language of a
// number of them.
func FormsOf(source string, number int) int {
	if HasForms(source) {
		return max(number, 1)
	}
	return 1
}
