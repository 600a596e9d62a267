package store

import (
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// proxy is a way to a database that can be cut off.
type proxy struct {
	// DSN is the address of the database through the proxy.
	DSN string

	server  [2]string // network and address
	wrap    func(net.Conn) net.Conn
	mu      sync.Mutex
	cut     bool
	clients map[net.Conn]bool
	running sync.WaitGroup
}

// newProxy makes a proxy to the database at dsn, which ends with the test. wrap, if it is
// not nil, changes the connection of a client.
func newProxy(tb testing.TB, dsn string, wrap func(net.Conn) net.Conn) *proxy {
	tb.Helper()
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	p := &proxy{wrap: wrap, clients: map[net.Conn]bool{}}
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
	p.running.Go(func() {
		for client, err := listener.Accept(); err == nil; client, err = listener.Accept() {
			p.running.Go(func() { p.forward(client) })
		}
	})
	tb.Cleanup(func() {
		_ = listener.Close()
		p.Cut()
		p.running.Wait()
	})
	return p
}

// Cut closes all connections and every new one.
func (p *proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for client := range p.clients {
		_ = client.Close()
	}
}

// Restore accepts connections again.
func (p *proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
}

// forward copies in both directions until one of them ends.
func (p *proxy) forward(client net.Conn) {
	defer client.Close()
	p.mu.Lock()
	cut := p.cut
	p.clients[client] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.clients, client)
	}()
	server, err := net.Dial(p.server[0], p.server[1])
	if err != nil || cut {
		return
	}
	wrapped := client
	if p.wrap != nil {
		wrapped = p.wrap(client)
	}
	p.running.Go(func() {
		_, _ = io.Copy(server, wrapped)
		_ = server.Close()
	})
	_, _ = io.Copy(wrapped, server)
}
