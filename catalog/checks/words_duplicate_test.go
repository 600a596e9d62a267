package checks

import (
	"strings"
	"testing"
	"unicode"
)

// TestParts holds the bits to the rule (facts §11.3), character by character.
func TestParts(t *testing.T) {
	for c := range rune(unicode.MaxRune + 1) {
		want := unicode.IsSpace(c) || unicode.In(c, unicode.Cc, unicode.Ps, unicode.Sk, unicode.Po) || c == ']' || c == '_'
		if strings.ContainsRune(",.:;·", c) {
			want = false
		}
		if got := parts(c); got != want {
			t.Errorf("%U %c: %v, want %v", c, c, got, want)
		}
	}
}
