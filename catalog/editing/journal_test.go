package editing_test

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/catalog/store/transfer"
)

// TestJournalIsKept: a copy of the database, by backup and restore and by export and
// import, has the journal, and serves what is pending; a new mirror changes nothing.
func TestJournalIsKept(t *testing.T) {
	pgtest.SQLiteOnly(t, "backups are of files")
	w, _ := editable(t, map[string]string{"po/cs.po": po("One", "", "Two", "Dvě")})
	must(t, w.Write("One", catalog.StateTranslated, "Jedna"))
	must(t, w.Write("Two", catalog.StateTranslated, "Dva"))
	must(t, w.Write("Two", catalog.StateTranslated, "Dvě")) // taken back
	w.RemoveFile("po/cs.po")
	want, wantFiles := w.Journal(), fileEdits(w)
	backup := filepath.Join(t.TempDir(), "backup.db")
	_, err := transfer.WriteBackup(t.Context(), w.Database(), backup)
	must(t, err)
	var export bytes.Buffer
	_, err = transfer.Export(t.Context(), w.Database(), &export)
	must(t, err)
	for name, copied := range map[string]func(file string) error{
		"backup": func(file string) error {
			_, _, err := transfer.RestoreBackup(t.Context(), backup, file)
			return err
		},
		"export": func(file string) error {
			_, err := transfer.Import(t.Context(), bytes.NewReader(export.Bytes()), file, store.Options{})
			return err
		},
	} {
		there := catalogtest.PullerAt(t, t.TempDir()) // without a mirror
		must(t, copied(there.Database()))
		there.Open()
		there.Branch = w.Branch
		there.Sync()
		equal(t, want, there.Journal(), "the journal by %s", name)
		equal(t, wantFiles, fileEdits(there), "the edits of files by %s", name)
		if u := there.UnitOf("cs", "One"); u.Target != "Jedna" || !u.Pending {
			t.Errorf("by %s: %+v", name, u)
		}
		there.Verify()
	}
}

// fileEdits returns the pending edits of files of all components.
func fileEdits(w *catalogtest.Puller) (list []store.Edit) {
	w.TB.Helper()
	seen := map[int64]bool{}
	w.EachUnit(func(c *catalog.Component, _ *catalog.Translation, _ *catalog.Unit) { seen[c.ID] = true })
	must(w.TB, w.DB.Read(w.TB.Context(), func(ctx context.Context, snap *store.Snapshot) error {
		for id := range seen {
			of, err := snap.PendingFiles(ctx, id)
			if err != nil {
				return err
			}
			list = append(list, of...)
		}
		return nil
	}))
	if len(list) == 0 {
		w.TB.Error("no edits of files")
	}
	return list
}
