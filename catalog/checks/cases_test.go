package checks_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/lang"
)

// TestExamples: each example of docs/checks.md fails its check, with the flags in
// front of it, in German or in a language that the check is about.
func TestExamples(t *testing.T) {
	languages := map[checks.ID]string{number("kashida"): "ar", number("punctuation_spacing"): "fr"}
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

// plurals are the plural rules of the languages of the cases. Others have the rule
// of English.
var plurals = map[string]lang.Plural{
	"cs": {Number: 3, Formula: "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2"},
	"fr": {Number: 2, Formula: "n > 1"},
	"ja": {Number: 1, Formula: "0"},
	"ar": {Number: 6, Formula: "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 && n%100<=99 ? 4 : 5"},
}

// TestCases runs testdata/CHECK.txtar. Each section "fails LANGUAGE" or
// "passes LANGUAGE" is a unit of lines "key: value"; values with escapes are in
// quotes. A unit that fails must fail the check of the file's name and the checks
// in "also", and no others; a unit that passes must fail the checks in "also" only.
func TestCases(t *testing.T) {
	for _, check := range checks.All() {
		t.Run(check.Name, func(t *testing.T) {
			archive, err := txtar.ParseFile(filepath.Join("testdata", check.Name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			kinds, languages := make(map[string]int), make(map[string]bool)
			for i, section := range archive.Files {
				kind, language, _ := strings.Cut(section.Name, " ")
				kinds[kind]++
				languages[lang.BaseCode(language)] = true
				c := newCase(t, language, string(section.Data))
				failed := c.run(t, check)
				if failed && check.Scope != checks.ScopeAcross {
					c.switches(t, check)
				}
				if want := kind == "fails"; failed != want || kind != "fails" && kind != "passes" {
					t.Errorf("section %d, %s: fails: %v\n%s", i+1, section.Name, failed, section.Data)
				}
			}
			if kinds["fails"] == 0 && check.ID != number("translated") || kinds["passes"] == 0 {
				t.Errorf("cases that fail and that pass are needed: %v", kinds)
			}
			if check.Scope <= checks.ScopeTarget && (!hasAny(languages, "ar", "fa", "he") || !hasAny(languages, "ja", "ko", "zh") || len(languages) < 3) {
				t.Errorf("a language from right to left, one of CJK and a third one are needed: %v", languages)
			}
		})
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) != len(checks.All()) {
		t.Errorf("%d files for %d checks (%v)", len(files), len(checks.All()), err)
	}
}

func hasAny(set map[string]bool, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return set[key] })
}

// testCase is one section.
type testCase struct {
	language string
	values   map[string][]string
}

func newCase(t *testing.T, language, data string) testCase {
	t.Helper()
	c := testCase{language, make(map[string][]string)}
	for line := range strings.Lines(data) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if unquoted, err := strconv.Unquote(value); err == nil {
			value = unquoted
		}
		switch key {
		case "source", "target", "flags", "also", "term", "spans", "state", "other source", "other target", "other context", "other state",
			"forms", "failures", "days", "translated", "total", "percent":
		default:
			ok = false
		}
		if !ok {
			t.Fatalf("what is %q?", line)
		}
		c.values[key] = append(c.values[key], value)
	}
	return c
}

func (c *testCase) one(key string) string { return strings.Join(c.values[key], "") }

func (c *testCase) number(key string) int {
	n, _ := strconv.Atoi(c.one(key))
	return n
}

// run reports whether the check fails.
func (c *testCase) run(t *testing.T, check checks.Check) bool {
	t.Helper()
	if check.Scope == checks.ScopeAcross {
		return c.across(check.ID)
	}
	u := c.unit(check)
	s := checks.New(c.options())
	got := s.Run(u)
	var want checks.Mask
	for name := range strings.FieldsSeq(c.one("also")) {
		id, ok := checks.ByName(name)
		if !ok {
			t.Errorf("no check %q", name)
		}
		want = want.With(id)
	}
	if got.Without(check.ID) != want {
		t.Errorf("%s %q → %q fails %q, too", c.language, u.Sources, u.Targets, names(got))
	}
	for _, other := range checks.All() {
		failures := s.Explain(u, other.ID)
		if (len(failures) > 0) != got.Has(other.ID) {
			t.Errorf("%q → %q: %s: Explain says %v, Run %v", u.Sources, u.Targets, other.Name, failures, got.Has(other.ID))
		}
		if want := c.one("spans"); want != "" && other.ID == check.ID && spans(failures) != want {
			t.Errorf("%q → %q: is at %s, want %s", u.Sources, u.Targets, spans(failures), want)
		}
	}
	return got.Has(check.ID)
}

