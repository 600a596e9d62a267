package ingest_test

import (
	"slices"
	"strings"
	"testing"

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
	settings := func(app, docs bool) map[string]catalog.ComponentSettings {
		return map[string]catalog.ComponentSettings{
			"app":  {Filemask: "po/*.po", LanguageRegex: "^[^.]+$", AllowTranslationPropagation: app},
			"docs": {Filemask: "docs/*.po", LanguageRegex: "^[^.]+$", AllowTranslationPropagation: docs},
		}
	}
	w := catalogtest.NewPuller(t, repo.URL(), settings(true, true))
	expect := func(when string, reads bool, want string) {
		t.Helper()
		if steps := w.Sync().Steps; (steps > 0) != reads {
			t.Errorf("%s: %d steps, which files that are read make and nothing else", when, steps)
		}
		var got []string
		w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
			if !tr.IsSource {
				got = append(got, c.Slug+":"+strings.Join(catalogtest.FailingNames(u), "+"))
			}
		})
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", when, got, want)
		}
		w.Verify()
	}
	expect("at first", true, "app:inconsistent docs:end_stop+inconsistent")
	w.Configure(repo.URL(), "", settings(true, false))
	expect("docs is not compared", false, "app: docs:end_stop")
	w.Configure(repo.URL(), "", settings(true, true))
	expect("compared again", false, "app:inconsistent docs:end_stop+inconsistent")
	secret := settings(true, true)
	hidden := secret["docs"]
	hidden.Access = catalog.AccessPrivate
	secret["docs"] = hidden
	w.Configure(repo.URL(), "", secret)
	expect("docs is private, of which app must not tell", false, "app: docs:end_stop")
	public := secret["app"]
	public.Access = catalog.AccessPrivate
	secret["app"] = public
	w.Configure(repo.URL(), "", secret)
	expect("both are private", false, "app:inconsistent docs:end_stop+inconsistent")
	public.Access = catalog.AccessPublic
	secret = map[string]catalog.ComponentSettings{"app": public, "docs": settings(true, true)["docs"]}
	w.Configure(repo.URL(), "", secret)
	expect("both are public again", false, "app:inconsistent docs:end_stop+inconsistent")
	_, specs, templates := catalogtest.BranchOf(repo.URL(), "", secret)
	project := catalog.Project{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo", Access: catalog.AccessPrivate}}
	must(t, w.DB.Configure(t.Context(), []catalog.Project{project}, specs, templates))
	expect("the whole project except app is private", false, "app: docs:end_stop")
	w.Configure(repo.URL(), "", settings(true, true))
	expect("nothing is private", false, "app:inconsistent docs:end_stop+inconsistent")
	glossary := settings(true, true)
	docs := glossary["docs"]
	docs.IsGlossary = true
	glossary["docs"] = docs
	w.Configure(repo.URL(), "", glossary)
	expect("docs is a glossary", false, "app: docs:")
	ignoring := settings(true, true)
	docs.IsGlossary, docs.CheckFlags = false, "ignore-end-stop"
	ignoring["docs"] = docs
	w.Configure(repo.URL(), "", ignoring)
	expect("docs ignores a check", true, "app:inconsistent docs:inconsistent")
	only := settings(true, true)
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
	if got := w.ServedUnits(); !strings.Contains(got, "Failing:{Units:1 ") {
		t.Fatalf("nothing fails:\n%s", got)
	}
	pullCommit(w, repo, testrepos.Change{Files: file("3; plural=n%10", kept)})
	if got := w.ServedUnits(); strings.Contains(got, "Failing:{Units:1 ") {
		t.Errorf("a removed string fails:\n%s", got)
	}
}
