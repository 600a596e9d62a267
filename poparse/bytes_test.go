package poparse

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestFirstInvalid compares with utf8.DecodeRune, on texts of pieces that are valid,
// invalid, and almost invalid.
func TestFirstInvalid(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"a", "eight ch", "a run of ASCII that is longer than four words", "\x7f", "\x80", "\xc1\xbf", "\xc2\x80", "\xdf\xbf", "\xc2", "\xe0\x9f\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
		"\xed\xa0\x80", "\xee\x80\x80", "\xef\xbf\xbf", "\xe2\x80", "\xf0\x8f\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
		"\xf4\x90\x80\x80", "\xf5", "\x00", "\x1f", " ", "\n\t", "ž", "漢", "\xff",
	})
	rapid.Check(t, func(t *rapid.T) {
		s := []byte(strings.Join(rapid.SliceOf(pieces).Draw(t, "text"), ""))
		want := -1
		for i := 0; i < len(s) && want < 0; {
			r, n := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && n == 1 {
				want = i
			}
			i += n
		}
		if got := firstInvalid(s); got != want {
			t.Fatalf("firstInvalid(%q) = %d, want %d", s, got, want)
		}
		high := bytes.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
		if got := firstHigh(s); got != high {
			t.Fatalf("firstHigh(%q) = %d, want %d", s, got, high)
		}
	})
}

// TestEnds compares stringEnd and wordEnd with a search of single bytes.
func TestEnds(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"a", "seven!!", "\"", "\\", "\n", "\r", " ", "!", "#", "\x1f", "\x7f", "\x80", "\xff", "ž", "\v", "]", "\x0b", "\t"})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(pieces).Draw(t, "text"), "")
		from := rapid.IntRange(0, len(s)).Draw(t, "from")
		search := func(stop func(c byte) bool) int {
			for i := from; i < len(s); i++ {
				if stop(s[i]) {
					return i
				}
			}
			return len(s)
		}
		if got, want := stringEnd(s, from), search(func(c byte) bool { return c == '"' || c == '\\' || c == '\n' }); got != want {
			t.Fatalf("stringEnd(%q, %d) = %d, want %d", s, from, got, want)
		}
		if got, want := wordEnd(s, from), search(func(c byte) bool { return c <= ' ' || c >= utf8.RuneSelf }); got != want {
			t.Fatalf("wordEnd(%q, %d) = %d, want %d", s, from, got, want)
		}
	})
}
