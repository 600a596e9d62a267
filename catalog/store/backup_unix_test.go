//go:build unix

package store

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// TestRestoreOwner: what root restores, the user of the server can open.
func TestRestoreOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can give files away")
	}
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "backup.db")
	dsn := filepath.Join(dir, "repoglot.db")
	db, err := Open(t.Context(), dsn, sqldb.Options{})
	ok(t, err)
	ok(t, db.Close())
	_, err = WriteBackup(t.Context(), dsn, file)
	ok(t, err)
	ok(t, os.Chown(dir, 65534, 65533))
	_, _, err = RestoreBackup(t.Context(), file, dsn)
	ok(t, err)
	info, err := os.Stat(dsn)
	ok(t, err)
	if of, is := info.Sys().(*syscall.Stat_t); !is || of.Uid != 65534 || of.Gid != 65533 || info.Mode().Perm() != 0o600 {
		t.Errorf("%+v", info.Sys())
	}
}
