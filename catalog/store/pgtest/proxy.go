package pgtest

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

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
