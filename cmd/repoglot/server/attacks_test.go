package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/limit"
)

const (
	honest, hostile = "127.0.0.1", "127.0.0.2"
	longWait        = 32 // requests of one client that wait for a turn
)

// attacked is a whole server, and clients at some addresses.
type attacked struct {
	t       *testing.T
	server  *server
	address string
	key     string
	clients map[string]*http.Client // by address
	asked   atomic.Int64
}

func newAttacked(t *testing.T) *attacked {
	t.Helper()
	z, s := openWhole(t)
	l := httptest.NewServer(z.handler)
	t.Cleanup(func() { s.api.EndStreams(); l.Close() })
	a := &attacked{t: t, server: s, address: strings.TrimPrefix(l.URL, "http://"), key: z.key, clients: map[string]*http.Client{}}
	for _, from := range []string{honest, hostile} {
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		tr := &http.Transport{DialContext: dialer.DialContext, DisableCompression: true}
		t.Cleanup(tr.CloseIdleConnections)
		a.clients[from] = &http.Client{Transport: tr}
	}
	return a
}

// visit is one kind of request.
type visit struct {
	pool, method, path, body string
	header                   []string
	want                     int
}

// ask sends a request from an address.
func (a *attacked) ask(ctx context.Context, from string, v *visit, header ...string) *http.Response {
	a.t.Helper()
	path := v.path
	if base, query, _ := strings.Cut(path, "?"); strings.HasPrefix(path, "/api/") {
		path = fmt.Sprintf("%s?%s&x=%d", base, query, a.asked.Add(1)) // no answer is a kept one
	}
	req, err := http.NewRequestWithContext(ctx, v.method, "http://"+a.address+path, strings.NewReader(v.body))
	must(a.t, err)
	header = append(slices.Clone(v.header), header...)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := a.clients[from].Do(req)
	must(a.t, err)
	return res
}

// answered sends a request whose answer must have a status.
func (a *attacked) answered(from string, v *visit, want int, header ...string) {
	a.t.Helper()
	ctx, cancel := context.WithCancel(a.t.Context())
	defer cancel() // streams go on
	res := a.ask(ctx, from, v, header...)
	defer res.Body.Close()
	if res.StatusCode != want || (want == http.StatusTooManyRequests) != (res.Header.Get("Retry-After") != "") {
		a.t.Errorf("%s: %s %s from %s: %d, Retry-After %q, want %d", v.pool, v.method, v.path, from, res.StatusCode, res.Header.Get("Retry-After"), want)
	}
}

// smallPages are what honest clients always get.
func (a *attacked) smallPages() {
	a.t.Helper()
	for _, path := range []string{"/healthz", "/api/", "/api/translations/open/app/nb/", "/api/units/?page_size=2", "/projects/open/"} {
		a.answered(honest, &visit{method: "GET", path: path}, http.StatusOK)
	}
	a.answered(honest, &visit{method: "GET", path: "/api/components/vault/box/"}, http.StatusOK, "Authorization", "Token "+a.key)
}

// hold holds the share of a client, with as many requests behind it as may wait.
func hold(t *testing.T, p *limit.Pool, client string) (end func()) {
	t.Helper()
	held := p.Lease(client)
	must(t, held.Take(p.Share))
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range longWait {
		wg.Go(func() {
			lease := p.Lease(client)
			defer lease.Release()
			_ = lease.Wait(ctx, 1) // until the end
		})
	}
	for p.Waiting() < longWait {
		runtime.Gosched()
	}
	return func() { cancel(); wg.Wait(); held.Release() }
}

// idle waits until nothing is held: a handler gives back what it holds after its answer.
func idle(p *limit.Pool) {
	for p.Used() > 0 {
		runtime.Gosched()
	}
}

