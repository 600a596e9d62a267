package checks_test

import (
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
)

const allFlags = "c-format, python-format, python-brace-format, perl-brace-format, java-printf-format, qt-format, qt-plural-format, c-sharp-format, java-format, object-pascal-format, ruby-format, es-format, angularjs-format, percent-placeholders, max-length:10"

// TestHostile runs every check on a lot of what could send a rule around
// in circles: quadratic ones would take minutes each, so the test's own timeout tells.
func TestHostile(t *testing.T) {
	size := 1 << 18
	if testing.Short() {
		size = 1 << 15
	}
	s := set("fr", english)
	for _, piece := range []string{"<", "<a>", "{", "{{", "%", "%(", "${", "%{", "{1", "[", "[a]", "[a][/", "(", "\u0301", "&", "&#", "\\", "C:\\", " ", "a a ", "@", "((s)", "\xff", "ـ"} {
		text := strings.Repeat(piece, size/len(piece))
		for _, source := range []string{text, "A <b>bold</b> [b]word[/b] %s."} {
			u := &checks.Unit{Sources: []string{source}, Targets: []string{text}, Flags: allFlags, State: catalog.StateTranslated}
			for id := range s.Run(u).All() {
				for _, f := range s.Explain(u, id) {
					if f.Target.From < 0 || f.Target.To < f.Target.From || f.Target.To > len(text) {
						t.Errorf("%q %s: %+v", piece, id, f)
					}
				}
			}
			u.IsSource = true
			s.Run(u)
		}
	}
}

// FuzzRun: no string makes a check panic, and Explain agrees with Run.
func FuzzRun(f *testing.F) {
	f.Add("%s <b>x</b> [b]y[/b]", "%d <b>x [b]y", "c-format", "fr")
	f.Add("{a.b!r:>{w}} %(k)s", "\xff{", "python-brace-format, python-format", "my")
	f.Add("a...", "a\u1038\u104b", "max-length:0", "my")
	f.Fuzz(func(t *testing.T, source, target, flags, language string) {
		s := set(language, czech)
		u := &checks.Unit{Sources: catalog.SplitForms(source), Targets: catalog.SplitForms(target), Flags: flags, State: catalog.StateTranslated}
		got := s.Run(u)
		for _, c := range checks.All() {
			if (len(s.Explain(u, c.ID)) > 0) != got.Has(c.ID) {
				t.Errorf("%s: Run and Explain differ", c.Name)
			}
		}
	})
}
