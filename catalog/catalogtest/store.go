package catalogtest

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// Now is the clock of servers in tests.
func Now() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC) }

// Store is an open database of one test, which is closed when the test ends.
type Store struct {
	TB        testing.TB
	DB        *store.DB
	Languages *lang.Table
	// Dir is the directory of the database and of mirrors.
	Dir string
	// Options are the options that Open opens the database with.
	Options store.Options
}

// Open makes an empty database in a directory of the test.
func Open(tb testing.TB) *Store {
	tb.Helper()
	s := At(tb, tb.TempDir())
	s.Open()
	return s
}

// At names a database in a directory without opening it.
func At(tb testing.TB, dir string) *Store { return &Store{TB: tb, Dir: dir} }

// Database is the address of the database: the path of the file of SQLite, or a
// schema of PostgreSQL (pgtest.EngineVariable).
func (s *Store) Database() string {
	s.TB.Helper()
	path := filepath.Join(s.Dir, "repoglot.db")
	if pgtest.Chosen() {
		return pgtest.DSN(s.TB, path)
	}
	return path
}

// Open opens the database, which is made if it does not exist.
func (s *Store) Open() {
	s.TB.Helper()
	name := s.Database()
	if _, err := os.Lstat(name); os.IsNotExist(err) && !pgtest.Chosen() && s.Options.Migrations == nil {
		if text, err := empty(); err != nil || os.WriteFile(name, text, 0o600) != nil {
			s.TB.Fatalf("an empty database in %s: %v", s.Dir, err)
		}
	}
	db, err := store.Open(s.TB.Context(), name, s.Options)
	if err != nil {
		s.TB.Fatal(err)
	}
	s.TB.Cleanup(func() {
		if err := db.Close(); err != nil {
			s.TB.Error(err)
		}
	})
	s.DB = db
	if s.Languages, err = languages(); err != nil {
		s.TB.Fatal(err)
	}
}

// languages is the table of languages, which nothing changes.
var languages = sync.OnceValues(lang.New)

// empty is the file of a database of SQLite that has a schema and nothing else. Making the
// schema takes half of what opening a new database takes, and tests open hundreds.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "repoglot-empty-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "repoglot.db")
	db, err := store.Open(context.Background(), path, store.Options{})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Close closes the database.
func (s *Store) Close() {
	s.TB.Helper()
	if err := s.DB.Close(); err != nil {
		s.TB.Fatal(err)
	}
}

// Read runs fn in a snapshot.
func (s *Store) Read(fn func(ctx context.Context, s *store.Snapshot) error) {
	s.TB.Helper()
	if err := s.DB.Read(s.TB.Context(), fn); err != nil {
		s.TB.Fatal(err)
	}
}

// Verify recounts everything that the store keeps as a sum.
func (s *Store) Verify() {
	s.TB.Helper()
	s.Read(func(ctx context.Context, snap *store.Snapshot) error {
		counted, err := snap.Verify(ctx, func(m store.Mismatch) { s.TB.Errorf("verify: %s", m) })
		if err == nil && counted.Components == 0 {
			s.TB.Error("verify saw nothing")
		}
		return err
	})
}

// Generation is the store's generation.
func (s *Store) Generation() (g int64) {
	s.TB.Helper()
	s.Read(func(ctx context.Context, snap *store.Snapshot) (err error) {
		g, err = snap.Generation(ctx)
		return err
	})
	return g
}

// Logger writes lines of a level and above to the log of a test.
func Logger(tb testing.TB, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: level}))
}
