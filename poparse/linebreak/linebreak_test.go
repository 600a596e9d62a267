package linebreak

import (
	"strings"
	"testing"
)

// TestOpportunities lists texts with "|" wherever libunistring 1.0 would allow a
// line to end.
func TestOpportunities(t *testing.T) {
	for _, want := range []string{
		"ab |cd", "a-|b", "a/|b", "1/2", "1-2", "-1 |-2", "a |(b) |c", "a(b)c", "\"a\" |b", "a, |b", "a,|b", "50 |%", "50% |$5", "a……",
		"a|—|b", "a|——|b", "„a“ |b", "漢|字", "漢|字。|あ", "a|（漢）", "「あ」|い", "あー|い", "あぁ|い", "한|글", "한|글!", "e\u0301|漢", "a\u00a0b |c", "a\u200b|b",
		"\u05d0-\u05d1", "🇨🇿|🇸🇰", "☝\U0001f3fb|a", "ไทยไทย", "a\u2060b", "\u00b4a", "a\\n", "a |\u0301b", "%s|漢", "a…|b", "a;|b: |c",
	} {
		var text []rune
		marks := map[int]bool{}
		for _, r := range want {
			if r == '|' {
				marks[len(text)] = true
				continue
			}
			text = append(text, r)
		}
		breaks := make([]bool, len(text))
		(&Text{Runes: text}).opportunities(breaks)
		var got strings.Builder
		for i, r := range text {
			if breaks[i] {
				got.WriteByte('|')
			}
			got.WriteRune(r)
		}
		if got.String() != want {
			t.Errorf("got %s, want %s", got.String(), want)
		}
	}
}

// TestBlanks wraps a text after blanks only.
func TestBlanks(t *testing.T) {
	text := []rune("a-b/c  漢字 d")
	breaks := make([]bool, len(text))
	if !(&Text{Runes: text, Fixed: make([]bool, len(text)), Blanks: true}).Wrap(0, 7, breaks) {
		t.Fatal("not wrapped")
	}
	got := ""
	for i, r := range text {
		if breaks[i] {
			got += "|"
		}
		got += string(r)
	}
	if want := "a-b/c  |漢字 d"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestColumns(t *testing.T) {
	for text, want := range map[string]int{
		"abc": 3, "žluť": 4, "漢字": 4, "한글": 4, "e\u0301": 1, "\u200b": 0, "\u00ad": 0, "\x1b": 0, "ｱ": 1, "Ａ": 2, "→": 1, "😀": 2, "䷀": 1, "\u0C95\u0CBF": 2, "\u0C95\u0CCD": 1,
	} {
		got := 0
		for _, r := range text {
			got += columns(r, false)
		}
		if got != want {
			t.Errorf("%q has %d columns, want %d", text, got, want)
		}
	}
	if got := columns('→', true); got != 2 {
		t.Errorf("an arrow has %d columns in legacy East Asian charsets, want 2", got)
	}
}
