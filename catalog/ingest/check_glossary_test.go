package ingest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// A glossary of the project decides about check_glossary in strings with the flag.
// A change of the glossary alone has these strings checked again, and the pull
// reports their failures as new.
func TestGlossary(t *testing.T) {
	file := func(lines ...string) string {
		return "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n" + strings.Join(lines, "")
	}
	entry := func(flags, source, target string) string {
		if flags != "" {
			flags = "#, " + flags + "\n"
		}
		return "\n" + flags + "msgid \"" + source + "\"\nmsgstr \"" + target + "\"\n"
	}
	repo := repoWith(t, map[string]string{
		"po/de.po":    file(entry("check-glossary", "Open a branch", "Einen Ast oeffnen"), entry("", "Close a branch", "Einen Ast zumachen"), entry("check-glossary", "Start GIMP", "GIMP starten")),
		"docs/de.po":  file(entry("", "The branch", "Der Zweig")),
		"terms/de.po": file(entry("", "branch", "Zweig"), entry("fuzzy", "open", "Auf"), entry("read-only", "GIMP", "")),
		"terms/cs.po": file(entry("", "branch", "ramus")),
	})
	settings := map[string]catalog.ComponentSettings{
		"app": {AllowTranslationPropagation: true}, "docs": {Filemask: "docs/*.po", CheckFlags: "check-glossary", AllowTranslationPropagation: true}, "terms": {Filemask: "terms/*.po", IsGlossary: true},
	}
	w := catalogtest.NewPuller(t, repo.URL(), settings)
	expect := func(when string, news int, want ...string) {
		t.Helper()
		report := w.Sync()
		if report.NewFailures.Total != news {
			t.Errorf("%s: %+v, want %d news", when, report.NewFailures, news)
		}
		var got []string
		w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
			if slices.Contains(failingNames(u), "check_glossary") {
				got = append(got, c.Slug+"/"+tr.Language+" "+u.Source)
			}
		})
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q do not follow the glossary, want %q", when, got, want)
		}
		w.Verify()
	}
	terms := func(entries ...string) {
		repo.Commit(t, testrepos.Change{Files: map[string]string{"terms/de.po": file(entries...)}})
	}
	expect("at first", 0, "app/de Open a branch")
	terms(entry("", "branch", "Ast"))
	expect("another translation", 1, "docs/de The branch")
	terms(entry("", "branch", "Ast"), entry("", "Branch", "Zweig"))
	expect("either of two", 0)
	terms(entry("forbidden", "branch", "Ast"))
	expect("a forbidden one", 1, "app/de Open a branch")
	terms(entry("", "gimp", "Gimp-Programm"))
	expect("another term", 1, "app/de Start GIMP")
	terms(entry("fuzzy", "gimp", "Gimp-Programm"))
	expect("one that needs editing", 0)
	terms(entry("", "branch", "Zweig"))
	expect("the first again", 1, "app/de Open a branch")
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": file(entry("", "Open a branch", "Einen Ast oeffnen"))}})
	expect("without the flag", 0)
	repo.Commit(t, testrepos.Change{Files: map[string]string{"docs/de.po": file(entry("", "The branch", "Der Ast"))}})
	expect("a string that is written", 1, "docs/de The branch")
	repo.Commit(t, testrepos.Change{Delete: []string{"terms/de.po"}})
	expect("without terms", 0)
}

// Another glossary, or no glossary, is a change of settings: no commit is needed.
func TestGlossaryFollowsSettings(t *testing.T) {
	head := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
	repo := repoWith(t, map[string]string{
		"po/de.po":    head + "msgid \"Open a branch\"\nmsgstr \"Einen Ast oeffnen\"\n",
		"terms/de.po": head + "msgid \"branch\"\nmsgstr \"Zweig\"\n",
	})
	w := catalogtest.NewPuller(t, repo.URL(), nil)
	for _, c := range []struct {
		when, flags string
		glossary    bool
		app, terms  catalog.Access
		want        int
	}{
		{"glossary and flag", "check-glossary", true, "", "", 1},
		{"no flag", "", true, "", "", 0},
		{"no glossary", "check-glossary", false, "", "", 0},
		{"both again", "check-glossary", true, "", "", 1},
		{"a private glossary, of which public strings must not tell", "check-glossary", true, "", catalog.AccessPrivate, 0},
		{"both private", "check-glossary", true, catalog.AccessPrivate, catalog.AccessPrivate, 1},
		{"a public glossary", "check-glossary", true, catalog.AccessPrivate, "", 1},
	} {
		w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{
			"app": {CheckFlags: c.flags, Access: c.app}, "terms": {Filemask: "terms/*.po", IsGlossary: c.glossary, Access: c.terms},
		})
		w.Sync()
		got := 0
		w.EachUnit(func(_ *catalog.Component, _ *catalog.Translation, u *catalog.Unit) {
			if slices.Contains(failingNames(u), "check_glossary") {
				got++
			}
		})
		if got != c.want {
			t.Errorf("%s: %d strings do not follow the glossary, want %d", c.when, got, c.want)
		}
		w.Verify()
	}
}
