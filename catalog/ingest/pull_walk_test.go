package ingest_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// TestOneComponentFails: a component whose stored data is damaged stays where
// it is; the others of its convoy go on.
func TestOneComponentFails(t *testing.T) {
	repo := repoWith(t, map[string]string{"a/cs.po": po("One", "Jedna"), "b/cs.po": po("One", "Jedna"), "c/cs.po": po("One", "Jedna")})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"a": {Filemask: "a/*.po"}, "b": {Filemask: "b/*.po"}, "c": {Filemask: "c/*.po"}})
	w.Sync()
	repo.Commit(t, testrepos.Change{Files: map[string]string{"b/cs.po": garbage}})
	w.Sync()
	w.DB.Close()
	db, err := sql.Open("sqlite", filepath.Join(w.Dir, "repoglot.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("DELETE FROM files"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	w.Open()
	_, last := w.ChangesAfter(0)
	for n, want := range []int{2, 2} {
		files := map[string]string{}
		for _, name := range []string{"a/de.po", "b/de.po", "c/de.po"} {
			files[name] = po("New"+fmt.Sprint(n), "Neu")
		}
		repo.Commit(t, testrepos.Change{Files: files})
		report, err := w.Syncer.Sync(t.Context(), w.Branch)
		if err == nil || !strings.Contains(err.Error(), "component demo/b: last good version of b/cs.po") || strings.Contains(err.Error(), "component demo/a") {
			t.Errorf("pull %d: error %v", n, err)
		}
		moved := 0
		for _, c := range report.Components {
			if c.Head == repo.Head() && c.Err == nil {
				moved++
			}
		}
		if moved != want {
			t.Errorf("pull %d: %d components moved, want %d", n, moved, want)
		}
	}
	text, _ := w.ChangesAfter(last)
	if n := strings.Count(text, "22 b "); n != 1 {
		t.Errorf("%d entries 22 of b:\n%s", n, text)
	}
	for _, want := range []string{"31 a/de", "31 c/de"} {
		if n := strings.Count(text, want); n != 2 {
			t.Errorf("%d entries %q:\n%s", n, want, text)
		}
	}
}

// TestImportThenPull imports an old commit of real repositories and pulls the
// head in several pulls. The units must equal an import of the head, and the
// entries applied to the units of the first import must give the last targets.
func TestImportThenPull(t *testing.T) {
	catalogtest.NeedShared(t, sharedRepos)
	for _, c := range []struct {
		bundle   string
		settings map[string]catalog.ComponentSettings
		back     []int // first-parent commits before the head, where pulls end
	}{
		{"switchboard", map[string]catalog.ComponentSettings{
			"switchboard": {NewBase: "po/io.elementary.settings.pot"},
			"extra":       {Filemask: "po/extra/*.po", NewBase: "po/extra/extra.pot"},
		}, []int{600, 300, 1}},
		{"gtranslator-po", map[string]catalog.ComponentSettings{"app": {}, "help": {Filemask: "help/*/*.po"}}, []int{120, 40}},
		{"vim-po", map[string]catalog.ComponentSettings{"vim": {Filemask: "src/po/*.po", NewBase: "src/po/vim.pot"}}, []int{60}},
		{"python-docs-pl", map[string]catalog.ComponentSettings{"docs-{component}": {Filemask: "*/{component}.po"}}, []int{30}},
	} {
		t.Run(c.bundle, func(t *testing.T) {
			if underRace && c.bundle != "switchboard" {
				t.Skip("the same code ten times slower: one repository is enough for the race detector")
			}
			t.Parallel()
			if underRace {
				c.back = []int{120, 40}
			}
			dir := catalogtest.Bundle(t, filepath.Join(sharedRepos, c.bundle+".bundle"))
			c.settings = withoutAgeCheck(c.settings)
			branch := catalogtest.Git(t, dir, "symbolic-ref", "HEAD")
			chain := strings.Fields(catalogtest.Git(t, dir, "rev-list", "--first-parent", "HEAD"))
			w := catalogtest.NewPuller(t, dir, c.settings)
			texts := make(map[int64]string)
			var changes int64
			for n, back := range append(c.back, 0) {
				catalogtest.Git(t, dir, "update-ref", branch, chain[back])
				report := w.Sync()
				if n == 0 {
					w.Targets(texts)
				} else {
					changes += report.Changes
				}
			}
			if changes < 100 {
				t.Errorf("only %d entries: the test compares nothing", changes)
			}
			t.Logf("%d entries", changes)
			w.ApplyChanges(texts)
			final := make(map[int64]string)
			w.Targets(final)
			if diff := cmp.Diff(final, texts); diff != "" {
				t.Errorf("the entries do not lead to the units (-units +entries):\n%.4000s", diff)
			}
			fresh := catalogtest.NewPuller(t, dir, c.settings)
			fresh.Sync()
			if diff := cmp.Diff(fresh.ServedUnits(), w.ServedUnits()); diff != "" {
				t.Errorf("pulling and importing differ (-import +pull):\n%.4000s", diff)
			}
		})
	}
}

// withoutAgeCheck returns components without the check that depends on the age
// of strings: after a first import strings are as old as the head, after a
// replay they are not.
func withoutAgeCheck(components map[string]catalog.ComponentSettings) map[string]catalog.ComponentSettings {
	out := make(map[string]catalog.ComponentSettings, len(components))
	for slug, s := range components {
		s.CheckFlags = strings.Trim(s.CheckFlags+",ignore-long-untranslated", ",")
		out[slug] = s
	}
	return out
}

// TestOneStepOrMany pulls the same commits one by one and all at once: the
// entries must be the same, except ids and times.
func TestOneStepOrMany(t *testing.T) {
	oneAtATime(t)
	catalogtest.NeedShared(t, sharedRepos)
	dir := catalogtest.Bundle(t, filepath.Join(sharedRepos, "dnf-plugins-core.bundle"))
	branch := catalogtest.Git(t, dir, "symbolic-ref", "HEAD")
	chain := strings.Fields(catalogtest.Git(t, dir, "rev-list", "--first-parent", "HEAD"))
	settings := map[string]catalog.ComponentSettings{"dnf": {NewBase: "po/dnf-plugins-core.pot"}}
	var entries [2]string
	var dumps [2]string
	const first, enough = 250, 10000
	for road := range 2 {
		catalogtest.Git(t, dir, "update-ref", branch, chain[first])
		w := catalogtest.NewPuller(t, dir, settings)
		w.Sync()
		_, last := w.ChangesAfter(0)
		if road == 1 {
			for back := first - 1; back > 0; back -= 7 {
				catalogtest.Git(t, dir, "update-ref", branch, chain[back])
				w.Sync()
			}
		}
		catalogtest.Git(t, dir, "update-ref", branch, chain[0])
		w.Sync()
		entries[road] = w.ChangesText(last)
		dumps[road] = w.ServedUnits()
	}
	if diff := cmp.Diff(entries[0], entries[1]); diff != "" {
		t.Errorf("entries differ (-at once +piecemeal):\n%.4000s", diff)
	}
	if len(entries[0]) < enough {
		t.Errorf("only %d bytes of entries: the test compares nothing", len(entries[0]))
	}
	if diff := cmp.Diff(dumps[0], dumps[1]); diff != "" {
		t.Errorf("units differ:\n%.4000s", diff)
	}
}
