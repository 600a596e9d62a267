// Package pgtest gives tests databases of PostgreSQL: a schema each, on a server
// that the test process starts, or on the one that an environment variable names.
//
// Non-goals: nothing but tests imports it.
package pgtest

import (
	"context"
	"crypto/sha256"
	_ "embed" // the scripts
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
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

// Server is a server of PostgreSQL. It ends with this process at the latest.
type Server struct {
	// Address is the address of its database "postgres".
	Address string
	input   io.Closer // the standard input of its shell: open until this process ends
	shell   *exec.Cmd
}

// StartTime is how long a server may take to start on a busy machine.
const StartTime = time.Minute

// clusterScript makes and runs a cluster, userScript runs it as another user than root.
//
//go:embed cluster.sh
var clusterScript string

//go:embed user.sh
var userScript string

// settings are for speed: nothing must last.
//
//go:embed postgresql.conf
var settings string

// Start starts an empty server with lines of postgresql.conf. If PostgreSQL is not
// installed, the error is exec.ErrNotFound.
func Start(settings string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	command := []string{"/bin/sh", "-c", clusterScript, "sh", bin, dir, settings}
	if os.Getuid() == 0 { // PostgreSQL refuses root
		command = append([]string{"/bin/sh", "-c", userScript, "sh", dir}, command...)
	}
	s := &Server{
		Address: "postgres://repoglot@/postgres?host=" + url.QueryEscape(dir),
		shell:   exec.Command(command[0], command[1:]...),
	}
	s.shell.Dir = dir
	if s.input, err = s.shell.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.shell.Start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), StartTime)
	defer cancel()
	for {
		conn, err := pgconn.Connect(ctx, s.Address)
		if err == nil {
			return s, conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			return nil, fmt.Errorf("PostgreSQL did not start: %w\n%s", err, log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Close ends the server and removes its files.
func (s *Server) Close() error { return errors.Join(s.input.Close(), s.shell.Wait()) }

// Schema is the address of a schema of the database at an address.
func Schema(address, schema string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// Execute runs statements on the database at an address.
func Execute(ctx context.Context, address, statements string) error {
	conn, err := pgconn.Connect(ctx, address)
	if err != nil {
		return err
	}
	if err := errors.Join(conn.Exec(ctx, statements).Close(), conn.Close(ctx)); err != nil {
		return fmt.Errorf("%s: %w", statements, err)
	}
	return nil
}

// binaries finds the folder of initdb and postgres: Debian does not have it in PATH.
func binaries() (string, error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("postgres: %w", exec.ErrNotFound)
	}
	return filepath.Dir(found[len(found)-1]), nil // the newest: they are sorted
}
