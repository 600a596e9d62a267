package ingest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/testrepos"
)

// TestBrokenFirstFile: a source translation without a file of its own has
// filename and revision of the version that is served, not of the broken one.
func TestBrokenFirstFile(t *testing.T) {
	w, repo := app(t, catalog.ComponentSettings{}, map[string]string{"po/cs.po": po("One", "Jedna"), "po/de.po": po("Two", "Zwei")})
	before := w.ServedUnits()
	pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/cs.po": garbage, "po/de.po": po("Three", "Drei")}})
	pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/de.po": po("Two", "Zwei")}})
	equal(t, before, w.ServedUnits(), "units changed")
}

// TestSourceLanguageFiles: with a POT no file of the source language is served,
// whatever its name. Without a POT each has its code.
func TestSourceLanguageFiles(t *testing.T) {
	files := map[string]string{"po/en.po": po("One", "One"), "po/en_en.po": po("One", "One"), "po/cs.po": po("One", "Jedna")}
	w, repo := app(t, catalog.ComponentSettings{NewBase: "po/app.pot"}, files)
	equal(t, []string{"en=po/en.po", "cs=po/cs.po", "en_en=po/en_en.po"}, servedFiles(w, "app"), "without a POT")
	report := pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/app.pot": po("One", "")}})
	equal(t, []string{"en=po/app.pot", "cs=po/cs.po"}, servedFiles(w, "app"), "with a POT")
	equal(t, 2, len(report.Components[0].Problems), "problems %q", report.Components[0].Problems)
	w, _ = app(t, catalog.ComponentSettings{Filemask: "*/*/x.po"}, map[string]string{"a/en/x.po": po("One", ""), "b/en/x.po": po("One", "")})
	if text := w.Sync(); text.Steps != 0 {
		t.Error("not up to date")
	}
}

// TestSourceFileReturnsAsItWas: all files of a component disappear, and the
// file of the source language comes back with the same bytes, as after a
// revert.
func TestSourceFileReturnsAsItWas(t *testing.T) {
	english := po("One", "One", "Two", "Two")
	repo := repoWith(t, map[string]string{"po/en.po": english, "po/cs.po": po("One", "Jedna")})
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	before := w.ServedUnits()
	pullCommit(w, repo, testrepos.Change{Message: "none", Delete: []string{"po/en.po", "po/cs.po"}, Files: map[string]string{"README": ""}})
	pullCommit(w, repo, testrepos.Change{Message: "back", Files: map[string]string{"po/en.po": english, "po/cs.po": po("One", "Jedna")}})
	equal(t, before, w.ServedUnits(), "(-before +after)")
	pullCommit(w, repo, testrepos.Change{Message: "none", Delete: []string{"po/en.po", "po/cs.po"}})
	pullCommit(w, repo, testrepos.Change{Message: "one", Files: map[string]string{"po/en.po": english}})
	if got := w.ServedUnits(); strings.Count(got, "app/en") != 2 {
		t.Errorf("the source file alone gives\n%s", got)
	}
}

// TestUnion holds the order and the positions of source strings
// (docs/compatibility.md#source-translation).
func TestUnion(t *testing.T) {
	repo := repoWith(t, map[string]string{
		"po/app.pot": po("One", "", "Two", ""),
		"po/cs.po":   po("Old", "Starý", "One", "Jedna"),
		"po/de.po":   po("Two", "Zwei", "Older", "Älter", "Old", "Alt"),
	})
	w := synced(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot"}})
	want := []string{"1 One", "2 Two", "3 Old", "4 Older"}
	equal(t, want, sourceStrings(w, "app"), "source units")
	// The last file that has it drops it: the source translation does, too.
	pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/de.po": po("Two", "Zwei", "Old", "Alt")}})
	equal(t, want[:3], sourceStrings(w, "app"), "source units after a removal")
	// Without the POT all comes from the files.
	pullCommit(w, repo, testrepos.Change{Delete: []string{"po/app.pot"}})
	equal(t, []string{"1 Old", "2 One", "3 Two"}, slices.Sorted(slices.Values(sourceStrings(w, "app"))), "source units without the POT")
	equal(t, []string{"en=po/cs.po", "cs=po/cs.po", "de=po/de.po"}, servedFiles(w, "app"), "translations without the POT")
}
