package ingest_test

import (
	"database/sql"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

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
		copySchema(s.TB, s.Database(), kept.dsn)
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
		copySchema(s.TB, saved.dsn, s.Database())
		return
	}
	if err := os.WriteFile(s.Database(), saved.file, 0o600); err != nil {
		s.TB.Fatal(err)
	}
}

// copyScript makes the schema TO a copy of the schema FROM, but for foreign keys.
const copyScript = `DO $$
DECLARE t RECORD;
BEGIN
	SET LOCAL client_min_messages = error;
	DROP SCHEMA IF EXISTS TO CASCADE;
	CREATE SCHEMA TO;
	FOR t IN SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'FROM' LOOP
		EXECUTE format('CREATE TABLE TO.%I (LIKE FROM.%I INCLUDING ALL)', t.name, t.name);
		EXECUTE format('INSERT INTO TO.%I SELECT * FROM FROM.%I', t.name, t.name);
	END LOOP;
	FOR t IN SELECT table_name AS name, column_name AS id FROM information_schema.columns WHERE table_schema = 'TO' AND is_identity = 'YES' LOOP
		EXECUTE format('SELECT setval(pg_get_serial_sequence(%L, %L), COALESCE(MAX(%I), 0) + 1, FALSE) FROM TO.%I', 'TO.' || t.name, t.id, t.id, t.name);
	END LOOP;
END $$`

// copySchema makes the database at dsn to, which nobody uses, a copy of the one at from.
func copySchema(tb testing.TB, from, to string) {
	tb.Helper()
	pgtest.Run(tb, to, strings.NewReplacer("FROM.", schemaOf(from)+".", "'FROM'", "'"+schemaOf(from)+"'", "TO.", schemaOf(to)+".", "'TO'", "'"+schemaOf(to)+"'",
		"EXISTS TO ", "EXISTS "+schemaOf(to)+" ", "SCHEMA TO;", "SCHEMA "+schemaOf(to)+";").Replace(copyScript))
}

func schemaOf(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return ""
	}
	return u.Query().Get("search_path")
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
