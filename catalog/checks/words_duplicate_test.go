package checks

import (
	"strings"
	"testing"
	"unicode"
)

// TestSeparates compares the bits with the rule, character by character.
func TestSeparates(t *testing.T) {
	for c := range rune(unicode.MaxRune + 1) {
		want := unicode.IsSpace(c) || unicode.In(c, unicode.Cc, unicode.Ps, unicode.Sk, unicode.Po) || c == ']'
		if strings.ContainsRune(",.:;·", c) {
			want = false
		}
		if got := separates(c); got != want {
			t.Errorf("%U %c: %v, want %v", c, c, got, want)
		}
	}
}
