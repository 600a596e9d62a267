package ingest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// TestBrokenFirstFile: a source translation without a file of its own has
// filename and revision of the version that is served, not of the broken one.
func TestBrokenFirstFile(t *testing.T) {
	w, repo := app(t, catalog.ComponentSettings{}, map[string]string{"po/cs.po": po("One", "Jedna"), "po/de.po": po("Two", "Zwei")})
	before := w.ServedUnits()
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": garbage, "po/de.po": po("Three", "Drei")}})
	w.Sync()
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": po("Two", "Zwei")}})
	w.Sync()
	if diff := cmp.Diff(before, w.ServedUnits()); diff != "" {
		t.Errorf("units changed:\n%s", diff)
	}
}

// TestSourceLanguageFiles: with a POT no file of the source language is served,
// whatever its name. Without a POT each has its code.
func TestSourceLanguageFiles(t *testing.T) {
	files := map[string]string{"po/en.po": po("One", "One"), "po/en_en.po": po("One", "One"), "po/cs.po": po("One", "Jedna")}
	w, repo := app(t, catalog.ComponentSettings{NewBase: "po/app.pot"}, files)
	if diff := cmp.Diff([]string{"en=po/en.po", "cs=po/cs.po", "en_en=po/en_en.po"}, servedFiles(w, "app")); diff != "" {
		t.Errorf("without a POT: %s", diff)
	}
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/app.pot": po("One", "")}})
	report := w.Sync()
	if diff := cmp.Diff([]string{"en=po/app.pot", "cs=po/cs.po"}, servedFiles(w, "app")); diff != "" {
		t.Errorf("with a POT: %s", diff)
	}
	if n := len(report.Components[0].Problems); n != 2 {
		t.Errorf("problems: %q", report.Components[0].Problems)
	}
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
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	before := w.ServedUnits()
	repo.Commit(t, testrepos.Change{Message: "none", Delete: []string{"po/en.po", "po/cs.po"}, Files: map[string]string{"README": ""}})
	w.Sync()
	repo.Commit(t, testrepos.Change{Message: "back", Files: map[string]string{"po/en.po": english, "po/cs.po": po("One", "Jedna")}})
	w.Sync()
	if diff := cmp.Diff(before, w.ServedUnits()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	repo.Commit(t, testrepos.Change{Message: "none", Delete: []string{"po/en.po", "po/cs.po"}})
	w.Sync()
	repo.Commit(t, testrepos.Change{Message: "one", Files: map[string]string{"po/en.po": english}})
	w.Sync()
	if got := w.ServedUnits(); strings.Count(got, "app/en") != 2 {
		t.Errorf("the source file alone gives\n%s", got)
	}
}
