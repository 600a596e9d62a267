package gitexport_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/gitexport"
	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
)

// answers is a mirror whose UploadPack is a function.
type answers func(ctx context.Context, request []byte, w io.Writer) error

func (a answers) find(*http.Request, string, string) (gitexport.Mirror, string, error) {
	return a, "", nil
}

func (a answers) UploadPack(ctx context.Context, u gitsource.Upload, w io.Writer) error {
	return a(ctx, u.Request, w)
}

const advertised = "/git/p/c/info/refs?service=git-upload-pack"

// TestRounds: while all turns are taken, a client waits and is then told to come
// back later; a turn that ends goes to the next client.
func TestRounds(t *testing.T) {
	t.Parallel()
	for _, queue := range []time.Duration{time.Nanosecond, time.Hour} {
		var clients atomic.Int32
		inside, leave := make(chan struct{}), make(chan struct{})
		h := gitexport.Bounded(answers(func(_ context.Context, _ []byte, w io.Writer) error {
			inside <- struct{}{}
			<-leave
			_, err := io.WriteString(w, "0000")
			return err
		}).find, func(*http.Request) string { return strconv.Itoa(int(clients.Add(1))) }, 2, queue, 0, 0)
		answered := make(chan *httptest.ResponseRecorder)
		ask := func() {
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, advertised, http.NoBody))
			answered <- rec
		}
		go ask()
		go ask()
		<-inside
		<-inside
		go ask()
		if queue == time.Nanosecond {
			if rec := <-answered; rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") != "10" {
				t.Errorf("a third round: %d %v", rec.Code, rec.Header())
			}
			go ask()
			if rec := <-answered; rec.Code != http.StatusServiceUnavailable {
				t.Errorf("a fourth round: %d", rec.Code)
			}
			close(leave)
		} else {
			leave <- struct{}{}
			<-inside // the third one has its turn
			close(leave)
			if rec := <-answered; rec.Code != http.StatusOK {
				t.Errorf("the request that waited: %d", rec.Code)
			}
		}
		for range 2 {
			if rec := <-answered; rec.Code != http.StatusOK || rec.Body.String() != "0000" {
				t.Errorf("the request that had a turn: %d %q", rec.Code, rec.Body)
			}
		}
	}
}

// TestClientsThatLeave: a round ends when its client reads nothing for too long,
// when it takes too long in all, and when its client goes away. The only turn is
// free again each time.
func TestClientsThatLeave(t *testing.T) {
	t.Parallel()
	forever := answers(func(ctx context.Context, _ []byte, w io.Writer) error {
		block := bytes.Repeat([]byte("x"), 1<<20)
		for ctx.Err() == nil {
			if _, err := w.Write(block); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	silent := answers(func(ctx context.Context, _ []byte, _ io.Writer) error {
		<-ctx.Done()
		return ctx.Err()
	})
	for _, tt := range []struct {
		name       string
		repo       answers
		run, stall time.Duration
		client     func(c net.Conn)
	}{
		{"takes nothing", forever, 0, 50 * time.Millisecond, func(net.Conn) {}},
		{"never ends", forever, 50 * time.Millisecond, 0, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }},
		{"never begins", silent, 50 * time.Millisecond, 0, func(net.Conn) {}},
		{"leaves in the middle", forever, 0, 0, func(c net.Conn) {
			_, _ = io.CopyN(io.Discard, c, 1<<20)
			_ = c.Close()
		}},
		{"leaves before", silent, 0, 0, func(c net.Conn) { _ = c.Close() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			began, ended := make(chan struct{}, 1), make(chan error, 1)
			repo := answers(func(ctx context.Context, request []byte, w io.Writer) error {
				began <- struct{}{}
				err := tt.repo(ctx, request, w)
				ended <- err
				return err
			})
			ts := httptest.NewServer(gitexport.Bounded(repo.find, connection, 1, 10*time.Second, tt.run, tt.stall))
			t.Cleanup(ts.Close)
			for range 2 {
				c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", ts.Listener.Addr().String())
				must(t, err)
				defer c.Close()
				if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", advertised); err != nil {
					t.Fatal(err)
				}
				<-began
				tt.client(c)
				if err := <-ended; err == nil {
					t.Error("the round ended well")
				}
				_ = c.Close()
			}
		})
	}
}

// TestErrors: the answers to errors; the log has those that an operator must act
// on.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err    error
		status int
		logged bool
	}{
		{catalog.ErrNotFound, 404, false},
		{gitexport.ErrCredentials, 401, false},
		{gitsource.ErrNotFetched, 503, false},
		{gitexport.ErrElsewhere, 503, false},
		{store.ErrUnavailable, 503, false},
		{gitsource.ErrBadRequest, 400, false},
		{errors.New("the disk is gone"), 500, true},
	} {
		for _, found := range []bool{false, true} {
			find := func(*http.Request, string, string) (gitexport.Mirror, string, error) {
				return nil, "", fmt.Errorf("here: %w", tt.err)
			}
			if found {
				find = answers(func(context.Context, []byte, io.Writer) error { return fmt.Errorf("there: %w", tt.err) }).find
			}
			var log strings.Builder
			h := gitexport.New(find, connection, slog.New(slog.NewTextHandler(&log, nil)))
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, advertised, http.NoBody))
			if rec.Code != tt.status || (log.Len() > 0) != tt.logged || strings.Contains(rec.Body.String(), "disk") {
				t.Errorf("%v: %d %s, log %q", tt.err, rec.Code, rec.Body, &log)
			}
			if asks := strings.HasPrefix(rec.Header().Get("WWW-Authenticate"), "Basic "); asks != (tt.status == 401) {
				t.Errorf("%v: WWW-Authenticate %q", tt.err, rec.Header().Get("WWW-Authenticate"))
			}
		}
	}
}