// visits are a request for each pool of the server that strangers can take from.
func visits(t *testing.T) []visit {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte("0000"))
	must(t, err)
	must(t, z.Close())
	round := []string{"Content-Type", "application/x-git-upload-pack-request", "Git-Protocol", "version=2"}
	return []visit{
		{"searches", "GET", "/api/units/?q=one", "", nil, 200},
		{"long_answers", "GET", "/api/units/?page_size=10000", "", nil, 200},
		{"long_answers", "GET", "/api/units/", "", []string{"Accept", "application/x-ndjson"}, 200},
		{"downloads", "GET", "/api/translations/open/app/nb/file/?format=csv", "", nil, 200},
		{"downloads", "GET", "/api/units/", "", []string{"Accept", "application/x-ndjson"}, 200},
		{"long_answers", "GET", "/api/translations/open/app/nb/file/?format=xliff", "", nil, 200},
		{"streams", "GET", "/api/changes/stream/", "", nil, 200},
		{"git_rounds", "GET", "/git/open/app/info/refs?service=git-upload-pack", "", nil, 200},
		{"git_requests", "POST", "/git/open/app/git-upload-pack", "0000", round, 200},
		{"git_inflating", "POST", "/git/open/app/git-upload-pack", packed.String(), append([]string{"Content-Encoding", "gzip"}, round...), 200},
		{"hooks", "POST", "/hooks/github/", "{}", []string{"Content-Type", "application/json"}, 400},
	}
}

// TestAttackers: for each thing that strangers can hold, a client at one address that
// holds its share gets 429 for more of it; the same request from another address is
// answered as ever, and so are small pages and the look-up of tokens. A token is a client
// of its own, from whatever address.
func TestAttackers(t *testing.T) {
	t.Parallel()
	a := newAttacked(t)
	for _, v := range visits(t) {
		t.Run(v.pool, func(t *testing.T) {
			p := a.server.shared[slices.IndexFunc(a.server.shared, func(p *limit.Pool) bool { return p.Name == v.pool })]
			a.answered(hostile, &v, v.want)
			idle(p)
			end := hold(t, p, hostile)
			a.answered(hostile, &v, http.StatusTooManyRequests)
			if p.Share < p.Total { // else a client may have all, for a moment
				a.answered(honest, &v, v.want)
				if v.pool != "hooks" {
					a.answered(hostile, &v, v.want, "Authorization", "Token "+a.key)
				}
			}
			a.smallPages()
			end()
			a.answered(hostile, &v, v.want)
			idle(p)
		})
	}
}

// TestHeldBodies: clients that send bodies and do not end them have their share of
// streams, of long requests of git and of bytes of webhooks, and nobody else less.
func TestHeldBodies(t *testing.T) {
	t.Parallel()
	a := newAttacked(t)
	var others []string
	for i := range 3 {
		others = append(others, fmt.Sprintf("127.0.0.%d", 2+i))
	}
	for _, attack := range []struct {
		pool, head string
		sent       int
		times      int // by each client
	}{
		{"git_large_requests", "POST /git/open/app/git-upload-pack HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-git-upload-pack-request\r\nContent-Length: 1000000\r\n\r\n", 20 << 10, 4},
		{"streams", "GET /api/changes/stream/ HTTP/1.1\r\nHost: h\r\n\r\n", 0, 258},
		{"hooks", "POST /hooks/github/ HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 24000000\r\n\r\n", 20_000_000, 3},
	} {
		t.Run(attack.pool, func(t *testing.T) {
			p := a.server.shared[slices.IndexFunc(a.server.shared, func(p *limit.Pool) bool { return p.Name == attack.pool })]
			sources := others
			if attack.pool == "hooks" {
				sources = others[:1] // 48 MB are enough
			}
			for _, from := range sources {
				refused := make(chan bool, attack.times)
				for range attack.times {
					c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext(t.Context(), "tcp", a.address)
					must(t, err)
					defer c.Close()
					must(t, c.SetDeadline(time.Now().Add(time.Minute)))
					go func() {
						_, _ = io.WriteString(c, attack.head)
						_, _ = c.Write(make([]byte, attack.sent)) // the server may close the connection
					}()
					go func() {
						status := make([]byte, 12)
						_, err := io.ReadFull(c, status)
						refused <- err == nil && string(status) == "HTTP/1.1 429"
					}()
				}
				for range attack.times {
					if <-refused { // those before are streams
						break
					}
				}
			}
			most := int64(len(sources)) * p.Share
			if used := p.Used(); used == 0 || used > most {
				t.Errorf("%d are held, at most %d may be", used, most)
			}
			a.smallPages()
			for _, v := range visits(t) {
				if v.pool != "git_inflating" && v.pool != "long_pages" {
					a.answered(honest, &v, v.want)
				}
			}
		})
	}
}
