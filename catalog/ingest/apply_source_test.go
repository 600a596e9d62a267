package ingest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// TestBrokenFirstFile: a source translation without a file of its own has
// filename and revision of the version that is served, not of the broken one.
func TestBrokenFirstFile(t *testing.T) {
	w, repo := app(t, catalog.ComponentSettings{}, map[string]string{"po/cs.po": po("One", "Jedna"), "po/de.po": po("Two", "Zwei")})
	before := servedUnits(w)
	pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/cs.po": garbage, "po/de.po": po("Three", "Drei")}})
	pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/de.po": po("Two", "Zwei")}})
	equal(t, before, servedUnits(w), "units changed")
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
	before := servedUnits(w)
	pullCommit(w, repo, testrepos.Change{Message: "none", Delete: []string{"po/en.po", "po/cs.po"}, Files: map[string]string{"README": ""}})
	pullCommit(w, repo, testrepos.Change{Message: "back", Files: map[string]string{"po/en.po": english, "po/cs.po": po("One", "Jedna")}})
	equal(t, before, servedUnits(w), "(-before +after)")
	pullCommit(w, repo, testrepos.Change{Message: "none", Delete: []string{"po/en.po", "po/cs.po"}})
	pullCommit(w, repo, testrepos.Change{Message: "one", Files: map[string]string{"po/en.po": english}})
	if got := servedUnits(w); strings.Count(got, "app/en") != 2 {
		t.Errorf("the source file alone gives\n%s", got)
	}
}

// TestRemovedOwnsNothing: a removed translation that had the file which is the source's
// own one now takes nothing of its place: corrected filemasks and new_base, and commits
// alone, end where an import does, with the file's bytes.
func TestRemovedOwnsNothing(t *testing.T) {
	english, template := po("One", "", "Only en", ""), po("One", "", "Only POT", "")
	for name, tt := range map[string]struct {
		files         map[string]string
		first, then   catalog.ComponentSettings
		after         []testrepos.Change
		file, content string
	}{
		"filemask": {
			files: map[string]string{"po/en.po": english, "po/fr.po": po("One", "Un")},
			first: catalog.ComponentSettings{Filemask: "*/*.po"}, then: catalog.ComponentSettings{Filemask: "po/*.po"},
			after: []testrepos.Change{
				{Files: map[string]string{"po/fr.po": po("One", "Une")}},
				{Files: map[string]string{"po/en.po": po("One", "", "Only en", "", "Two", "")}},
				{Files: map[string]string{"po/fr.po": po("One", "Un", "Two", "Deux")}},
			},
			file: "po/en.po", content: po("One", "", "Only en", "", "Two", ""),
		},
		"new_base": {
			files: map[string]string{"po/app.po": template, "po/fr.po": po("One", "Un")},
			then:  catalog.ComponentSettings{NewBase: "po/app.po"},
			after: []testrepos.Change{
				{Files: map[string]string{"po/fr.po": po("One", "Une")}},
				{Files: map[string]string{"po/app.po": po("One", "", "Only POT", "", "Two", "")}},
			},
			file: "po/app.po", content: po("One", "", "Only POT", "", "Two", ""),
		},
		"commit": {
			files: map[string]string{"po/cs.po": po("One", "A"), "po/cs_CZ.po": po("One", "B"), "po/de.po": po("One", "Eins")},
			first: catalog.ComponentSettings{SourceLanguage: "cs"}, then: catalog.ComponentSettings{SourceLanguage: "cs"},
			after: []testrepos.Change{
				{Files: map[string]string{"po/cs_CZ.po": po("One", "C")}, Delete: []string{"po/cs.po"}},
				{Files: map[string]string{"po/de.po": po("One", "eins")}},
			},
			file: "po/cs_CZ.po", content: po("One", "C"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			tt.first.LanguageRegex, tt.then.LanguageRegex = "^[^.]+$", "^[^.]+$"
			w, repo := app(t, tt.first, tt.files)
			w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"app": tt.then})
			w.Sync()
			for _, change := range tt.after {
				pullCommit(w, repo, change)
				likeImport(w, repo, "app", tt.then)
			}
			if got := servedFile(w, "app", tt.file); got != tt.content {
				t.Errorf("%s is\n%swant\n%s", tt.file, got, tt.content)
			}
		})
	}
}

// TestAllFilesVanish: a component without files has no translation, whatever it had
// before, and gets its source units back with the files.
func TestAllFilesVanish(t *testing.T) {
	for _, history := range []bool{false, true} {
		s := catalog.ComponentSettings{History: catalog.History{Full: history}}
		files := map[string]string{"po/cs.po": po("One", "Jedna"), "po/de.po": po("One", "Eins", "Two...", "Zwei")}
		w, repo := app(t, s, files)
		before := w.Targets()
		pullCommit(w, repo, testrepos.Change{Delete: []string{"po/cs.po", "po/de.po"}, Files: map[string]string{"new/po/cs.po": po("One", "Jedna")}})
		equal(t, []string(nil), servedFiles(w, "app"), "translations without files")
		likeImport(w, repo, "app", s)
		s.LanguageRegex = "^[^.]+$"
		likeImport(synced(t, repo.URL(), map[string]catalog.ComponentSettings{"app": withHistory(map[string]catalog.ComponentSettings{"app": s})["app"]}), repo, "app", s)
		pullCommit(w, repo, testrepos.Change{Files: map[string]string{"README": ""}})
		likeImport(w, repo, "app", s)
		pullCommit(w, repo, testrepos.Change{Files: files})
		likeImport(w, repo, "app", s)
		equal(t, before, w.Targets(), "units that came back")
	}
}

// likeImport checks that a component serves what an import of the head does: rows,
// units, and the bytes of files; and that a recount and the mirror agree.
func likeImport(w *catalogtest.Puller, repo *testrepos.Repo, slug string, s catalog.ComponentSettings) {
	w.TB.Helper()
	if s.LanguageRegex == "" {
		s.LanguageRegex = "^[^.]+$"
	}
	s.History = catalog.History{}
	fresh := synced(w.TB, repo.URL(), map[string]catalog.ComponentSettings{slug: s})
	equal(w.TB, servedFiles(fresh, slug), servedFiles(w, slug), "translations (-import +pull)")
	equal(w.TB, servedUnits(fresh), servedUnits(w), "units (-import +pull)")
	for _, f := range servedFiles(w, slug) {
		_, path, _ := strings.Cut(f, "=")
		equal(w.TB, servedFile(fresh, slug, path), servedFile(w, slug, path), "%s (-import +pull)", path)
	}
	if _, lines := verifyMirrors(w); lines != nil {
		w.TB.Errorf("verify: %q", lines)
	}
	must(w.TB, fresh.DB.Close())
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
