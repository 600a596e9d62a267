//go:build unix

package transfer

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// TestRestoreOwner: what root restores, the user of the server can open.
func TestRestoreOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can give files away")
	}
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "backup.db")
	dsn := filepath.Join(dir, "repoglot.db")
	db, err := store.Open(t.Context(), dsn, sqldb.Options{})
	gittest.Must(t, err)
	gittest.Must(t, db.Close())
	_, err = WriteBackup(t.Context(), dsn, file)
	gittest.Must(t, err)
	gittest.Must(t, os.Chown(dir, 65534, 65533))
	_, _, err = RestoreBackup(t.Context(), file, dsn)
	gittest.Must(t, err)
	info, err := os.Stat(dsn)
	gittest.Must(t, err)
	if of, is := info.Sys().(*syscall.Stat_t); !is || of.Uid != 65534 || of.Gid != 65533 || info.Mode().Perm() != 0o600 {
		t.Errorf("%+v", info.Sys())
	}
}
