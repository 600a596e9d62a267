package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// raw opens the file like another program would.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	h, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	h.SetMaxOpenConns(1)
	t.Cleanup(func() { h.Close() })
	return h
}

func execute(t *testing.T, h *sql.DB, query string) {
	t.Helper()
	if _, err := h.Exec(query); err != nil {
		t.Fatal(err)
	}
}

// Every reason why a database cannot be opened gives one line with the remedy.
func TestOpenErrors(t *testing.T) {
	pgtest.SQLiteOnly(t, "it is about files")
	tests := []struct {
		name string
		make func(t *testing.T, dir string) (dsn string)
		want []string
	}{
		{"no server", func(*testing.T, string) string { return "postgres://u:hunter2@127.0.0.1:1/db" }, []string{`database "db" of u at 127.0.0.1:1`, "no connection", "check that the server runs"}},
		{"no address", func(*testing.T, string) string { return "postgres://u:hunter2@host:port/db" }, []string{"not valid"}},
		{"no path", func(*testing.T, string) string { return "" }, []string{"no database path"}},
		{"no folder", func(_ *testing.T, dir string) string { return filepath.Join(dir, "no", "x.db") }, []string{"does not exist", "data_dir"}},
		{"folder is a file", func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, "file"), nil)
			return filepath.Join(dir, "file", "x.db")
		}, []string{"cannot write", "data_dir"}},
		{"is a folder", func(_ *testing.T, dir string) string { return dir }, []string{"cannot write", "data_dir"}},
		{"folder not writable", func(t *testing.T, dir string) string {
			if os.Geteuid() == 0 {
				t.Skip("root may write everywhere")
			}
			if err := os.Chmod(dir, 0o500); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(dir, "x.db")
		}, []string{"no permission", "write access"}},
		{"not a database", func(t *testing.T, dir string) string {
			return write(t, filepath.Join(dir, "x.db"), []byte(strings.Repeat("this is not a database\n", 100)))
		}, []string{"not a database", "move it away"}},
		{"corrupt", func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "x.db")
			db := openAt(t, path)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := 100; i < len(data); i++ {
				data[i] ^= 0x5a
			}
			return write(t, path, data)
		}, []string{"corrupt", "restore a backup"}},
		{"newer schema", func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "x.db")
			if err := openAt(t, path).Close(); err != nil {
				t.Fatal(err)
			}
			execute(t, raw(t, path), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (4711, 1)`)
			execute(t, raw(t, path), `UPDATE clock SET floor = 4700`)
			return path
		}, []string{"schema 4711", "this repoglot knows ", "upgrade repoglot"}},
		{"schema before the first release", func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "x.db")
			if err := openAt(t, path).Close(); err != nil {
				t.Fatal(err)
			}
			execute(t, raw(t, path), `UPDATE goose_db_version SET version_id = 44 WHERE version_id >= 50`)
			return path
		}, []string{"schema 44", "repoglot db export FILE", "repoglot db import FILE"}},
		{"locked", func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "x.db")
			execute(t, raw(t, path), `BEGIN EXCLUSIVE`)
			return path
		}, []string{"locked by another process", "stop it"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dsn := tt.make(t, t.TempDir())
			db, err := Open(context.Background(), dsn, sqldb.Options{BusyTimeout: time.Millisecond})
			if err == nil {
				db.Close()
				t.Fatal("no error")
			}
			wantLine(t, err, tt.want...)
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v shows a password", err)
			}
			if strings.HasSuffix(err.Error(), catalog.ErrInvalid.Error()) {
				t.Errorf("%v ends with a word that says nothing", err)
			}
		})
	}
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func wantLine(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%q lacks %q", err, p)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%q has several lines", err)
	}
}

// If the disk becomes full during a step, nothing is lost, and the step can be
// repeated when there is room.
func TestDiskFull(t *testing.T) {
	pgtest.SQLiteOnly(t, "it limits the size of the file")
	db := openWith(t, "app")
	step(t, db, info(0, 1, 1), writeAll)
	before := dump(t, db)
	limit := func(pages string) {
		s, err := db.pools.Writer.Acquire(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer db.pools.Writer.Release(s, true)
		if _, err := s.Exec(context.Background(), `PRAGMA max_page_count = `+pages); err != nil {
			t.Fatal(err)
		}
	}
	limit("1") // SQLite uses the present size
	_, err := db.Step(context.Background(), info(1, 2, 1), writeMore)
	if err == nil {
		t.Fatal("no error")
	}
	wantLine(t, err, "disk is full", "nothing was lost", "free some space")
	if diff := cmp.Diff(before, dump(t, db)); diff != "" {
		t.Errorf("something is left:\n%.2000s", diff)
	}
	limit("1000000")
	step(t, db, info(1, 2, 1), writeMore)
}

func TestLocked(t *testing.T) {
	pgtest.SQLiteOnly(t, "it locks the file")
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := Open(context.Background(), path, sqldb.Options{BusyTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	configure(t, db, "app")
	other := raw(t, path)
	execute(t, other, `BEGIN IMMEDIATE`)
	_, err = db.Step(context.Background(), info(0, 1, 1), nothing)
	if err == nil {
		t.Fatal("no error")
	}
	wantLine(t, err, "store: step: database "+path, "locked by another process")
	read(t, db, func(ctx context.Context, s *Snapshot) error { // readers are not affected
		_, err := s.Component(ctx, "demo", "app")
		return err
	})
	execute(t, other, `ROLLBACK`)
	step(t, db, info(0, 1, 1), nothing)
}

// A path may hold what URLs and DSNs treat specially.
func TestOddPath(t *testing.T) {
	pgtest.SQLiteOnly(t, "it is about files")
	dir := filepath.Join(t.TempDir(), "a b?c#d%20&e")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "x.db")
	db := openAt(t, path)
	configure(t, db, "app")
	if fi, err := os.Stat(path); err != nil || fi.Size() == 0 || fi.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v: not the database, or open to others", fi, err)
	}
}

func TestMetrics(t *testing.T) {
	db := openWith(t, "app")
	step(t, db, info(0, 1, 1), writeAll)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(db.Metrics()...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			got[f.GetName()] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	if got["repoglot_store_statements_total"] < 10 {
		t.Errorf("only %v statements counted", got["repoglot_store_statements_total"])
	}
	delete(got, "repoglot_store_statements_total") // its value may vary
	want := map[string]float64{"repoglot_store_changes_total": 300, "repoglot_store_generation": 2, "repoglot_store_step_seconds": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	unlock, err := sqldb.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqldb.Lock(dir); err == nil {
		t.Fatal("locked twice")
	} else {
		wantLine(t, err, dir, fmt.Sprintf("process %d:", os.Getpid()), "stop it", "data_dir")
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := sqldb.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "lock")
	if _, err := sqldb.Lock(file); err == nil {
		t.Fatal("locked a file")
	} else {
		wantLine(t, err, file, "data_dir")
	}
}
