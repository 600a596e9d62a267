// Package pgtest gives tests databases of PostgreSQL: a schema each, on a server
// that the test process starts, or on the one that an environment variable names.
//
// Non-goals: nothing but tests imports it.
package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// EngineVariable chooses the engine of the tests of the store and of what is built
// on it: "postgres", or SQLite. ServerVariable is the address of the server to use,
// whose user may create schemas; without it a server is started and ended with the
// process.
const (
	EngineVariable = "REPOGLOT_TEST_ENGINE"
	ServerVariable = "REPOGLOT_TEST_DATABASE"
)

// Chosen reports whether tests are to run on PostgreSQL.
func Chosen() bool { return os.Getenv(EngineVariable) == "postgres" }

// SQLiteOnly skips a test on PostgreSQL. The reason says what it is about that
// PostgreSQL does not have; docs/contributing.md#tests-of-one-engine lists all.
func SQLiteOnly(tb testing.TB, reason string) {
	tb.Helper()
	if Chosen() {
		tb.Skip("only on SQLite: " + reason)
	}
}

// PostgresOnly skips a test on SQLite. The reason says what it is about that SQLite does
// not have.
func PostgresOnly(tb testing.TB, reason string) {
	tb.Helper()
	if !Chosen() {
		tb.Skip("only on PostgreSQL: " + reason)
	}
}

// DSN is the address of the database with a name, such as the path that it would
// have as a file: a schema that is empty when the test first names it, and dropped
// when the test ends. If PostgreSQL is not installed, the test is skipped; in CI
// (CI=true) it fails.
func DSN(tb testing.TB, name string) string {
	tb.Helper()
	started, err := start()
	switch {
	case errors.Is(err, exec.ErrNotFound) && os.Getenv("CI") == "":
		tb.Skip("PostgreSQL is not installed")
	case err != nil:
		tb.Fatal(err)
	}
	server := started.Address
	hash := sha256.Sum256([]byte(fmt.Sprint(os.Getpid(), " ", name)))
	schema := "t_" + hex.EncodeToString(hash[:12])
	if _, made := schemas.LoadOrStore(schema, true); !made {
		Run(tb, server, "CREATE SCHEMA "+schema)
		tb.Cleanup(func() {
			schemas.Delete(schema)
			Run(tb, server, "DROP SCHEMA "+schema+" CASCADE")
		})
	}
	dsn, err := Schema(server, schema)
	if err != nil {
		tb.Fatal(err)
	}
	return dsn
}

// schemas are the schemas of the running tests.
var schemas sync.Map

// Run runs statements on the database at dsn.
func Run(tb testing.TB, dsn, statements string) {
	tb.Helper()
	if err := Execute(context.Background(), dsn, statements); err != nil { // also in a Cleanup
		tb.Fatal(err)
	}
}

// start returns the server, which it starts when it is first needed.
var start = sync.OnceValues(func() (*Server, error) {
	if address := os.Getenv(ServerVariable); address != "" {
		return &Server{Address: address}, nil
	}
	return Start(settings)
})
