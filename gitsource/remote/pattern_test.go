package remote

import (
	"strings"
	"testing"
)

func TestBranchPattern(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{"l10n/*", "l10n/x l10n/x/y", "l10n l10nx/y xl10n/y main"},
		{"*", "main a/b", ""},
		{"main", "main", "mai main2 a/main"},
		{"*-po", "cs-po a/b-po -po", "po cs-pot"},
		{"a*b*c", "abc axbxc aabbcc abcbc", "acb ab abcd xabc"},
		{"a*a", "aa aba", "a"},
		{"", "", "main"},
	} {
		p := pattern(t, c.pattern)
		for _, name := range strings.Fields(c.yes) {
			if !p.Match(name) {
				t.Errorf("%s does not match %s", c.pattern, name)
			}
		}
		for _, name := range strings.Fields(c.no) {
			if p.Match(name) {
				t.Errorf("%s matches %s", c.pattern, name)
			}
		}
		if p.String() != c.pattern {
			t.Errorf("%q became %q", c.pattern, p)
		}
	}
	for _, bad := range []string{"a b", "l10n/..", "-x", "a[b]", "a?", "l10n//*", "x/", "a\x00"} {
		if _, err := ParseBranchPattern(bad); err == nil {
			t.Errorf("%q is a pattern", bad)
		}
	}
	long := pattern(t, strings.Repeat("*a", 400)+"*b")
	if long.Match(strings.Repeat("a", 1<<20)) {
		t.Error("matches without its end")
	}
}
