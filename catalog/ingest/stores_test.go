package ingest_test

import (
	"database/sql"
	"os"
	"regexp"
	"strings"

	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// savedStore is the state of a closed database.
type savedStore struct {
	file []byte
	dsn  string
}

// save keeps the state of a closed database, for restore.
func save(s *catalogtest.Store) *savedStore {
	s.TB.Helper()
	if pgtest.Chosen() {
		kept := &savedStore{dsn: pgtest.DSN(s.TB, s.TB.TempDir())}
		pgtest.Copy(s.TB, s.Database(), kept.dsn)
		return kept
	}
	file, err := os.ReadFile(s.Database()) // without a log: Close wrote it into the file
	if err != nil {
		s.TB.Fatal(err)
	}
	return &savedStore{file: file}
}

// restore makes a saved state that of the database, which must be closed.
func restore(s *catalogtest.Store, saved *savedStore) {
	s.TB.Helper()
	if pgtest.Chosen() {
		pgtest.Copy(s.TB, saved.dsn, s.Database())
		return
	}
	if err := os.WriteFile(s.Database(), saved.file, 0o600); err != nil {
		s.TB.Fatal(err)
	}
}

// bytesLiteral is a literal of bytes in SQLite.
var bytesLiteral = regexp.MustCompile(`\bx'([0-9a-f]*)'`)

// execute runs statements on the database without the store. Literals of bytes are
// those of SQLite.
func execute(s *catalogtest.Store, statements string) {
	s.TB.Helper()
	if pgtest.Chosen() {
		pgtest.Run(s.TB, s.Database(), bytesLiteral.ReplaceAllString(statements, `'\x$1'`))
		return
	}
	db, err := sql.Open("sqlite", s.Database())
	if err != nil {
		s.TB.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(s.TB.Context(), statements); err != nil {
		s.TB.Fatal(err)
	}
}

// syncFails pulls, and wants an error that contains a text.
func syncFails(p *catalogtest.Puller, want string) {
	p.TB.Helper()
	if _, err := p.Syncer.Sync(p.TB.Context(), p.Branch); err == nil || !strings.Contains(err.Error(), want) {
		p.TB.Errorf("the pull ended with %v, want %q in it", err, want)
	}
}
