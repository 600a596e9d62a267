package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// Settings decide which components are compared. After a change the next pull checks
// the units again that depend on them, without any commit.
func TestChecksFollowSettings(t *testing.T) {
	file := func(target string) string {
		return "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=2; plural=n != 1;\\n\"\n\nmsgid \"Open it.\"\nmsgstr \"" + target + "\"\n"
	}
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Branch: "main", Files: map[string]string{"po/de.po": file("Öffne es."), "docs/de.po": file("Mach es auf")}})
	settings := func(change func(app, docs *catalog.ComponentSettings)) map[string]catalog.ComponentSettings {
		app := catalog.ComponentSettings{Filemask: "po/*.po", LanguageRegex: "^[^.]+$", AllowTranslationPropagation: true}
		docs := app
		docs.Filemask = "docs/*.po"
		change(&app, &docs)
		return map[string]catalog.ComponentSettings{"app": app, "docs": docs}
	}
	unchanged := func(_, _ *catalog.ComponentSettings) {}
	w := catalogtest.NewPuller(t, repo.URL(), nil)
	expect := func(when string, reads bool, want string) {
		t.Helper()
		if steps := w.Sync().Steps; (steps > 0) != reads {
			t.Errorf("%s: %d steps, which files that are read make and nothing else", when, steps)
		}
		var got []string
		w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
			if !tr.IsSource {
				got = append(got, c.Slug+":"+strings.Join(failingNames(u), "+"))
			}
		})
		slices.Sort(got)
		equal(t, want, strings.Join(got, " "), "%s", when)
		w.Verify()
	}
	const compared, alone = "app:inconsistent docs:end_stop+inconsistent", "app: docs:end_stop"
	const private = catalog.AccessPrivate
	for _, c := range []struct {
		when   string
		reads  bool
		want   string
		change func(app, docs *catalog.ComponentSettings)
	}{
		{"at first", true, compared, unchanged},
		{"docs is not compared", false, alone, func(_, docs *catalog.ComponentSettings) { docs.AllowTranslationPropagation = false }},
		{"compared again", false, compared, unchanged},
		{"docs is private, of which app must not tell", false, alone, func(_, docs *catalog.ComponentSettings) { docs.Access = private }},
		{"both are private", false, compared, func(app, docs *catalog.ComponentSettings) { app.Access, docs.Access = private, private }},
		{"both are public again", false, compared, func(app, _ *catalog.ComponentSettings) { app.Access = catalog.AccessPublic }},
		{"the whole project except app is private", false, alone, nil},
		{"nothing is private", false, compared, unchanged},
		{"docs is a glossary", false, "app: docs:", func(_, docs *catalog.ComponentSettings) { docs.IsGlossary = true }},
		{"docs ignores a check", true, "app:inconsistent docs:inconsistent", func(_, docs *catalog.ComponentSettings) { docs.CheckFlags = "ignore-end-stop" }},
	} {
		if c.change != nil {
			w.Configure(repo.URL(), "", settings(c.change))
		} else {
			_, specs, templates := catalogtest.BranchOf(repo.URL(), "", settings(func(app, _ *catalog.ComponentSettings) { app.Access = catalog.AccessPublic }))
			project := catalog.Project{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo", Access: private}}
			must(t, w.DB.Configure(t.Context(), []catalog.Project{project}, specs, templates))
		}
		expect(c.when, c.reads, c.want)
	}
	only := settings(unchanged)
	delete(only, "docs")
	w.Configure(repo.URL(), "", only)
	expect("docs is gone", false, "app:")
}

