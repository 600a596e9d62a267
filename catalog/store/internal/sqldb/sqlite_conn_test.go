package sqldb

import (
	"path/filepath"
	"reflect"
	"testing"
	"unsafe"

	sqlite3 "modernc.org/sqlite/lib"
)

// TestUnlocked: a connection has no mutex. If a new driver keeps its handle elsewhere, unlock
// has to be mended.
func TestUnlocked(t *testing.T) {
	t.Parallel()
	conn, err := openSQLiteConnection(filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	db := uintptr(reflect.ValueOf(conn.(*sqliteConnection).conn).Elem().FieldByName("db").Uint())
	if mutex := (*(**sqlite3.Tsqlite3)(unsafe.Pointer(&db))).Fmutex; mutex != 0 {
		t.Errorf("the connection has the mutex %x", mutex)
	}
}
