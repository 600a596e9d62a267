package ingest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// missingStrings are a part of the strings that a translation's file lacks, and their number.
func missingStrings(ctx context.Context, w *catalogtest.Puller, snap *store.Snapshot, c *store.ComponentRow, translation int64, expr query.Expr, offset int64, limit int) (sources []string, count int64) {
	w.TB.Helper()
	found, err := snap.Search(ctx, store.SearchQuery{Components: map[int64]*store.ComponentRow{c.ID: c}, TranslationID: translation, Missing: true, Expr: expr})
	must(w.TB, err)
	units, _, err := found.Page(ctx, offset, limit)
	must(w.TB, err)
	for i := range units {
		sources = append(sources, units[i].Source)
	}
	return sources, found.Count()
}

// TestMissing: what a file does not have is what the template has, also after a string has
// left the file, and without what only other files have or what came and left everywhere.
func TestMissing(t *testing.T) {
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: map[string]string{
		"po/app.pot": po("One", "", "Two", "", "Three", ""), "po/cs.po": po("One", "Jedna", "Two", "Dvě", "Three", "", "Old", "Staré"), "po/de.po": po("One", "Eins"),
	}})
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot"}})
	missing := func(language string, offset int64, limit int) (list string) {
		t.Helper()
		w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
			row, err := snap.Translation(ctx, c.Project.Slug, c.Slug, language)
			if err == nil {
				sources, _ := missingStrings(ctx, w, snap, c, row.ID, query.All, offset, limit)
				list = strings.Join(sources, " ")
			}
			return err
		})
		return list
	}
	equal(t, "Two Three", missing("de", 0, 10), "what de lacks")
	equal(t, "Three", missing("de", 1, 1), "a page of it")
	equal(t, "", missing("de", 5, 1), "a page after it")
	equal(t, "", missing("cs", 0, 10), "what cs lacks")
	equal(t, "", missing("en", 0, 10), "what en lacks")
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("Two", "Dvě"), "po/de.po": po("One", "Eins", "Four", "")}})
	w.Sync()
	equal(t, "One Three", missing("cs", 0, 10), "what cs lacks after it lost a string")
	equal(t, "Two Three", missing("de", 0, 10), "what de lacks after that")
}

// TestSearchMissing searches what a file lacks: as strings of its translation without a text
// and without a history, with the notes, places and times of the template.
func TestSearchMissing(t *testing.T) {
	repo := testrepos.Empty(t)
	const template = "\n#. Note of two\n#: src/two.c:2\nmsgid \"Two\"\nmsgstr \"\"\n\n#: src/three.c:3\n#, c-format\nmsgctxt \"menu\"\nmsgid \"Three\"\nmsgid_plural \"%d Threes\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n"
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/app.pot": po("One", "") + template, "po/de.po": po("One", "Eins", "Old", "Alt")}})
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot"}})
	for q, want := range map[string]string{
		"": "Two Three", "two": "Two", "menu": "Three", "alt": "", "old": "", "one": "",
		"source:t": "Two Three", "context:=menu": "Three", "note:note": "Two", "location:three.c": "Three", "has:note": "Two", "has:context": "Three", "has:plural": "Three",
		"state:empty": "Two Three", "state:<translated": "Two Three", "state:needs-editing": "", "is:untranslated": "Two Three", "is:translated": "", "NOT is:translated AND three": "Three",
		"target:x": "", `target:""`: "Two Three", "has:translation": "", "NOT has:translation": "Two Three", "has:check": "", "has:suggestion": "", "has:comment": "", "is:pending": "",
		"language:de": "Two Three", "language:en": "", "component:app": "Two Three", "added:>2001-01-01": "Two Three", "added:<2001-01-01": "", "changed:>2001-01-01": "", "changed_by:jana": "",
		"position:2": "Two", "two OR menu": "Two Three", "two menu": "",
	} {
		expr, err := query.ParseAt(q, time.Now())
		must(t, err)
		w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
			row, err := snap.Translation(ctx, c.Project.Slug, c.Slug, "de")
			must(t, err)
			sources, count := missingStrings(ctx, w, snap, c, row.ID, expr, 0, 10)
			for i := range sources {
				sources[i] = catalog.SplitForms(sources[i])[0]
			}
			equal(t, want, strings.Join(sources, " "), "%s", q)
			equal(t, int64(len(sources)), count, "the number of %s", q)
			return nil
		})
	}
}
