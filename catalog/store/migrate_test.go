package store

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// nextVersion are the migrations of a version after this one.
func nextVersion(t *testing.T, statements string) fs.FS {
	t.Helper()
	files := fstest.MapFS{"migrations/04000_next.sql": {Data: []byte("-- +goose Up\n" + statements + "\n")}}
	names, err := fs.Glob(sqldb.MigrationFiles, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := sqldb.MigrationFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return files
}

// TestRollingUpgrade: a version goes on, and can be started, on the schema of the next
// one, and both write; unless the next one says that it needs newer ones.
func TestRollingUpgrade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	older := openAt(t, path)
	configure(t, older, "app", "lib")
	head := 0
	write := func(db *DB, component int64) {
		t.Helper()
		step(t, db, info(head, head+1, component), func(ctx context.Context, tx *StepTx) error {
			_, _, err := fill(ctx, tx, component, "de", 3, nil)
			return err
		})
	}
	write(older, 1)
	newer, err := Open(t.Context(), database(t, path), sqldb.Options{Migrations: nextVersion(t,
		"ALTER TABLE units ADD COLUMN next BIGINT NOT NULL DEFAULT 1;\nCREATE TABLE next (id BIGINT PRIMARY KEY);")})
	if err != nil {
		t.Fatal(err)
	}
	defer newer.Close()
	write(newer, 2)
	head = 1
	for _, db := range []*DB{older, openAt(t, path)} { // the one that runs, and one that starts
		step(t, db, info(head, head+1, 1, 2), nothing)
		head++
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			for _, slug := range []string{"app", "lib"} {
				row, err := s.Translation(ctx, "demo", slug, "de")
				if err != nil {
					return err
				}
				units, err := s.Units(ctx, row.ID, 0, 10)
				if err != nil || len(units) != 3 {
					t.Errorf("%s: %d units, %v", slug, len(units), err)
				}
			}
			return nil
		})
	}
	last, err := Open(t.Context(), database(t, path), sqldb.Options{Migrations: func() fs.FS {
		files := nextVersion(t, "SELECT 1;").(fstest.MapFS)
		files["migrations/04001_floor.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nUPDATE clock SET floor = 4000;\n")}
		return files
	}()})
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	if _, err := Open(t.Context(), database(t, path), sqldb.Options{}); err == nil || !strings.Contains(err.Error(), "at least 4000 is needed: upgrade repoglot") {
		t.Errorf("below the floor: %v", err)
	}
}

// TestMigrateBesideReaders: a migration waits for a long reader, and nobody else waits for
// both.
func TestMigrateBesideReaders(t *testing.T) {
	pgtest.PostgresOnly(t, "in SQLite a migration waits for the only process")
	path := filepath.Join(t.TempDir(), "x.db")
	older := openAt(t, path)
	configure(t, older, "app")
	migrated := make(chan error, 1)
	readUnits := func(ctx context.Context, s *Snapshot) error {
		if _, err := s.Unit(ctx, 7); !errors.Is(err, catalog.ErrNotFound) {
			return err
		}
		return nil
	}
	next := nextVersion(t, "ALTER TABLE units ADD COLUMN next BIGINT NOT NULL DEFAULT 1;")
	read(t, older, func(ctx context.Context, s *Snapshot) error {
		if err := readUnits(ctx, s); err != nil {
			return err
		}
		go func() {
			newer, err := Open(context.Background(), database(t, path), sqldb.Options{Migrations: next})
			if err == nil {
				err = newer.Close()
			}
			migrated <- err
		}()
		waits := "SELECT 1 / COUNT(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted AND relation = 'units'::regclass"
		for len(migrated) == 0 && pgtest.Execute(ctx, database(t, path), waits) != nil { // until it does
		}
		return older.Read(ctx, readUnits) // before the first one ends
	})
	if err := <-migrated; err != nil {
		t.Error(err)
	}
	read(t, older, readUnits)
}

// TestMigrateOnce: processes that start together migrate once.
func TestMigrateOnce(t *testing.T) {
	pgtest.PostgresOnly(t, "it is about the locks of its server")
	dsn := database(t, filepath.Join(t.TempDir(), "x.db"))
	var starting sync.WaitGroup
	for range 10 {
		starting.Go(func() {
			db, err := Open(context.Background(), dsn, sqldb.Options{Readers: 1})
			if err != nil {
				t.Error(err)
				return
			}
			_ = db.Close()
		})
	}
	starting.Wait()
	db, err := Open(t.Context(), dsn, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		var rows, versions int64
		_, err := s.s.First(ctx, `SELECT COUNT(*), COUNT(DISTINCT version_id) FROM goose_db_version`, nil, &rows, &versions)
		if rows != versions || rows == 0 {
			t.Errorf("%d migrations of %d versions", rows, versions)
		}
		return err
	})
}

// TestUseChecks: the older version of the checks learns that there is a newer one.
func TestUseChecks(t *testing.T) {
	db := openWith(t, "app")
	for _, c := range []struct {
		version int
		newest  bool
	}{{7, true}, {7, true}, {9, true}, {7, false}, {9, true}} {
		if newest, err := db.UseChecks(t.Context(), c.version); err != nil || newest != c.newest {
			t.Errorf("version %d: %v, %v", c.version, newest, err)
		}
	}
}
