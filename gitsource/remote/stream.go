package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

// stream answers the requests of go-git's client for HTTP over a connection that stays
// open: ssh or git's own protocol (gitprotocol-pack(5)). The messages are the same. go-git's
// clients for these keep a list of refs of any length in memory, and cannot be stopped
// while they connect.
type stream struct {
	s     *wireSource
	e     endpoint
	in    io.Writer
	out   io.Reader
	said  func() string // returns the remote's error output after the answers have ended; nil: it has none
	conn  net.Conn
	hang  []func() // called by close, the last one first
	asked bool     // a pack was asked for, or sent
}

// RoundTrip connects for the list of refs of a service, and sends the request that
// follows.
func (t *stream) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet {
		if err := t.open(req.Context(), req.URL.Query().Get("service")); err != nil {
			return nil, err
		}
	} else {
		t.asked = true
		if _, err := io.Copy(t.in, req.Body); err != nil {
			return nil, fmt.Errorf("ask: %w", err)
		}
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(t.out), Request: req}, nil
}

// open starts a service.
func (t *stream) open(ctx context.Context, service string) error {
	dial := t.openDaemon
	if t.e.scheme == "ssh" {
		dial = t.openSSH
	}
	if err := dial(ctx, service); err != nil {
		t.asked = true // it does not speak git's protocol
		return errors.Join(ctx.Err(), err)
	}
	return nil
}

// connected takes a connection, which is closed when ctx is done: that ends all reads and
// writes.
func (t *stream) connected(ctx context.Context, conn net.Conn) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	t.conn = conn
	t.hang = append(t.hang, func() { stop(); _ = conn.Close() })
}

// openDaemon connects to a git daemon (git-daemon(1)).
func (t *stream) openDaemon(ctx context.Context, service string) error {
	port := t.e.port()
	if port == "" {
		port = "9418"
	}
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", net.JoinHostPort(t.e.hostname(), port))
	if err != nil {
		return err
	}
	t.connected(ctx, conn)
	t.in, t.out = conn, conn
	req := packp.GitProtoRequest{RequestCommand: service, Pathname: homePath(t.e.path), Host: t.e.host}
	return req.Encode(conn)
}

// homePath returns a path as git-upload-pack wants it: ~user/x for /~user/x.
func homePath(path string) string {
	if strings.HasPrefix(path, "/~") {
		return path[1:]
	}
	return path
}

// goodbye bounds the end of a conversation with a remote that does not read.
const goodbye = 5 * time.Second

// close ends the conversation. If no pack was asked for, the remote expects a
// flush packet.
func (t *stream) close() {
	if t.conn != nil {
		_ = t.conn.SetDeadline(time.Now().Add(goodbye))
	}
	if t.in != nil && !t.asked {
		_, _ = io.WriteString(t.in, "0000")
	}
	for i := len(t.hang) - 1; i >= 0; i-- {
		t.hang[i]()
	}
}

// explain replaces an error about an answer that ended early by the remote's own
// message, if it sent one.
func (t *stream) explain(err error) error {
	if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, packp.ErrEmptyInput) {
		return err
	}
	t.asked = true
	if t.said != nil {
		if said := t.said(); said != "" {
			return errors.New(said)
		}
	}
	return io.ErrUnexpectedEOF
}
