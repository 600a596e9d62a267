package catalog

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzCountWords compares the counting of words and characters by eight bytes
// with one by characters.
func FuzzCountWords(f *testing.F) {
	f.Add("One two\tthree", false)
	f.Add("a\x1cb\x1fc\x1b\x20\x21 \x0e", false)
	f.Add("日本 語 text\u00a0more words", true)
	f.Add("12345678 2345678 \x00\x7f\x80\xff end of it", false)
	f.Fuzz(func(t *testing.T, s string, cjk bool) {
		want, inWord := 0, false
		for _, r := range s {
			switch {
			case unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f:
				inWord = false
			case cjk && isCJK(r):
				want++
				inWord = false
			case !inWord:
				want++
				inWord = true
			}
		}
		chars := utf8.RuneCountInString(s)
		if got, n := countForm(s, cjk); got != want || n != chars {
			t.Errorf("countForm(%q, %t) = %d, %d, want %d, %d", s, cjk, got, n, want, chars)
		}
		if w, n := CountText(s, cjk); w != CountWords(s, cjk) || n != chars {
			t.Errorf("CountText(%q, %t) = %d, %d, want %d, %d", s, cjk, w, n, CountWords(s, cjk), chars)
		}
		if got := CountChars(s); got != chars {
			t.Errorf("CountChars(%q) = %d", s, got)
		}
	})
}

func TestCountWords(t *testing.T) {
	for _, c := range []struct {
		source     string
		plain, cjk int
	}{
		{"", 0, 0},
		{"Hello, world!\n", 2, 2},
		{"a-b c_d", 2, 2},
		{"Orangutan has %d banana.\n\x1e\x1eOrangutan has %d bananas.\n", 8, 8},
		{"<unused singular (hash=ab)>\x1e\x1e%d files left", 3, 3},
		{"one\u00a0two\u3000three\u200bfour", 3, 3},
		{"a\x1cb\x1fc", 3, 3},
		{"日本語 test テスト", 3, 7},
		{"日本語、テスト。abc", 1, 9},
		{"한국어 문장", 2, 5},
	} {
		if got := CountWords(c.source, false); got != c.plain {
			t.Errorf("CountWords(%q, false) = %d, want %d", c.source, got, c.plain)
		}
		if got := CountWords(c.source, true); got != c.cjk {
			t.Errorf("CountWords(%q, true) = %d, want %d", c.source, got, c.cjk)
		}
	}
}
