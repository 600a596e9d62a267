package pgtest

import (
	"context"
	_ "embed" // the scripts
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