// TestChecksOfRemovedStrings: a string leaves no failure if it is removed in the step
// that also changes the rules of its translation.
func TestChecksOfRemovedStrings(t *testing.T) {
	file := func(forms, rest string) map[string]string {
		return map[string]string{"po/cs.po": "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=" + forms + ";\\n\"\n\n" + rest}
	}
	const kept, failing = "msgid \"One\"\nmsgstr \"Jedna\"\n\n", "#, c-format\nmsgid \"%d files.\"\nmsgstr \"%s soubory\"\n"
	repo := repoWith(t, file("2; plural=n != 1", kept+failing))
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	if got := servedUnits(w); !strings.Contains(got, "Failing:{Units:1 ") {
		t.Fatalf("nothing fails:\n%s", got)
	}
	pullCommit(w, repo, testrepos.Change{Files: file("3; plural=n%10", kept)})
	if got := servedUnits(w); strings.Contains(got, "Failing:{Units:1 ") {
		t.Errorf("a removed string fails:\n%s", got)
	}
}

// TestNewFailures: a pull reports the checks that fail since it, up to a hundred,
// also of unchanged strings that are compared with changed ones. It reports no
// failures of a first import, and no earlier ones.
func TestNewFailures(t *testing.T) {
	file := func(entries ...string) string {
		text := "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=2; plural=n != 1;\\n\"\n"
		for i := 0; i < len(entries); i += 2 {
			text += fmt.Sprintf("\nmsgid %q\nmsgstr %q\n", entries[i], entries[i+1])
		}
		return text
	}
	repo := testrepos.Empty(t)
	commit := func(files map[string]string) {
		repo.Commit(t, testrepos.Change{Branch: "main", Files: files})
	}
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{
		"app":  {Filemask: "po/*.po", LanguageRegex: "^[^.]+$", AllowTranslationPropagation: true},
		"docs": {Filemask: "docs/*.po", LanguageRegex: "^[^.]+$", AllowTranslationPropagation: true},
	})
	expect := func(when string, total int, want ...string) {
		t.Helper()
		report := w.Sync()
		names := map[int64]string{}
		for _, c := range report.Components {
			names[c.ID] = c.Slug
		}
		var got []string
		for _, f := range report.NewFailures.List {
			got = append(got, fmt.Sprintf("%s/%s %s %s", names[f.ComponentID], f.Language, f.Check, f.Source))
		}
		if diff := cmp.Diff(want, got[:min(len(got), max(len(want), 4))]); diff != "" || report.NewFailures.Total != total {
			t.Errorf("%s: %d of %d; -want +got:\n%s", when, len(got), report.NewFailures.Total, diff)
		}
	}
	commit(map[string]string{
		"po/de.po":   file("Open it.", "Öffne es", "Close it.", "Schließ es.", "Leave it.", "Lass es."),
		"docs/de.po": file("Open it.", "Öffne es"),
	})
	expect("first import", 0)
	commit(map[string]string{"po/de.po": file("Open it.", "Öffne es", "Close it.", "Schließ es", "Leave it.", "Lass  es")})
	expect("two more faults", 4, "app/en multiple_failures Leave it.", "app/de end_stop Close it.", "app/de double_space Leave it.", "app/de end_stop Leave it.")
	expect("nothing new", 0)
	commit(map[string]string{"docs/de.po": file("Open it.", "Mach es auf.")})
	expect("another translation", 3, "app/en multiple_failures Open it.", "app/de inconsistent Open it.", "docs/de inconsistent Open it.")
	long := strings.Repeat("ß", 100)
	commit(map[string]string{"docs/de.po": file("Open it.", "Öffne es", long+".", "kurz")})
	expect("a long string", 2, "docs/de end_stop Open it.", "docs/de end_stop "+strings.Repeat("ß", 79)+"…")
	var many []string
	for i := range 120 {
		many = append(many, fmt.Sprintf("Line %d.", i), fmt.Sprintf("Zeile %d", i))
	}
	commit(map[string]string{"docs/de.po": file(many...)})
	if report := w.Sync(); report.NewFailures.Total != 120 || len(report.NewFailures.List) != 100 {
		t.Errorf("%d of %d", len(report.NewFailures.List), report.NewFailures.Total)
	}
}
