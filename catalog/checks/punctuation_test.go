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
		{number("end_stop"), "cs", ".", ".\u3002\u0964\u06d4\u0589\u00b7\u0df4\u17d4\u1362", true},
		{number("end_stop"), "hi", ".", ".\u0964\u09f7|", true},
		{number("end_stop"), "bn", ".", ".\u0964\u09f7|", true},
		{number("end_stop"), "or", ".", ".\u0964\u09f7|", true},
		{number("end_stop"), "sat", ".", ".\u1c7e", true},
		{number("end_stop"), "my", ".", ".\u104b", true},
		{number("end_stop"), "hy", ".", ".\u0589:\u055d?!`", true},
		{number("end_stop"), "ja", ":", ";:\uff1a", false}, // full stops are, too, and are marks otherwise,
		{number("end_colon"), "cs", ":", ":\uff1a\u17d6", true},
		{number("end_colon"), "hy", ":", ":\u055d`", false},
		{number("end_colon"), "ja", ":", ";:\uff1a.\u3002", false},
		{number("end_question"), "cs", "?", "?\u055e\u061f\u2e2e\uff1f\u1367\ua60f\u2cfa", true},
		{number("end_question"), "hy", "?", "?\u055e\u0589", false},
		{number("end_question"), "el", "?", "?;\u037e", false},
		{number("end_exclamation"), "cs", "!", "!\uff01\u055c\u1944\u109f\u07f9", true},
		{number("end_exclamation"), "my", "!", "!\u109f", true},
		{number("end_ellipsis"), "cs", "…", "…", true},
		{number("end_semicolon"), "cs", ";", ";", true},
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
