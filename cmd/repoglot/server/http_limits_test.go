package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// timeouts are those of a server; zero: its own.
type timeouts struct{ header, read, write, idle time.Duration }

// serveTest serves a handler until the test ends and returns its address.
func serveTest(t *testing.T, h http.Handler, limits timeouts) string {
	t.Helper()
	l, err := listen(t.Context(), "listen", "127.0.0.1:0")
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	server := newHTTPServer(h, slog.New(slog.DiscardHandler))
	if limits != (timeouts{}) {
		server.ReadHeaderTimeout, server.ReadTimeout, server.WriteTimeout, server.IdleTimeout = limits.header, limits.read, limits.write, limits.idle
	}
	go func() { ended <- serveUntil(ctx, server, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// dial opens a raw connection with a deadline of a minute.
func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	must(t, c.SetDeadline(time.Now().Add(time.Minute)))
	return c
}

// TestSlowClients: a client that takes too long in any phase is dropped; only the
// limit of that phase is short.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	const short, long = 50 * time.Millisecond, time.Hour
	const request = "GET /api/ HTTP/1.1\r\nHost: h\r\n"
	for _, tt := range []struct {
		name   string
		limits timeouts
		sent   string
	}{
		{"never says a word", timeouts{short, long, long, long}, ""},
		{"half a header", timeouts{short, long, long, long}, request + "X-Slow: "},
		{"half a body", timeouts{long, short, long, long}, "POST /api/ HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf"},
		{"nothing after an answer", timeouts{long, long, long, short}, request + "\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, serveTest(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(w, r.Body)
			}), tt.limits))
			if _, err := io.WriteString(c, tt.sent); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, c); errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
				t.Error("the server keeps the connection")
			}
		})
	}
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// TestDrip: a header that arrives byte by byte ends at its limit, which new bytes do
// not extend.
func TestDrip(t *testing.T) {
	t.Parallel()
	c := dial(t, serveTest(t, http.NotFoundHandler(), timeouts{100 * time.Millisecond, time.Hour, time.Hour, time.Hour}))
	dropped := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, c)
		dropped <- err
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\nX: ")
	for {
		select {
		case err := <-dropped:
			if isTimeout(err) {
				t.Error("the server keeps the connection")
			}
			return
		case <-tick.C:
			_, _ = io.WriteString(c, "a") // fails once the server has closed
		}
	}
}

// TestReaderThatDoesNotRead: an answer ends if its client does not read it.
func TestReaderThatDoesNotRead(t *testing.T) {
	t.Parallel()
	failed := make(chan error, 1)
	c := dial(t, serveTest(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		block := make([]byte, 1<<20)
		for {
			if _, err := w.Write(block); err != nil {
				failed <- err
				return
			}
		}
	}), timeouts{time.Hour, time.Hour, 100 * time.Millisecond, time.Hour}))
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-failed:
	case <-time.After(time.Minute):
		t.Error("the answer is still being written")
	}
}

// TestLongHeader: a header is at most 64 KiB long.
func TestLongHeader(t *testing.T) {
	t.Parallel()
	c := dial(t, serveTest(t, http.NotFoundHandler(), timeouts{}))
	go func() {
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\nX: "+strings.Repeat("a", 2*maxHeaderBytes)+"\r\n\r\n")
	}()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	must(t, err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", res.StatusCode)
	}
}
