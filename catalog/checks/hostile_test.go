package checks_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// allFlags turn on every check.
const allFlags = `c-format, python-format, python-brace-format, php-format, perl-format, perl-brace-format, javascript-format, lua-format,
	java-printf-format, qt-format, qt-plural-format, c-sharp-format, java-format, object-pascal-format, ruby-format, es-format, angularjs-format,
	percent-placeholders, scheme-format, vue-format, i18next-interpolation, icu-message-format, icu-flags:xml, md-text, url, check-glossary, max-length:10, regex:r"(a|ab)*c$",
	placeholders:$a$:"%":r"[a-z]+@?"`

// TestAllFlags: the tests of hostile texts run every check.
func TestAllFlags(t *testing.T) {
	for _, c := range checks.All() {
		on := false
		for flag := range strings.SplitSeq(allFlags+",safe-html", ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(flag), ":")
			on = on || name == c.EnableFlag
		}
		if !on && !c.Default() {
			t.Errorf("allFlags lacks %s", c.EnableFlag)
		}
	}
}

// hostile are pieces that may cost a rule quadratic time if there are many of them:
// marks that open and never close, that close and never opened, that nest, and
// combining characters.
var hostile = []string{
	"<", "<a>", "<a/>", "<a b=\"", "<!--", "</", "{", "{{", "{1", "%", "%s", "%(", "%(a)s", "${", "${a}", "%{", "%<", "$t(", "@:a", "@.a", "~1,", "~",
	"{a}", "{a,b,c{", "{a,plural,one{#", "{a, select, b {c} other {d}}", "'{", "{a,date,'",
	"[", "[[", "[a]", "[a@", "[a][/", "[a]x[/a]", "[/a", "[a](", "[a][b]", "](", "(", "((s)", "\u0301", "a\u0301", "&", "&#", "&a;", "\\", "C:\\", "\\n",
	" ", "\n", "a a ", "b b c c ", "@", "#", "a.", "http://", "\xff", "ـ", "_", "__ ", "a_b ", "*", "**a", "a.bc+", "a.bc_", "~'", "`", "`` ` ", "~~", "木", "木 木 ", "word", "x. ! ? : ",
}

// TestExplainHostile: places are inside the text, whatever it contains.
func TestExplainHostile(t *testing.T) {
	s := set("fr", english)
	for _, piece := range hostile {
		text := strings.Repeat(piece, testsize.Of(1<<10, 4<<10, 4<<10)/len(piece))
		for _, source := range []string{text, "A <b>bold</b> [b]word[/b] %s."} {
			for _, flags := range []string{allFlags, allFlags + ", safe-html"} {
				u := &checks.Unit{Sources: []string{source}, Targets: []string{text}, Flags: flags, State: catalog.StateTranslated}
				for id := range s.Run(u).All() {
					for _, f := range s.Explain(u, id) {
						inside(t, piece, id, source, append(f.Sources, f.Source))
						inside(t, piece, id, text, append(f.Targets, f.Target))
					}
				}
			}
		}
	}
}

func inside(t *testing.T, piece string, id checks.ID, text string, places []checks.Span) {
	t.Helper()
	for _, p := range places {
		if p.From < 0 || p.To < p.From || p.To > utf8.RuneCountInString(text) {
			t.Errorf("%q %s: %+v", piece, id, p)
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

// TestHostileMarkup: texts whose elements repeat a long namespace, nest deeply or have many
// attributes cost memory by their length.
func TestHostileMarkup(t *testing.T) {
	if testing.Short() {
		t.Skip("reads long texts")
	}
	s := set("fr", english)
	var attributes strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&attributes, " a%d='b'", i)
	}
	for name, text := range map[string]string{
		"namespace":  `<a xmlns="` + strings.Repeat("n", 32<<10) + `">` + strings.Repeat("<b/>", 60_000) + "</a>",
		"depth":      strings.Repeat("<a>", 300_000) + strings.Repeat("</a>", 300_000),
		"attributes": "<a" + attributes.String() + ">b</a>",
	} {
		for _, flags := range []string{"", "safe-html"} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s.Run(&checks.Unit{Sources: []string{text}, Targets: []string{text}, Flags: flags, State: catalog.StateTranslated})
			runtime.ReadMemStats(&after)
			if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 300 {
				t.Errorf("%s, %q: %d MiB for %d KiB", name, flags, mib, len(text)>>10)
			}
		}
	}
}
