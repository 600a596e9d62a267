package gitsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// faulty is a TCP proxy that harms the bytes that the server sends on the n-th and all
// later connections, from byte at on.
type faulty struct {
	address string
	target  string
	mode    atomic.Pointer[fault]
	ended   chan struct{}
}

// fault happens from byte at of all bytes that the server sends.
type fault struct {
	kind string // cut, stall, corrupt
	at   int64
	seen atomic.Int64
}

func newFaulty(t *testing.T, target string) *faulty {
	t.Helper()
	p := &faulty{target: target, ended: make(chan struct{})}
	p.address = listen(t, p.serve)
	t.Cleanup(func() { close(p.ended) })
	return p
}

func (p *faulty) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer client.Close()
	defer server.Close()
	wg.Go(func() { _, _ = io.Copy(server, client); _ = server.Close() })
	buf := make([]byte, 512)
	for {
		n, err := server.Read(buf)
		if n > 0 && !p.pass(client, buf[:n]) || err != nil {
			return
		}
	}
}

func (p *faulty) pass(client net.Conn, data []byte) bool {
	f := p.mode.Load()
	if f == nil {
		_, err := client.Write(data)
		return err == nil
	}
	end := f.seen.Add(int64(len(data)))
	start := end - int64(len(data))
	if end > f.at {
		switch f.kind {
		case "cut":
			_, _ = client.Write(data[:max(0, f.at-start)])
			return false
		case "stall":
			_, _ = client.Write(data[:max(0, f.at-start)])
			_ = client.SetReadDeadline(time.Now().Add(time.Minute))
			<-p.ended
			return false
		case "corrupt":
			for i := max(0, f.at-start); i < int64(len(data)); i += 7 {
				data[i] ^= 0x41
			}
		}
	}
	_, err := client.Write(data)
	return err == nil
}

// TestFaultyNetwork: after any fault of the network the mirror keeps its last state,
// the error is about the remote, and the next fetch gets all commits.
func TestFaultyNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it waits for remotes")
	}
	root, u := upstreamBelow(t)
	fs := files{}
	var h object.Hash
	grow := func() {
		for i := range 40 { // more than become loose objects, not compressible
			fs[fmt.Sprintf("%d/%d.po", i, u.Clock)] = fmt.Sprintf("%x", object.Hash{byte(i), byte(u.Clock), byte(u.Clock >> 8)}) + fmt.Sprint(u.Clock, i)
		}
		var parents []object.Hash
		if !h.IsZero() {
			parents = []object.Hash{h}
		}
		h = u.Push("A", fs, parents...)
	}
	grow()
	transports(t, root, func(t *testing.T, transport string, handler http.Handler) {
		srv := httptest.NewServer(handler)
		defer srv.Close()
		proxy := newFaulty(t, strings.TrimPrefix(srv.URL, "http://"))
		m := openMirror(t, remote.Repository{URL: "http://" + proxy.address + "/up.git"}, Options{Remote: remote.Options{Transport: transport}})
		good := files{}
		for _, kind := range []string{"cut", "corrupt", "stall"} {
			m.opts.Remote.Silence = 300 * time.Millisecond // of which some faults take all; of the binary's second, too
			for _, at := range []int64{0, 300, 1000, 2500, 6000} {
				if kind == "stall" && at != 1000 && at != 2500 {
					continue
				}
				if testing.Short() && transport == "binary" && kind == "corrupt" && at == 1000 {
					continue // git waits for its helper for five seconds
				}
				proxy.mode.Store(&fault{kind: kind, at: at})
				head, err := m.Fetch(context.Background())
				if err != nil && !errors.Is(err, remote.ErrUnreachable) && !errors.Is(err, remote.ErrAuth) && !errors.Is(err, remote.ErrBranchMissing) && !errors.Is(err, object.ErrTooLarge) {
					t.Errorf("%s at %d: %v; want an error about the remote", kind, at, err)
				}
				if err != nil && (strings.Contains(err.Error(), "\n") || len(err.Error()) > 1000) {
					t.Errorf("%s at %d: not one line: %q", kind, at, err)
				}
				switch {
				case err == nil: // the fault came after the answer
					good = maps.Clone(fs)
				case len(good) == 0:
					if _, err := m.Head(); !errors.Is(err, ErrNotFetched) {
						t.Fatalf("%s at %d: half a clone is in use: %v", kind, at, err)
					}
					continue
				}
				r := open(t, m)
				if err == nil && r.Head() != head {
					t.Errorf("head %v, reader's %v", head, r.Head())
				}
				if d := cmp.Diff(good, contents(t, r, r.Head().Hash, everything)); d != "" {
					t.Fatalf("%s at %d: the last state is lost:\n%s", kind, at, d)
				}
			}
			proxy.mode.Store(nil)
			m.opts.Remote.Silence = 0
			checkFetch(t, m, "main", fs)
			good = maps.Clone(fs)
			grow()
		}
		checkFetch(t, m, "main", fs)
	})
}

