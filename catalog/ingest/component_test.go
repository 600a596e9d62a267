package ingest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

// TestSettingsChange: after a change of the filemask, files are compared with
// what is stored: units of the same language keep their ids.
func TestSettingsChange(t *testing.T) {
	repo := repoWith(t, map[string]string{
		"po/cs.po":     po("One", "Jedna"),
		"locale/cs.po": po("One", "Jeden"),
		"locale/de.po": po("One", "Eins"),
	})
	w := synced(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {}})
	before := w.Targets()
	_, last := w.ChangesAfter(0)
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"app": {Filemask: "locale/*.po"}})
	w.Sync()
	sameIDs(w, before)
	equal(t, []string{"en=locale/cs.po", "cs=locale/cs.po", "de=locale/de.po"}, servedFiles(w, "app"), "translations")
	text, _ := w.ChangesAfter(last)
	for _, want := range []string{`59 app/cs`, `"Jedna" -> 20 "Jeden"`, "48 app", "31 app/de"} {
		if !strings.Contains(text, want) {
			t.Errorf("entries lack %q:\n%s", want, text)
		}
	}
	// The flag read-only changes states without any commit.
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"app": {Filemask: "locale/*.po", CheckFlags: "read-only"}})
	w.Sync()
	w.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if u.State != catalog.StateReadOnly {
			t.Errorf("%s: %q has state %d", tr.Language, u.Source, u.State)
		}
	})
}

// TestSourceLanguageStays: the source language cannot change, since every unit
// would become another one.
func TestSourceLanguageStays(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	w := synced(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {}})
	before := servedUnits(w)
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"app": {SourceLanguage: "de"}})
	_, err := w.Syncer.Sync(t.Context(), w.Branch)
	if !errors.Is(err, catalog.ErrInvalid) || !strings.Contains(err.Error(), "component demo/app: source_language cannot change from en to de") {
		t.Errorf("error %v", err)
	}
	equal(t, before, servedUnits(w), "units changed")
}