// TestRequestsOfClients: a client that begins many requests and does not end them
// holds its share of memory and no more, and others are answered.
func TestRequestsOfClients(t *testing.T) {
	t.Parallel()
	h := gitexport.New(answers(func(_ context.Context, _ []byte, w io.Writer) error {
		_, err := io.WriteString(w, "0000")
		return err
	}).find, func(r *http.Request) string { return r.Header.Get("X-Client") }, nil)
	const tried = 20
	var inflated atomic.Int64
	reached, end := make(chan struct{}, tried), make(chan struct{})
	codes := make(chan int, tried)
	ask := func(client string, body io.Reader) int {
		r := httptest.NewRequest(http.MethodPost, "/git/p/c/git-upload-pack", body)
		r.Header.Set("Content-Type", "application/x-git-upload-pack-request")
		r.Header.Set("X-Client", client)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec.Code
	}
	for range tried {
		go func() {
			held := io.MultiReader(&counted{strings.NewReader(strings.Repeat("0000", 3<<18)), &inflated}, &stalled{reached, end})
			codes <- ask("hostile", held)
		}()
	}
	refused, waiting := 0, 0
	for refused+waiting < tried {
		select {
		case code := <-codes:
			if refused++; code != http.StatusTooManyRequests {
				t.Errorf("a request over the share: %d", code)
			}
		case <-reached:
			waiting++
		}
	}
	if waiting == 0 || waiting > 2 {
		t.Errorf("%d requests of 3 MiB are held, want 1 or 2", waiting)
	}
	if n := inflated.Load() - int64(waiting)*3<<20; n > int64(refused)*(32<<10) {
		t.Errorf("%d bytes of %d refused requests were read", n, refused)
	}
	if code := ask("honest", strings.NewReader("0000")); code != http.StatusOK {
		t.Errorf("another client: %d", code)
	}
	close(end)
	for range waiting {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("a request that ended: %d", code)
		}
	}
}

// TestInflatedInTurn: compressed requests are inflated when they have come whole and when
// it is their turn, so that many take neither memory nor all cores; others need no turn.
func TestInflatedInTurn(t *testing.T) {
	t.Parallel()
	h := gitexport.Bounded(answers(func(_ context.Context, request []byte, w io.Writer) error {
		_, err := fmt.Fprintf(w, "%d bytes", len(request))
		return err
	}).find, connection, 8, time.Millisecond, 0, 0)
	pools := h.Pools()
	pool := func(name string) *limit.Pool {
		return pools[slices.IndexFunc(pools, func(p *limit.Pool) bool { return p.Name == name })]
	}
	const size = 3 << 20
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, err := z.Write(make([]byte, size))
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	ask := func(encoding string, body io.Reader) (int, string) {
		r := httptest.NewRequest(http.MethodPost, "/git/p/c/git-upload-pack", body)
		r.Header.Set("Content-Type", "application/x-git-upload-pack-request")
		r.Header.Set("Content-Encoding", encoding)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec.Code, rec.Body.String()
	}
	if code, text := ask("gzip", bytes.NewReader(bomb.Bytes())); code != 200 || text != fmt.Sprint(size, " bytes") {
		t.Errorf("a whole request: %d %s", code, text)
	}
	reached, end, done := make(chan struct{}), make(chan struct{}), make(chan int)
	go func() {
		code, _ := ask("gzip", io.MultiReader(bytes.NewReader(bomb.Bytes()[:bomb.Len()-8]), &stalled{reached, end}))
		done <- code
	}()
	<-reached
	if used, turns := pool("git_requests").Used(), pool("git_inflating").Used(); used > 64<<10 || turns != 0 {
		t.Errorf("one that has not come whole holds %d bytes and %d turns", used, turns)
	}
	close(end)
	if code := <-done; code != 400 {
		t.Errorf("one that was cut off: %d", code)
	}
	turns := pool("git_inflating").Lease("another")
	if err := turns.Take(pool("git_inflating").Total); err != nil {
		t.Fatal(err)
	}
	if code, text := ask("gzip", bytes.NewReader(bomb.Bytes())); code != 503 {
		t.Errorf("without a turn: %d %s", code, text)
	}
	if code, text := ask("", strings.NewReader("0000")); code != 200 || text != "4 bytes" {
		t.Errorf("one that is not compressed: %d %s", code, text)
	}
	turns.Release()
	if used := pool("git_requests").Used() + pool("git_inflating").Used() + pool("git_large_requests").Used(); used != 0 {
		t.Errorf("%d are held by nobody", used)
	}
}

// counted counts what is read.
type counted struct {
	io.Reader
	n *atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// stalled is the end of a body that does not come until end is closed.
type stalled struct {
	reached chan<- struct{}
	end     <-chan struct{}
}

func (s *stalled) Read([]byte) (int, error) {
	s.reached <- struct{}{}
	<-s.end
	return 0, io.EOF
}
