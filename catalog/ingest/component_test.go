package ingest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// TestSettingsChange: after a change of the filemask, files are compared with
// what is stored: units of the same language keep their ids.
func TestSettingsChange(t *testing.T) {
	repo := repoWith(t, map[string]string{
		"po/cs.po":     po("One", "Jedna"),
		"locale/cs.po": po("One", "Jeden"),
		"locale/de.po": po("One", "Eins"),
	})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	before := make(map[int64]string)
	w.Targets(before)
	_, last := w.ChangesAfter(0)
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"app": {Filemask: "locale/*.po"}})
	w.Sync()
	after := make(map[int64]string)
	w.Targets(after)
	for id, target := range before {
		if _, ok := after[id]; !ok {
			t.Errorf("unit %d (%s) has another id", id, target)
		}
	}
	if diff := cmp.Diff([]string{"en=locale/cs.po", "cs=locale/cs.po", "de=locale/de.po"}, servedFiles(w, "app")); diff != "" {
		t.Errorf("translations: %s", diff)
	}
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
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	before := w.ServedUnits()
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"app": {SourceLanguage: "de"}})
	_, err := w.Syncer.Sync(t.Context(), w.Branch)
	if !errors.Is(err, catalog.ErrInvalid) || !strings.Contains(err.Error(), "component demo/app: source_language cannot change from en to de") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(before, w.ServedUnits()); diff != "" {
		t.Errorf("units changed: %s", diff)
	}
}