// switches tries the flags that turn the check off and on with a unit that fails.
func (c *testCase) switches(t *testing.T, check checks.Check) {
	t.Helper()
	fails := func(flags, componentFlags string, change func(*checks.Unit, *checks.Options)) bool {
		u, o := c.unit(check), c.options()
		u.Flags, o.ComponentFlags = flags, componentFlags
		if change != nil {
			change(u, &o)
		}
		return checks.New(o).Run(u).Has(check.ID)
	}
	flags := c.one("flags")
	if !fails("", flags, nil) {
		t.Errorf("%q does not fail with %q as flags of the component", c.values["source"], flags)
	}
	for _, ignore := range []string{check.IgnoreFlag, "ignore-all-checks"} {
		if fails(flags+", "+ignore, "", nil) || fails(flags, ignore, nil) || fails(ignore, flags, nil) {
			t.Errorf("%q fails with %s", c.values["source"], ignore)
		}
	}
	if !check.Default() && fails("ignore-nothing", "no-wrap", nil) {
		t.Errorf("%q fails without %s", c.values["source"], check.EnableFlag)
	}
	if fails(flags, "", func(_ *checks.Unit, o *checks.Options) { o.Glossary = true }) {
		t.Errorf("%q fails in a glossary", c.values["source"])
	}
	if fails(flags, "", func(u *checks.Unit, _ *checks.Options) { u.State, u.IsSource = catalog.StateReadOnly, false }) {
		t.Errorf("%q fails though read-only", c.values["source"])
	}
	if fails(flags, "", func(u *checks.Unit, _ *checks.Options) { u.IsSource = !u.IsSource }) {
		t.Errorf("%q fails as a source and as a target", c.values["source"])
	}
}

func (c *testCase) unit(check checks.Check) *checks.Unit {
	return &checks.Unit{
		IsSource: check.Scope == checks.ScopeSource, Sources: c.values["source"], Targets: c.values["target"],
		Flags: c.one("flags"), State: catalog.StateFuzzy,
	}
}

func (c *testCase) options() checks.Options {
	o := checks.Options{Language: c.language, Plural: english, SourcePlural: english}
	if p, ok := plurals[c.language]; ok {
		o.Plural = p
	}
	for _, term := range c.values["term"] {
		source, target, _ := strings.Cut(term, " = ")
		target, forbidden := strings.CutPrefix(target, "!")
		o.Terms = append(o.Terms, checks.Term{Source: source, Target: target, Forbidden: forbidden})
	}
	return o
}

// across runs the checks that look at other units.
func (c *testCase) across(id checks.ID) bool {
	u := checks.Sibling{Source: c.one("source"), Target: c.one("target"), State: c.state("")}
	other := checks.Sibling{Source: c.one("other source"), Context: c.one("other context"), Target: c.one("other target"), State: c.state("other ")}
	switch id {
	case checks.Inconsistent:
		return u.Source == other.Source && u.Context == other.Context && u.Target != other.Target && (u.State.Translated() || other.State.Translated())
	case checks.Reused:
		forms := 2
		if c.one("forms") != "" {
			forms = c.number("forms")
		}
		return checks.IsReused(u, other, forms)
	case checks.MultipleFailures:
		return checks.HasMultipleFailures(c.number("failures"))
	case checks.LongUntranslated:
		return checks.IsLongUntranslated(c.number("days"), c.number("translated"), c.number("total"), float64(c.number("percent")))
	}
	return false
}

// state returns the state of a unit of the case, or of the "other " one.
func (c *testCase) state(which string) catalog.State {
	switch {
	case c.one(which+"target") == "":
		return catalog.StateEmpty
	case c.one(which+"state") == "fuzzy":
		return catalog.StateFuzzy
	}
	return catalog.StateTranslated
}

// spans writes the places of the first failure: "0-1 3-4 > 5-6".
func spans(failures []checks.Failure) string {
	if len(failures) == 0 {
		return ""
	}
	f := failures[0]
	return side(f.Source, f.Sources) + " > " + side(f.Target, f.Targets)
}

func side(one checks.Span, several []checks.Span) string {
	if several == nil {
		several = []checks.Span{one}
	}
	var all []string
	for _, s := range several {
		all = append(all, fmt.Sprintf("%d-%d", s.From, s.To))
	}
	return strings.Join(all, " ")
}
