package ingest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// TestMissing: what a file does not have is what the template has, also after a string has
// left the file, and without what only other files have or what came and left everywhere.
func TestMissing(t *testing.T) {
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: map[string]string{
		"po/app.pot": po("One", "", "Two", "", "Three", ""), "po/cs.po": po("One", "Jedna", "Two", "Dvě", "Three", "", "Old", "Staré"), "po/de.po": po("One", "Eins"),
	}})
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot"}})
	missing := func(language string, offset, limit int) string {
		t.Helper()
		var list []string
		w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
			row, err := snap.Translation(ctx, c.Project.Slug, c.Slug, language)
			if err != nil {
				return err
			}
			units, err := snap.Missing(ctx, c.ID, row.ID, offset, limit)
			for i := range units {
				list = append(list, units[i].Source)
			}
			return err
		})
		return strings.Join(list, " ")
	}
	equal(t, "Two Three", missing("de", 0, 10), "what de lacks")
	equal(t, "Three", missing("de", 1, 1), "a page of it")
	equal(t, "", missing("cs", 0, 10), "what cs lacks")
	equal(t, "", missing("en", 0, 10), "what en lacks")
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("Two", "Dvě"), "po/de.po": po("One", "Eins", "Four", "")}})
	w.Sync()
	equal(t, "One Three", missing("cs", 0, 10), "what cs lacks after it lost a string")
	equal(t, "Two Three", missing("de", 0, 10), "what de lacks after that")
}
