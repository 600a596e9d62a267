package checks

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
)

// everything turns on every check except safe-html, which turns off XML.
func everything() string {
	var all strings.Builder
	for _, c := range All() {
		if c.EnableFlag != "" && c.Name != "safe-html" && !table[c.ID].valued {
			all.WriteString(c.EnableFlag + ",")
		}
	}
	return all.String() + `icu-flags:xml,max-length:3,regex:r"^[a-m ]*$",placeholders:"$":r"[a-c]+|é",`
}

// FuzzSpans: for any strings, flags, notes and language, no check panics; the places
// of a failure are inside their strings, in order, and at the borders of characters;
// Run and Explain agree.
func FuzzSpans(f *testing.F) {
	f.Add("It %s <b>is</b> [b]größer[/b].", "Est %d <b>a [b]é", "", "", "fr")
	f.Add("%d file\x1e\x1e%d files(s)...", "un fichier\x1e\x1e%d %d fichiers  !", "c-format", "Tag: screen", "fr")
	f.Add("{a.b!r:>{w}} %(k)s ${x} {{y}}", "\xff{\xc3", "python-brace-format, ignore-python-format", "", "my")
	f.Add("[a](#b) <http://c.d> **é** `木`", "[[a](](b) <a@b.c>__é__", "md-text,safe-html", "", "ja")
	f.Add("木 branch \u0640\u200b", "Zweig 木木 \u0640\u200b", "check-glossary,xml-text,strict-same", "", "ar")
	f.Add("[![a](b)](c)", "a", "md-text", "", "de")
	f.Add("{n, plural, offset:1 one {# <b>é</b>} other {'{' {g, select, other {x}}}}", "{n,plural,=1{\u00a0<b/>}", "icu-message-format", "", "de")
	f.Add("<x:a>{木, number, ::é}</x:a>", "<x:a/>{木}{é, date, 'é' {", `icu-flags:strict-xml:-types,icu-tag-prefix:"x:"`, "", "ja")
	f.Add("", "\x00", `regex:r"(", placeholders:r"[":":, max-length:-1, replacements:a`, "", "")
	f.Fuzz(func(t *testing.T, source, target, flags, note, language string) {
		rule := lang.Plural{Number: 2, Formula: "n > 1"}
		s := New(Options{
			Language: language, Plural: rule, SourcePlural: lang.Plural{Number: 2, Formula: "n != 1"}, ComponentFlags: everything(), ProjectName: target,
			Terms: []Term{{Source: "branch", Target: "Zweig"}, {Source: "木", Target: "木木", Forbidden: true}, {Source: source, Target: target}},
		})
		u := &Unit{Sources: catalog.SplitForms(source), Targets: catalog.TargetForms(source, target, 2), Flags: flags, Note: note, State: catalog.StateTranslated}
		for _, u.IsSource = range []bool{false, true} {
			failed := s.Run(u)
			for _, c := range All() {
				if (len(s.Explain(u, c.ID)) > 0) != failed.Has(c.ID) {
					t.Errorf("%s: Run and Explain differ", c.Name)
				}
				if !failed.Has(c.ID) {
					continue
				}
				r := &run{set: s, flags: s.effective(flags), unit: u, explain: true, seed: s.seed}
				r.check(c.ID)
				for _, h := range r.hits {
					checkSpans(t, c.Name, u.Sources[h.sourceForm], h.source, h.sources)
					if h.form < len(u.Targets) {
						checkSpans(t, c.Name, u.Targets[h.form], h.target, h.targets)
					}
				}
			}
		}
	})
}

// checkSpans checks that [points] can count places.
func checkSpans(t *testing.T, name, text string, one Span, several []Span) {
	t.Helper()
	if len(several) > maxPlaces {
		t.Errorf("%s: %d places", name, len(several))
	}
	at := 0
	for _, p := range append(several, one) {
		if len(several) > 0 && p == one {
			continue
		}
		if p.From >= 0 && p.From <= p.To && p.To <= at {
			continue // within the one before
		}
		if p.From < at || p.To < p.From || p.To > len(text) {
			t.Fatalf("%s: %v after %d of %q", name, p, at, text)
		}
		if at = p.To; utf8.ValidString(text) && (!border(text, p.From) || !border(text, p.To)) {
			t.Errorf("%s: %v is within a character of %q", name, p, text)
		}
	}
}

func border(s string, i int) bool { return i == len(s) || utf8.RuneStart(s[i]) }
