package ingest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// TestMissing: what a file does not have is what the template or another file has, also
// after a string has left the file, and without those that came or left everywhere.
func TestMissing(t *testing.T) {
	w, repo := editable(t, map[string]string{"po/cs.po": po("One", "Jedna", "Two", "Dvě", "Three", ""), "po/de.po": po("One", "Eins")})
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
	equal(t, "One Four", missing("cs", 0, 10), "what cs lacks after it lost a string")
	equal(t, "Two", missing("de", 0, 10), "what de lacks after that")
}
