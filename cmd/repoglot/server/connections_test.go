package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// TestConnections: a client has its share of connections and no more; the others go on,
// those of a trusted proxy count together only; a connection that ends makes room.
func TestConnections(t *testing.T) {
	t.Parallel()
	const proxy = "127.0.0.9"
	bounds := newConnections(256, func(a netip.Addr) bool { return a.String() == proxy }) // 128: 96, of which a client has 32, and 32
	inner, err := listen(t.Context(), "listen", "127.0.0.1:0")
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	server := newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }), slog.New(slog.DiscardHandler))
	go func() { ended <- serveUntil(ctx, server, countedListener{inner, bounds}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if n := bounds.pools[0].Used() + bounds.pools[1].Used(); n != 0 {
			t.Errorf("%d connections are counted after the end", n)
		}
	})
	// ask opens a connection from an address, and returns the status and what frees it.
	ask := func(from string) (status int, body string, end func()) {
		t.Helper()
		c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext(t.Context(), "tcp", inner.Addr().String())
		must(t, err)
		_, err = io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
		must(t, err)
		status, body = answerOf(t, c)
		return status, body, func() { c.Close() }
	}
	held := func(from string, n int) (ends []func()) {
		t.Helper()
		for range n {
			status, body, end := ask(from)
			if status != 200 || body != "hello" {
				t.Fatalf("%s: %d %s", from, status, body)
			}
			t.Cleanup(end)
			ends = append(ends, end)
		}
		return ends
	}
	refused := func(from string, want int) {
		t.Helper()
		status, body, end := ask(from)
		end()
		var both struct {
			Detail string
			Errors []struct{ Code, Detail string }
			Type   string
		}
		if err := json.Unmarshal([]byte(body), &both); status != want || err != nil || len(both.Errors) != 1 || both.Detail == "" || both.Errors[0].Detail != both.Detail || both.Type == "" {
			t.Errorf("%s: %d %s, want %d", from, status, body, want)
		}
	}
	held("127.0.0.2", 32)
	refused("127.0.0.2", 429)
	held(proxy, 40)
	third := held("127.0.0.3", 24+16) // the last 16 of the reserve
	refused("127.0.0.3", 429)
	refused("127.0.0.2", 429)
	held("127.0.0.4", 16)
	refused("127.0.0.5", 503)
	third[0]()
	for bounds.pools[0].Used() == 96 { // until the server has seen it
		_, _, end := ask("127.0.0.1")
		end()
	}
	held("127.0.0.5", 1)
}

// answerOf reads an answer.
func answerOf(t *testing.T, c net.Conn) (status int, body string) {
	t.Helper()
	buf := make([]byte, 4096)
	n, err := c.Read(buf)
	must(t, err)
	head, body, _ := strings.Cut(string(buf[:n]), "\r\n\r\n")
	_, err = fmt.Sscanf(head, "HTTP/1.1 %d", &status)
	must(t, err)
	return status, body
}
