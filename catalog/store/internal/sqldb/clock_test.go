package sqldb

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// TestNow: what people were given ends by the clock of the database that processes share, whatever
// that of a process says; by the process's own where no other has the database.
func TestNow(t *testing.T) {
	t.Parallel()
	wrong := func() time.Time { return time.Now().AddDate(0, 0, -3) }
	o := Options{Now: wrong}.WithDefaults()
	o.OwnClock = false
	dsn := filepath.Join(t.TempDir(), "t.db")
	if pgtest.Chosen() {
		dsn = pgtest.DSN(t, dsn)
	}
	db := New(dsn, o, nil)
	pools, err := db.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer pools.Close()
	want := wrong()
	if pgtest.Chosen() {
		want = time.Now()
	}
	if err := pools.Readers.Transact(t.Context(), func(s *Session) error {
		now, err := s.Now(context.Background())
		if off := time.UnixMicro(now).Sub(want).Abs(); off > time.Hour {
			t.Errorf("it is %v off", off)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
