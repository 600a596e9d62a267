package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestOneComponentFails: a component whose stored data is damaged stays where
// it is; the others of its convoy go on.
func TestOneComponentFails(t *testing.T) {
	repo := repoWith(t, map[string]string{"a/cs.po": po("One", "Jedna"), "b/cs.po": po("One", "Jedna"), "c/cs.po": po("One", "Jedna")})
	w := synced(t, repo.URL(), map[string]catalog.ComponentSettings{"a": {Filemask: "a/*.po"}, "b": {Filemask: "b/*.po"}, "c": {Filemask: "c/*.po"}})
	pullCommit(w, repo, testrepos.Change{Files: map[string]string{"b/cs.po": garbage}})
	w.DB.Close()
	execute(w.Store, "DELETE FROM files")
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
	equal(t, 1, strings.Count(text, "22 b "), "entries 22 of b in\n%s", text)
	for _, want := range []string{"31 a/de", "31 c/de"} {
		equal(t, 2, strings.Count(text, want), "entries %q of\n%s", want, text)
	}
}

// TestImportThenPull imports an old commit of real repositories and pulls the
// head in several pulls. The units must equal an import of the head, and the
// entries applied to the units of the first import must give the last targets.
func TestImportThenPull(t *testing.T) {
	gittest.Shared(t, "data", "repos")
	for _, c := range []struct {
		bundle   string
		settings map[string]catalog.ComponentSettings
		back     []int // first-parent commits before the head, where pulls end
		nightly  bool
	}{
		{"switchboard", map[string]catalog.ComponentSettings{
			"switchboard": {NewBase: "po/io.elementary.settings.pot"},
			"extra":       {Filemask: "po/extra/*.po", NewBase: "po/extra/extra.pot"},
		}, []int{600, 300, 1}, false},
		{"gtranslator-po", map[string]catalog.ComponentSettings{"app": {}, "help": {Filemask: "help/*/*.po"}}, []int{120, 40}, false},
		{"vim-po", map[string]catalog.ComponentSettings{"vim": {Filemask: "src/po/*.po", NewBase: "src/po/vim.pot"}}, []int{60}, true},
		{"python-docs-pl", map[string]catalog.ComponentSettings{"docs-{component}": {Filemask: "*/{component}.po"}}, []int{30}, true},
	} {
		t.Run(c.bundle, func(t *testing.T) {
			if c.nightly && !testsize.Nightly() || testing.Short() && c.bundle != "switchboard" {
				t.Skip("slow: it compares a large repository")
			}
			t.Parallel()
			if !testsize.Nightly() && c.bundle == "switchboard" {
				c.back = []int{120, 40, 1}
			}
			dir := gittest.Bundle(t, c.bundle)
			c.settings = withoutAgeCheck(c.settings)
			branch := gittest.RunGit(t, dir, "symbolic-ref", "HEAD")
			chain := strings.Fields(gittest.RunGit(t, dir, "rev-list", "--first-parent", "HEAD"))
			w := catalogtest.NewPuller(t, dir, c.settings)
			var texts map[int64]string
			var changes int64
			for n, back := range append(c.back, 0) {
				gittest.RunGit(t, dir, "update-ref", branch, chain[back])
				report := w.Sync()
				if n == 0 {
					texts = w.Targets()
				} else {
					changes += report.Changes
				}
			}
			if changes < 100 {
				t.Errorf("only %d entries: the test compares nothing", changes)
			}
			t.Logf("%d entries", changes)
			entriesLeadToUnits(w, texts)
			fresh := synced(t, dir, c.settings)
			equal(t, servedUnits(fresh), servedUnits(w), "pulling and importing differ (-import +pull)")
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
	gittest.Shared(t, "data", "repos")
	dir := gittest.Bundle(t, "dnf-plugins-core")
	branch := gittest.RunGit(t, dir, "symbolic-ref", "HEAD")
	chain := strings.Fields(gittest.RunGit(t, dir, "rev-list", "--first-parent", "HEAD"))
	settings := map[string]catalog.ComponentSettings{"dnf": {NewBase: "po/dnf-plugins-core.pot"}}
	var entries [2]string
	var dumps [2]string
	const first, enough = 250, 10000
	for road := range 2 {
		gittest.RunGit(t, dir, "update-ref", branch, chain[first])
		w := synced(t, dir, settings)
		_, last := w.ChangesAfter(0)
		if road == 1 {
			for back := first - 1; back > 0; back -= 7 {
				gittest.RunGit(t, dir, "update-ref", branch, chain[back])
				w.Sync()
			}
		}
		gittest.RunGit(t, dir, "update-ref", branch, chain[0])
		w.Sync()
		entries[road] = changesText(w, last)
		dumps[road] = servedUnits(w)
	}
	equal(t, entries[0], entries[1], "entries differ (-at once +piecemeal)")
	if len(entries[0]) < enough {
		t.Errorf("only %d bytes of entries: the test compares nothing", len(entries[0]))
	}
	equal(t, dumps[0], dumps[1], "units differ")
}

// TestShownCommit: the commit that people are shown follows the head, in every
// way in which it moves.
func TestShownCommit(t *testing.T) {
	for _, history := range []catalog.History{{}, {Full: true}} {
		w, repo := app(t, catalog.ComponentSettings{History: history}, map[string]string{"po/cs.po": po("One", "Jedna")})
		want := func(path, text, message string) {
			t.Helper()
			pullCommit(w, repo, testrepos.Change{Message: message, Files: map[string]string{path: text}})
			w.Read(func(ctx context.Context, s *store.Snapshot) error {
				c, err := s.Component(ctx, "demo", "app")
				if err != nil {
					return err
				}
				got, err := s.HeadCommit(ctx, c.ID)
				switch {
				case got == nil:
					t.Errorf("%s: nothing is known of the head", path)
				case got.Hash != c.Head || got.Summary() != strings.SplitN(message, "\n", 2)[0] || got.Author == "" || got.CommitTime.IsZero() || strings.Contains(got.Message, "@"):
					t.Errorf("%s: %+v at %s", path, got, c.Head)
				}
				return err
			})
		}
		want("po/cs.po", po("One", "Jeden"), "A translation\n\nCo-authored-by: Jane <jane@example.org>")
		want("README", "read me", "No file of ours")
	}
}
