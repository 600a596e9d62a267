package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/repoglot/repoglot/gitsource/object"
)

// stream is a conversation with git-upload-pack over a connection that stays open:
// ssh or git's own protocol (gitprotocol-pack(5)). go-git's clients for these keep
// a list of refs of any length in memory, and cannot be stopped while they
// connect; only go-git's messages are used.
type stream struct {
	in    io.Writer
	limit *io.LimitedReader // what may still be read
	out   *bufio.Reader     // of limit
	found *tipSearch
	said  func() string // returns the remote's error output after the answers have ended; nil: it has none
	conn  net.Conn
	hang  []func() // called by close, the last one first
	asked bool
}

// newStream makes a stream of a connection. The connection is closed when ctx is
// done, which ends all reads and writes.
func newStream(ctx context.Context, conn net.Conn) *stream {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return &stream{conn: conn, hang: []func(){func() { stop(); _ = conn.Close() }}}
}

// pipes sets the writer and the reader of a stream.
func (c *stream) pipes(in io.Writer, out io.Reader) {
	c.in = in
	c.limit = &io.LimitedReader{R: out, N: maxAdvertised}
	c.out = bufio.NewReaderSize(c.limit, 4<<10)
}

// goodbye bounds the end of a conversation with a remote that does not read.
const goodbye = 5 * time.Second

// close ends the conversation. If no pack was asked for, git-upload-pack expects a
// flush packet.
func (c *stream) close() {
	_ = c.conn.SetDeadline(time.Now().Add(goodbye))
	if c.in != nil && !c.asked {
		_, _ = io.WriteString(c.in, "0000")
	}
	for i := len(c.hang) - 1; i >= 0; i-- {
		c.hang[i]()
	}
}

// open begins a conversation and reads the list of refs; it keeps the refs that the
// branch needs, and the branches that any of the patterns selects.
func (s *wireSource) open(ctx context.Context, e endpoint, patterns []BranchPattern) (*stream, error) {
	dial := s.openDaemon
	if e.scheme == "ssh" {
		dial = s.openSSH
	}
	c, err := dial(ctx, e)
	if err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	c.found = newTipSearch(s.remote.Branch)
	c.found.stream, c.found.patterns = true, patterns
	if err := c.found.lines(c.out, c.limit); err != nil {
		err = errors.Join(ctx.Err(), c.explain(err))
		c.asked = true // it no longer speaks git's protocol
		c.close()
		return nil, err
	}
	return c, nil
}

// openDaemon connects to a git daemon (git-daemon(1)).
func (s *wireSource) openDaemon(ctx context.Context, e endpoint) (*stream, error) {
	port := e.port()
	if port == "" {
		port = "9418"
	}
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", net.JoinHostPort(e.hostname(), port))
	if err != nil {
		return nil, err
	}
	c := newStream(ctx, conn)
	c.pipes(conn, conn)
	req := packp.GitProtoRequest{RequestCommand: transport.UploadPackServiceName, Pathname: homePath(e.path), Host: e.host}
	if err := req.Encode(conn); err != nil {
		c.asked = true
		c.close()
		return nil, err
	}
	return c, nil
}

// homePath returns a path as git-upload-pack wants it: ~user/x for /~user/x.
func homePath(path string) string {
	if strings.HasPrefix(path, "/~") {
		return path[1:]
	}
	return path
}

// explain replaces an error about an answer that ended early by the remote's own
// message, if it sent one.
func (c *stream) explain(err error) error {
	text := err.Error()
	if c.said != nil && errors.Is(err, io.ErrUnexpectedEOF) {
		if said := c.said(); said != "" {
			text = said
			err = errors.New(said)
		}
	}
	if saysAbsent(text) {
		return transport.ErrRepositoryNotFound
	}
	return err
}

// saysAbsent reports whether a host says that the repository does not exist, or
// that it may not be seen.
func saysAbsent(text string) bool {
	return slices.ContainsFunc([]string{
		"Repository not found.", "repository does not exist", "Repository does not exist",
		"does not appear to be a git repository", "no such repository", "access denied or repository not exported",
		"The project you were looking for could not be found",
	}, func(said string) bool { return strings.Contains(text, said) })
}

// capabilities returns the remote's capabilities that this package can use.
func (c *stream) capabilities() (*capability.List, error) {
	list := capability.NewList()
	if err := list.Decode([]byte(c.found.caps)); err != nil {
		return nil, fmt.Errorf("its capabilities: %w", err)
	}
	transport.FilterUnsupportedCapabilities(list)
	return list, nil
}

// shallow returns the commits at which the remote's history ends.
func (c *stream) shallow() []object.Hash { return hashes(c.found.refs.Shallows) }

func hashes(list []plumbing.Hash) []object.Hash {
	ids := make([]object.Hash, len(list))
	for i, h := range list {
		ids[i] = object.Hash(h)
	}
	return ids
}

// upload asks for a pack.
func (c *stream) upload(_ context.Context, req *packp.UploadPackRequest) (io.ReadCloser, error) {
	c.asked = true
	w := bufio.NewWriter(c.in)
	if err := errors.Join(req.UploadRequest.Encode(w), req.UploadHaves.Encode(w, true)); err != nil {
		return nil, fmt.Errorf("ask for a pack: %w", err)
	}
	_, _ = w.WriteString("0009done\n")
	if err := w.Flush(); err != nil {
		return nil, fmt.Errorf("ask for a pack: %w", err)
	}
	c.limit.N = maxHeld // go-git keeps acknowledgements in memory
	answer := packp.NewUploadPackResponse(req)
	if err := answer.Decode(io.NopCloser(c.out)); err != nil {
		if c.limit.N <= 0 {
			return nil, object.LimitError(fmt.Sprintf("it sends more than %d MiB before a pack", maxHeld>>20))
		}
		return nil, c.explain(err)
	}
	c.limit.N = math.MaxInt64 // the pack is bounded where it is stored
	return answer, nil
}
