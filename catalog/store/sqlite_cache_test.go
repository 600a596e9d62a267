package store

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// TestCacheSize: the writer's cache is large for imports only.
func TestCacheSize(t *testing.T) {
	pgtest.SQLiteOnly(t, "it is about the page cache")
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, c := range []struct {
		name string
		info StepInfo
		want int64
	}{
		{"pull", StepInfo{From: "a", To: "b"}, stepCache},
		{"import", StepInfo{To: "b"}, importCache},
		{"replay", StepInfo{From: "a", To: "b", Partial: true}, importCache},
		{"checks", StepInfo{From: "b", To: "b"}, importCache},
		{"next pull", StepInfo{From: "b", To: "c"}, stepCache},
	} {
		var is int64
		err := db.write(t.Context(), func(s *session) error {
			if err := s.resizeCache(t.Context(), c.info.cacheSize()); err != nil {
				return err
			}
			_, err := s.first(context.WithoutCancel(t.Context()), "PRAGMA cache_size", nil, &is)
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
		{StepInfo{From: "", Partial: true}, importCache},
		{StepInfo{From: info(0, 1, 1).To}, stepCache},
	} {
		s := info(0, 1, 1)
		s.From, s.Partial = c.info.From, c.info.Partial
		step(t, db, s, func(context.Context, *StepTx) error { return nil })
		if err := db.write(t.Context(), func(s *session) error {
			if s.cache != c.want {
				t.Errorf("partial %v: a cache of %d KiB, want %d", c.info.Partial, s.cache, c.want)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}
