package checks_test

import (
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
)

// TestEndMarks ends translations with each character of each set: it matches the
// mark of the source, and is surplus if the source has no mark.
func TestEndMarks(t *testing.T) {
	for _, c := range []struct {
		check    checks.ID
		language string
		mark     string // of the source
		marks    string
		alone    bool // a mark that the source has not fails
	}{
		{checks.EndStop, "cs", ".", ".\u3002\u0964\u06d4\u0589\u00b7\u0df4\u17d4\u1362", true},
		{checks.EndStop, "hi", ".", ".\u0964\u09f7|", true},
		{checks.EndStop, "bn", ".", ".\u0964\u09f7|", true},
		{checks.EndStop, "or", ".", ".\u0964\u09f7|", true},
		{checks.EndStop, "sat", ".", ".\u1c7e", true},
		{checks.EndStop, "my", ".", ".\u104b", true},
		{checks.EndStop, "hy", ".", ".\u0589:\u055d?!`", true},
		{checks.EndStop, "ja", ":", ";:\uff1a", false}, // full stops are, too, and are marks otherwise,
		{checks.EndColon, "cs", ":", ":\uff1a\u17d6", true},
		{checks.EndColon, "hy", ":", ":\u055d`", false},
		{checks.EndColon, "ja", ":", ";:\uff1a.\u3002", false},
		{checks.EndQuestion, "cs", "?", "?\u055e\u061f\u2e2e\uff1f\u1367\ua60f\u2cfa", true},
		{checks.EndQuestion, "hy", "?", "?\u055e\u0589", false},
		{checks.EndQuestion, "el", "?", "?;\u037e", false},
		{checks.EndExclamation, "cs", "!", "!\uff01\u055c\u1944\u109f\u07f9", true},
		{checks.EndExclamation, "my", "!", "!\u109f", true},
		{checks.EndEllipsis, "cs", "…", "…", true},
		{checks.EndSemicolon, "cs", ";", ";", true},
	} {
		s := set(c.language, english)
		fails := func(source, target string) bool {
			return s.Run(&checks.Unit{Sources: []string{source}, Targets: []string{target}, State: catalog.StateTranslated}).Has(c.check)
		}
		for _, mark := range c.marks {
			if fails("Source"+c.mark, "target"+string(mark)) {
				t.Errorf("%s %s: %q does not match %q", c.language, c.check, mark, c.mark)
			}
			if got := fails("Source", "target"+string(mark)); got != c.alone {
				t.Errorf("%s %s: %q alone fails: %v", c.language, c.check, mark, got)
			}
		}
		if !fails("Source"+c.mark, "target") {
			t.Errorf("%s %s: a missing %q passes", c.language, c.check, c.mark)
		}
	}
}
