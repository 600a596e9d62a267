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
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
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
// PostgreSQL does not have.
func SQLiteOnly(tb testing.TB, reason string) {
	tb.Helper()
	if Chosen() {
		tb.Skip("only on SQLite: " + reason)
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
	server := started.address
	hash := sha256.Sum256([]byte(fmt.Sprint(os.Getpid(), " ", name)))
	schema := "t_" + hex.EncodeToString(hash[:12])
	if _, made := schemas.LoadOrStore(schema, true); !made {
		run(tb, server, "CREATE SCHEMA "+schema)
		tb.Cleanup(func() {
			schemas.Delete(schema)
			run(tb, server, "DROP SCHEMA "+schema+" CASCADE")
		})
	}
	u, err := url.Parse(server)
	if err != nil {
		tb.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}

// schemas are the schemas of the running tests.
var schemas sync.Map

// Run runs statements on the database at dsn.
func Run(tb testing.TB, dsn, statements string) {
	tb.Helper()
	run(tb, dsn, statements)
}

func run(tb testing.TB, dsn, statements string) {
	tb.Helper()
	ctx := context.Background() // also in a Cleanup
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		tb.Fatal(err)
	}
	if err := errors.Join(conn.Exec(ctx, statements).Close(), conn.Close(ctx)); err != nil {
		tb.Fatalf("%s: %v", statements, err)
	}
}

// server is a server of PostgreSQL.
type server struct {
	address string
	input   io.Closer // the standard input of its shell: open until this process ends
}

// start returns the server, which it starts when it is first needed.
var start = sync.OnceValues(func() (*server, error) {
	if address := os.Getenv(ServerVariable); address != "" {
		return &server{address: address}, nil
	}
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	return startServer(bin)
})

// binaries finds the folder of initdb and postgres: Debian does not have it in PATH.
func binaries() (string, error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("postgres: %w", exec.ErrNotFound)
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// script makes a cluster in the folder $2 with the programs in $1, runs it until its
// standard input ends, and removes it. The input is a pipe from the test process, so
// the server ends with it, however it ends. The collation is not "C", so that a
// column without a collation of its own shows.
const script = `set -e
"$1/initdb" -D "$2/data" -U repoglot -A trust -E UTF8 --locale=C.UTF-8 --locale-provider=icu --icu-locale=en --no-sync --no-instructions >"$2/log" 2>&1
cat >>"$2/data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$2'
fsync = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_connections = 400
shared_buffers = 64MB
autovacuum = off
END
"$1/postgres" -D "$2/data" >>"$2/log" 2>&1 &
server=$!
read -r _ || true
kill -INT $server
wait $server || true
rm -rf "$2"
`

// startTime is how long a server may take to start on a busy machine.
const startTime = time.Minute

func startServer(bin string) (*server, error) {
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-c", script, "sh", bin, dir)
	cmd.Dir = dir
	if err := asUser(cmd, dir); err != nil {
		return nil, err
	}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	address := "postgres://repoglot@/postgres?host=" + url.QueryEscape(dir)
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	for {
		conn, err := pgconn.Connect(ctx, address)
		if err == nil {
			return &server{address, input}, conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			return nil, fmt.Errorf("PostgreSQL did not start: %w\n%s", err, log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// serverUser is the user that runs the server if the tests run as root, whom
// PostgreSQL refuses.
func serverUser() (*user.User, error) {
	if u, err := user.Lookup("postgres"); err == nil {
		return u, nil
	}
	return user.Lookup("nobody")
}

// Crash ends all sessions of the server that this process started, as if it had been
// restarted: a session is killed, and the server recovers. It returns when the server
// answers again.
func Crash(tb testing.TB, dsn string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		tb.Fatal(err)
	}
	session, err := os.FindProcess(int(conn.PID()))
	if err == nil {
		err = session.Kill()
	}
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := conn.Exec(ctx, "SELECT 1").ReadAll(); err == nil {
			_ = conn.Close(ctx)
			return
		}
		_ = conn.Close(ctx)
		select {
		case <-ctx.Done():
			tb.Fatal("PostgreSQL did not start again")
		case <-time.After(20 * time.Millisecond):
		}
		if next, err := pgconn.Connect(ctx, dsn); err == nil {
			conn = next
		}
	}
}
