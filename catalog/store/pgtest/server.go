package pgtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
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
	s := &Server{
		Address: "postgres://repoglot@/postgres?host=" + url.QueryEscape(dir),
		shell:   exec.Command("/bin/sh", "-c", clusterScript, "sh", bin, dir, settings),
	}
	s.shell.Dir = dir
	if err := asUser(s.shell, dir); err != nil {
		return nil, err
	}
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
	newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// serverUser is the user that runs the server if this process runs as root, whom
// PostgreSQL refuses.
func serverUser() (*user.User, error) {
	if u, err := user.Lookup("postgres"); err == nil {
		return u, nil
	}
	return user.Lookup("nobody")
}

// Proxy is a way to a database that can be cut off.
type Proxy struct {
	// DSN is the address of the database through the proxy.
	DSN string

	server  [2]string // network and address
	change  func([]byte) []byte
	mu      sync.Mutex
	cut     bool
	proof   *tls.Certificate // of encrypted connections; nil: they are not
	open    map[net.Conn]bool
	running sync.WaitGroup
}

// NewProxy makes a proxy to the database at dsn, which ends with the test. change, if
// it is not nil, changes what the server sends.
func NewProxy(tb testing.TB, dsn string, change func([]byte) []byte) *Proxy {
	tb.Helper()
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{change: change, open: map[net.Conn]bool{}}
	p.server[0], p.server[1] = pgconn.NetworkAddress(config.Host, config.Port)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	q := u.Query()
	q.Set("host", "127.0.0.1")
	q.Set("port", strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	p.DSN = u.String()
	p.running.Go(func() { p.accept(listener) })
	tb.Cleanup(func() {
		_ = listener.Close()
		p.Cut()
		p.running.Wait()
	})
	return p
}

// Encrypt makes the proxy take encrypted connections only, with a certificate.
func (p *Proxy) Encrypt(certificate *tls.Certificate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proof = certificate
}

// Cut closes all connections and every new one.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for conn := range p.open {
		_ = conn.Close()
	}
}

// Restore accepts connections again.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
}

func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.forward(client) })
	}
}

// forward copies in both directions until one of them ends.
func (p *Proxy) forward(client net.Conn) {
	defer client.Close()
	client, err := p.encrypted(client)
	if err != nil {
		return
	}
	server, err := net.Dial(p.server[0], p.server[1])
	if err != nil {
		return
	}
	defer server.Close()
	if !p.keep(client, server) {
		return
	}
	defer p.forget(client, server)
	p.running.Go(func() {
		_ = p.copy(server, client, nil)
		_ = server.Close()
	})
	_ = p.copy(client, server, p.change)
}

// encrypted agrees with a client to use TLS, as a server does
// (https://www.postgresql.org/docs/15/protocol-flow.html#id-1.10.6.7.12).
func (p *Proxy) encrypted(client net.Conn) (net.Conn, error) {
	p.mu.Lock()
	certificate := p.proof
	p.mu.Unlock()
	if certificate == nil {
		return client, nil
	}
	wanted := []byte{0, 0, 0, 8, 4, 210, 22, 47} // SSLRequest
	request := make([]byte, len(wanted))
	if _, err := io.ReadFull(client, request); err != nil || !bytes.Equal(request, wanted) {
		return nil, errors.Join(err, errors.New("the client does not encrypt"))
	}
	_, err := client.Write([]byte{'S'})
	return tls.Server(client, &tls.Config{Certificates: []tls.Certificate{*certificate}}), err
}

// copy passes on what from sends, changed.
func (p *Proxy) copy(to, from net.Conn, change func([]byte) []byte) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		data := buf[:n]
		if change != nil {
			data = change(data)
		}
		if _, e := to.Write(data); err != nil || e != nil {
			return errors.Join(err, e)
		}
	}
}

func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		p.open[conn] = true
	}
	return !p.cut
}

func (p *Proxy) forget(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		delete(p.open, conn)
	}
}
