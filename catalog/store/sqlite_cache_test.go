package store

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// TestCacheSize: the writer's cache is large for imports only.
func TestCacheSize(t *testing.T) {
	pgtest.SQLiteOnly(t, "it is about the page cache")
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, c := range []struct {
		name string
		info StepInfo
		want int64
	}{
		{"pull", StepInfo{From: "a", To: "b"}, sqldb.StepCache},
		{"import", StepInfo{To: "b"}, sqldb.ImportCache},
		{"replay", StepInfo{From: "a", To: "b", Partial: true}, sqldb.ImportCache},
		{"checks", StepInfo{From: "b", To: "b"}, sqldb.ImportCache},
		{"next pull", StepInfo{From: "b", To: "c"}, sqldb.StepCache},
	} {
		var is int64
		err := db.write(t.Context(), func(s *sqldb.Session) error {
			if err := s.ResizeCache(t.Context(), c.info.cacheSize()); err != nil {
				return err
			}
			_, err := s.First(context.WithoutCancel(t.Context()), "PRAGMA cache_size", nil, &is)
			return err
		})
		if err != nil || is != -c.want {
			t.Errorf("%s: cache of %d KiB, want %d: %v", c.name, -is, c.want, err)
		}
	}
}

// TestCacheAfterImport: an import leaves a small cache, a part of one a large one.
func TestCacheAfterImport(t *testing.T) {
	pgtest.SQLiteOnly(t, "it is about the page cache")
	db := openWith(t, "app")
	for _, c := range []struct {
		info StepInfo
		want int
	}{
		{StepInfo{From: "", Partial: true}, sqldb.ImportCache},
		{StepInfo{From: info(0, 1, 1).To}, sqldb.StepCache},
	} {
		s := info(0, 1, 1)
		s.From, s.Partial = c.info.From, c.info.Partial
		step(t, db, s, func(context.Context, *StepTx) error { return nil })
		if err := db.write(t.Context(), func(s *sqldb.Session) error {
			if s.Cache != c.want {
				t.Errorf("partial %v: a cache of %d KiB, want %d", c.info.Partial, s.Cache, c.want)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}
