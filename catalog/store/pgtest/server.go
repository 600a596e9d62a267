package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Server is a server of PostgreSQL. It ends with this process at the latest.
type Server struct {
	// Address is the address of its database "postgres".
	Address string
	input   io.Closer // the standard input of its shell: open until this process ends
	shell   *exec.Cmd
}

// StartTime is how long a server may take to start on a busy machine.
const StartTime = time.Minute

// clusterScript makes a cluster in the folder $2 with the programs in $1 and the settings $3,
// runs it until its standard input ends, and removes it. The input is a pipe from this
// process, so the server ends with it, however it ends. The collation is not "C", so
// that a column without a collation of its own shows.
const clusterScript = `set -e
"$1/initdb" -D "$2/data" -U repoglot -A trust -E UTF8 --locale=C.UTF-8 --locale-provider=icu --icu-locale=en --no-sync --no-instructions >"$2/log" 2>&1
cat >>"$2/data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$2'
max_connections = 400
$3
END
"$1/postgres" -D "$2/data" >>"$2/log" 2>&1 &
server=$!
read -r _ || true
kill -INT $server
wait $server || true
rm -rf "$2"
`

// userScript gives the folder $1 to the user postgres or, without it, to nobody, and runs
// the other arguments as that user, in a session of their own.
const userScript = `user=postgres
id -u $user >/dev/null 2>&1 || user=nobody
chown $user "$1"
shift
exec setsid setpriv --reuid=$user --regid="$(id -g $user)" --clear-groups "$@"
`

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
func (s *Server) Close() error {
	return errors.Join(s.input.Close(), s.shell.Wait())
}

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