// TestEndlessRefs: a list of refs without end is given up, and not held.
func TestEndlessRefs(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "001e# service=git-upload-pack\n0000")
		endless(w)
	}))
	defer srv.Close()
	for _, branch := range []string{"", "main"} {
		m := openMirror(t, remote.Repository{URL: srv.URL + "/x", Branch: branch}, Options{Remote: remote.Options{Transport: "builtin"}})
		if _, err := m.Fetch(context.Background()); !errors.Is(err, object.ErrTooLarge) {
			t.Errorf("%v, want ErrTooLarge", err)
		}
	}
}

// TestMaxPack: a remote that sends more than it may is given up by both ways of
// transport, keeps the objects from before, and leaves no files.
func TestMaxPack(t *testing.T) {
	root, u := upstreamBelow(t)
	first := u.Commit("A", files{"de.po": "1"})
	second := u.Commit("B", files{"de.po": "2", "noise.bin": string(random(3 << 20))}, first)
	transports(t, root, func(t *testing.T, transport string, h http.Handler) {
		u.Set("main", first)
		srv := httptest.NewServer(h)
		defer srv.Close()
		m := openMirror(t, remote.Repository{URL: srv.URL + "/up.git"}, Options{Remote: remote.Options{Transport: transport, MaxPack: 1 << 20}})
		checkFetch(t, m, "main", files{"de.po": "1"})
		u.Set("main", second)
		_, err := m.Fetch(context.Background())
		if !errors.Is(err, object.ErrTooLarge) {
			t.Fatalf("%v, want ErrTooLarge", err)
		}
		if head, err := m.Head(); err != nil || head.Hash != first {
			t.Errorf("head %v, %v, want that of before", head, err)
		}
		path, _ := m.Path()
		if rest := bytesBelow(t, path); rest > 1<<20 {
			t.Errorf("%d bytes are left in the mirror", rest)
		}
		fresh := openMirror(t, remote.Repository{URL: srv.URL + "/up.git"}, Options{Remote: remote.Options{Transport: transport, MaxPack: 8 << 20}})
		if head, err := fresh.Fetch(context.Background()); err != nil || head.Hash != second {
			t.Errorf("with a higher limit: %v, %v", head, err)
		}
	})
}

// TestRoomEndsTransfers: when the disk gets full during a transfer, by either way of
// transport, the transfer ends, leaves nothing of its pack, and the last state stays.
func TestRoomEndsTransfers(t *testing.T) {
	const noise = 1 << 20
	root, u := upstreamBelow(t)
	first := u.Commit("A", files{"de.po": "1"})
	second := u.Commit("B", files{"de.po": "2", "noise.bin": string(random(noise))}, first)
	transports(t, root, func(t *testing.T, transport string, h http.Handler) {
		u.Set("main", first)
		srv := httptest.NewServer(h)
		defer srv.Close()
		proxy := newFaulty(t, strings.TrimPrefix(srv.URL, "http://"))
		full := errors.New("the disk is full")
		m := openMirror(t, remote.Repository{URL: "http://" + proxy.address + "/up.git"}, Options{
			Remote: remote.Options{Transport: transport},
			Room: func() error {
				if f := proxy.mode.Load(); f != nil && f.seen.Load() > f.at {
					return full
				}
				return nil
			},
		})
		checkFetch(t, m, "main", files{"de.po": "1"})
		path, _ := m.Path()
		before := bytesBelow(t, path)
		u.Set("main", second)
		proxy.mode.Store(&fault{kind: "stall", at: noise / 2})
		if _, err := m.Fetch(context.Background()); !errors.Is(err, full) {
			t.Fatalf("%v, want %v", err, full)
		}
		if head, err := m.Head(); err != nil || head.Hash != first {
			t.Errorf("head %v, %v, want that of before", head, err)
		}
		if left := bytesBelow(t, path) - before; left > 1<<10 {
			t.Errorf("%d bytes of the transfer are left in the mirror", left)
		}
		proxy.mode.Store(nil)
		if head, err := m.Fetch(context.Background()); err != nil || head.Hash != second {
			t.Errorf("with room: %v, %v", head, err)
		}
	})
}

// random returns bytes that cannot be compressed.
func random(n int) []byte {
	noise := make([]byte, n)
	source := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(source.Uint32())
	}
	return noise
}

func bytesBelow(t *testing.T, dir string) (size int64) {
	t.Helper()
	gittest.Must(t, filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	}))
	return size
}
