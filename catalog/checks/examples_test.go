package checks_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
)

// TestExamples: each example of docs/checks.md fails its check, with the flags in
// front of it, in German or in a language that the check is about.
func TestExamples(t *testing.T) {
	languages := map[checks.ID]string{checks.Kashida: "ar", checks.PunctuationSpacing: "fr"}
	for _, c := range checks.All() {
		if c.Example == "" {
			t.Errorf("%s has no example", c.Name)
		}
		if c.Scope == checks.ScopeAcross {
			continue
		}
		u, terms := exampleOf(t, &c)
		language := languages[c.ID]
		if language == "" {
			language = "de"
		}
		o := checks.Options{Language: language, Plural: english, SourcePlural: english, Terms: terms}
		if !checks.New(o).Run(u).Has(c.ID) {
			t.Errorf("%s: %s does not fail (%q → %q, flags %q)", c.Name, c.Example, u.Sources, u.Targets, u.Flags)
		}
	}
}

// exampleOf reads `FLAGS, "source", "plural" → "form", "form"`, with
// `glossary TERM → TRANSLATION, ` in front for check_glossary.
func exampleOf(t *testing.T, c *checks.Check) (*checks.Unit, []checks.Term) {
	t.Helper()
	text, terms := c.Example, []checks.Term(nil)
	if rest, ok := strings.CutPrefix(text, "glossary "); ok {
		term, unit, _ := strings.Cut(rest, ", ")
		source, target, _ := strings.Cut(term, " → ")
		text, terms = unit, []checks.Term{{Source: source, Target: target}}
	}
	u := &checks.Unit{IsSource: c.Scope == checks.ScopeSource, State: catalog.StateTranslated, Flags: c.EnableFlag}
	if !strings.HasPrefix(text, `"`) {
		i := strings.LastIndex(text[:strings.Index(text+` → `, ` → `)], `, "`)
		if i < 0 {
			t.Fatalf("%s: no source in %s", c.Name, text)
		}
		u.Flags, text = text[:i], text[i+len(", "):]
	}
	source, target, _ := strings.Cut(text, " → ")
	u.Sources, u.Targets = quotedTexts(t, source), quotedTexts(t, target)
	if u.IsSource {
		u.Targets = u.Sources
	}
	return u, terms
}

func quotedTexts(t *testing.T, list string) (texts []string) {
	t.Helper()
	for _, q := range regexp.MustCompile(`"(?:[^"\\]|\\.)*"`).FindAllString(list, -1) {
		text, err := strconv.Unquote(q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		texts = append(texts, text)
	}
	return texts
}
