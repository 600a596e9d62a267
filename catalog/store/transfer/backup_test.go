package transfer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// TestBackup: a backup is written beside a database that is open, has its generation,
// and becomes the database again; what was there is kept.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dsn, file := filepath.Join(dir, "repoglot.db"), filepath.Join(dir, "backup.db")
	db, err := store.Open(t.Context(), dsn, sqldb.Options{})
	gittest.Must(t, err)
	gittest.Must(t, db.Configure(t.Context(), []catalog.Project{{Slug: "before"}}, nil, nil))
	b, err := WriteBackup(t.Context(), dsn, file)
	gittest.Must(t, err)
	info, err := os.Stat(file)
	gittest.Must(t, err)
	if b.Generation == 0 || b.Schema == 0 || b.Bytes != info.Size() || info.Mode().Perm() != 0o600 {
		t.Errorf("backup %+v, file %v", b, info)
	}
	if _, err := WriteBackup(t.Context(), dsn, file); !errors.Is(err, catalog.ErrInvalid) {
		t.Errorf("over a file: %v", err)
	}
	gittest.Must(t, db.Configure(t.Context(), []catalog.Project{{Slug: "before"}, {Slug: "after"}}, nil, nil))
	gittest.Must(t, db.Close())
	got, kept, err := RestoreBackup(t.Context(), file, dsn)
	gittest.Must(t, err)
	if got != b || kept != dsn+".replaced-1" {
		t.Errorf("restored %+v, want %+v; kept %q", got, b, kept)
	}
	histories := map[string]bool{}
	for name, want := range map[string]int{dsn: 1, kept: 2} {
		db, err := store.Open(t.Context(), name, sqldb.Options{})
		gittest.Must(t, err)
		histories[db.Position(&catalog.Token{ID: 1}).History] = true
		gittest.Must(t, db.Read(t.Context(), func(ctx context.Context, s *store.Snapshot) error {
			list, err := s.Projects(ctx)
			if len(list) != want {
				t.Errorf("%s has %d projects, want %d", name, len(list), want)
			}
			return err
		}))
		gittest.Must(t, db.Close())
	}
	if len(histories) != 2 {
		t.Errorf("both have the history %v", histories)
	}
}

// TestBadBackups: what is no backup is refused, and the database stays.
func TestBadBackups(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dsn := filepath.Join(dir, "repoglot.db")
	db, err := store.Open(t.Context(), dsn, sqldb.Options{})
	gittest.Must(t, err)
	good := filepath.Join(dir, "good.db")
	_, err = WriteBackup(t.Context(), dsn, good)
	gittest.Must(t, err)
	gittest.Must(t, db.Close())
	data, err := os.ReadFile(good)
	gittest.Must(t, err)
	other, err := plainSQLite(filepath.Join(dir, "other.db"), "rwc")
	gittest.Must(t, err)
	_, err = other.ExecContext(t.Context(), "CREATE TABLE x (y)")
	gittest.Must(t, err)
	gittest.Must(t, other.Close())
	older := filepath.Join(dir, "older.db")
	gittest.Must(t, os.WriteFile(older, data, 0o600))
	for file, statement := range map[string]string{
		good:  "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)",
		older: "UPDATE goose_db_version SET version_id = 44",
	} {
		h, err := plainSQLite(file, "rw")
		gittest.Must(t, err)
		_, err = h.ExecContext(t.Context(), statement)
		gittest.Must(t, err)
		gittest.Must(t, h.Close())
	}
	spoilt := append([]byte(nil), data...)
	for i := len(spoilt) / 2; i < len(spoilt); i++ {
		spoilt[i] ^= 0x55
	}
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "spoilt.db"), spoilt, 0o600))
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "cut.db"), data[:len(data)/2], 0o600))
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "text.db"), []byte("not a database"), 0o600))
	for name, want := range map[string]string{
		"none.db": "no such file", "other.db": "no database of repoglot", "good.db": "upgrade repoglot",
		"older.db":  "before the first release",
		"spoilt.db": "cannot be used", "cut.db": "cannot be used", "text.db": "cannot be used",
	} {
		_, kept, err := RestoreBackup(t.Context(), filepath.Join(dir, name), dsn)
		if err == nil || !strings.Contains(err.Error(), want) || kept != "" {
			t.Errorf("%s: %v, kept %q; want %s", name, err, kept, want)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.part"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	db, err = store.Open(t.Context(), dsn, sqldb.Options{})
	gittest.Must(t, err)
	gittest.Must(t, db.Close())
}
