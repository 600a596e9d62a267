package gitsource

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
	"golang.org/x/crypto/ssh"
)

// listen runs a server of connections until the end of the test.
func listen(t *testing.T, serve func(conn net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	gittest.Must(t, err)
	accept(t, l, serve)
	return l.Addr().String()
}

// accept serves the connections of a listener until the end of the test.
func accept(t *testing.T, l net.Listener, serve func(conn net.Conn)) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[conn] = true
			mu.Unlock()
			wg.Go(func() {
				serve(conn)
				_ = conn.Close()
				mu.Lock()
				delete(open, conn)
				mu.Unlock()
			})
		}
	})
}

// daemon serves a folder as git daemon does.
func daemon(t *testing.T, root string) (address string) {
	t.Helper()
	git := gittest.NeedGit(t)
	if _, err := os.Stat(filepath.Join(gittest.RunGit(t, "", "--exec-path"), "git-daemon")); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI=true, but this git has no daemon")
		}
		t.Skip("skipped: this git has no daemon")
	}
	return inetd(t, git, "daemon", "--inetd", "--export-all", "--base-path="+root)
}

// inetd starts a program for each connection: no port to race for, nothing left over.
func inetd(t *testing.T, program string, args ...string) (address string) {
	t.Helper()
	return listen(t, func(conn net.Conn) {
		file, err := conn.(*net.TCPConn).File()
		if err != nil {
			return
		}
		defer file.Close()
		cmd := exec.Command(program, args...)
		cmd.Stdin, cmd.Stdout = file, file
		cmd.WaitDelay = 5 * time.Second
		_ = cmd.Run()
	})
}

// TestFetchDaemon goes through git's own protocol with both transports.
func TestFetchDaemon(t *testing.T) {
	root := t.TempDir()
	address := daemon(t, root)
	u := gittest.NewUpstreamAt[object.Hash](t, filepath.Join(root, "up.git"))
	c1 := u.Commit("A", files{"x": "1"})
	gittest.NewUpstreamAt[object.Hash](t, filepath.Join(root, "empty.git"))
	for _, transport := range []string{"builtin", "binary"} {
		t.Run(transport, func(t *testing.T) {
			u.Set("main", c1)
			opts := Options{Remote: remote.Options{Transport: transport}}
			m := openMirror(t, remote.Repository{URL: "git://" + address + "/up.git"}, opts)
			checkFetch(t, m, "main", files{"x": "1"})
			checkFetch(t, m, "main", files{"x": "1"}) // nothing new
			u.Push("B", files{"x": "2"}, c1)
			checkFetch(t, m, "main", files{"x": "2"})
			for path, want := range map[string]error{"/absent.git": remote.ErrUnreachable, "/up.git#gone": remote.ErrBranchMissing, "/empty.git": remote.ErrEmptyRepository} {
				path, branch, _ := strings.Cut(path, "#")
				_, err := openMirror(t, remote.Repository{URL: "git://" + address + path, Branch: branch}, opts).Fetch(context.Background())
				if !errors.Is(err, want) || want == remote.ErrUnreachable && !strings.Contains(err.Error(), "repository not found") {
					t.Errorf("%s: %v, want %v", path, err, want)
				}
			}
		})
	}
}

// TestShallowRemote: a remote without the beginning of its history is cloned and
// followed from where its history begins, with either transport.
func TestShallowRemote(t *testing.T) {
	root, u := upstreamBelow(t)
	cut := u.Commit("Cut", files{"de.po": "1"}, object.Hash{7, 7})
	c2 := u.Commit("B", files{"de.po": "2"}, cut)
	c3 := u.Commit("C", files{"de.po": "3"}, c2)
	u.Write("shallow", cut.String()+"\n")
	srv := httptest.NewServer(backend(t, root))
	defer srv.Close()
	for name, url := range map[string]string{"http": srv.URL, "git": "git://" + daemon(t, root)} {
		for _, transport := range []string{"builtin", "binary"} {
			t.Run(name+" "+transport, func(t *testing.T) {
				u.Set("main", c2)
				m := openMirror(t, remote.Repository{URL: url + "/up.git"}, Options{Remote: remote.Options{Transport: transport}})
				r := checkFetch(t, m, "main", files{"de.po": "2"})
				if got := steps(t, r, object.Hash{}, c2, poMask); len(got) != 2 {
					t.Errorf("steps %v, want the steps of two commits", describe(got))
				}
				u.Set("main", c3)
				r = checkFetch(t, m, "main", files{"de.po": "3"})
				if got := steps(t, r, c2, c3, poMask); len(got) != 1 {
					t.Errorf("steps %v, want that of one commit", describe(got))
				}
			})
		}
	}
}

// TestSingleBranch: a mirror of a remote has the branch and nothing else: no
// tags, no other branches, none of their objects.
func TestSingleBranch(t *testing.T) {
	root, u := upstreamBelow(t)
	c1 := u.Commit("A", files{"x": "1"})
	side := u.Commit("B", files{"side": "2"}, c1)
	u.Set("main", c1)
	u.Set("side", side)
	u.Write("refs/tags/v1", side.String()+"\n")
	u.Write("refs/tags/v0", c1.String()+"\n") // git would follow it
	transports(t, root, func(t *testing.T, transport string, h http.Handler) {
		srv := httptest.NewServer(h)
		defer srv.Close()
		m := openMirror(t, remote.Repository{URL: srv.URL + "/up.git", Branch: "main"}, Options{Remote: remote.Options{Transport: transport}})
		r := checkFetch(t, m, "main", files{"x": "1"})
		if _, err := r.Commit(context.Background(), side); !errors.Is(err, object.ErrUnknownCommit) {
			t.Errorf("the commit of another branch: %v, want ErrUnknownCommit", err)
		}
		path, _ := m.Path()
		refs, err := filepath.Glob(filepath.Join(path, "refs", "tags", "*"))
		if packed, perr := os.ReadFile(filepath.Join(path, "packed-refs")); err != nil || len(refs) > 0 || strings.Contains(string(packed), "refs/tags") {
			t.Errorf("tags %v, %v; packed-refs %q, %v", refs, err, packed, perr)
		}
	})
}

// endless sends refs without an end.
func endless(w io.Writer) {
	name := strings.Repeat("b", 60_000)
	for i := 0; ; i++ {
		line := fmt.Sprintf("%s refs/heads/%d%s\n", strings.Repeat("a", 40), i, name)
		if i == 0 {
			line = strings.TrimSuffix(line, "\n") + "\x00symref=HEAD:refs/heads/main\n"
		}
		if _, err := fmt.Fprintf(w, "%04x%s", len(line)+4, line); err != nil {
			return
		}
	}
}

// sshRemote is a remote of an ssh server that answers a command with what
// answer writes.
func sshRemote(t *testing.T, answer func(out, stderr io.Writer, in io.Reader)) (remote.Repository, Options) {
	t.Helper()
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	client, host := newKey(t, key), newKey(t, filepath.Join(dir, "host"))
	address := listenSSH(t, client.PublicKey(), host, func(_ string, ch ssh.Channel) error {
		answer(ch, ch.Stderr(), ch)
		return io.ErrUnexpectedEOF
	})
	known := knownHosts(t, address, host.PublicKey())
	return remote.Repository{URL: "ssh://git@" + address + "/up.git", Credential: &remote.Credential{SSHKey: key}}, Options{Remote: remote.Options{Transport: "builtin", KnownHosts: []string{known}}}
}

// TestEndlessStreams: a list of refs without end is given up over ssh and git's
// own protocol, too.
func TestEndlessStreams(t *testing.T) {
	repo, opts := sshRemote(t, func(out, _ io.Writer, _ io.Reader) { endless(out) })
	git := remote.Repository{URL: "git://" + listen(t, func(conn net.Conn) { endless(conn) }) + "/up.git"}
	for _, r := range []remote.Repository{repo, git} {
		for _, branch := range []string{"", "main"} {
			r.Branch = branch
			if _, err := openMirror(t, r, opts).Fetch(context.Background()); !errors.Is(err, object.ErrTooLarge) {
				t.Errorf("%s: %v, want ErrTooLarge", r, err)
			}
		}
	}
}

// TestEndlessAcknowledgements: the answer before a pack is bounded too.
func TestEndlessAcknowledgements(t *testing.T) {
	id := strings.Repeat("a", 40)
	refs := fmt.Sprintf("%04x%s HEAD\x00symref=HEAD:refs/heads/main agent=x\n%04x%s refs/heads/main\n0000", 4+40+1+4+1+len("symref=HEAD:refs/heads/main agent=x")+1, id, 4+40+1+len("refs/heads/main\n"), id)
	flood := func(w io.Writer) {
		chunk := strings.Repeat(fmt.Sprintf("%04xACK %s\n", 4+4+40+1, id), 10_000)
		for {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}
	answer := func(in io.Reader, out io.Writer) {
		if _, err := io.WriteString(out, refs); err != nil {
			return
		}
		if n, _ := io.ReadFull(in, make([]byte, 50)); n == 50 { // a request, not a goodbye
			flood(out)
		}
	}
	ssh, opts := sshRemote(t, func(out, _ io.Writer, in io.Reader) { answer(in, out) })
	git := remote.Repository{URL: "git://" + listen(t, func(conn net.Conn) {
		if _, err := bufio.NewReader(io.LimitReader(conn, 1<<10)).ReadString(0); err == nil {
			answer(conn, conn)
		}
	}) + "/up.git"}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/info/refs") {
			_, _ = io.WriteString(w, "001e# service=git-upload-pack\n0000"+refs)
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		flood(w)
	}))
	defer srv.Close()
	for _, r := range []remote.Repository{ssh, git, {URL: srv.URL + "/up.git"}} {
		if _, err := openMirror(t, r, opts).Fetch(context.Background()); !errors.Is(err, object.ErrTooLarge) {
			t.Errorf("%s: %v, want ErrTooLarge", r, err)
		}
	}
}

// TestSSHSays: a message of a host instead of a list of refs is part of the error, in
// one line; the messages for a missing repository are understood.
func TestSSHSays(t *testing.T) {
	for said, want := range map[string]string{
		"ERROR: Repository not found.\n":                                   "repository not found",
		"fatal: '/up.git' does not appear to be a git repository\n":        "repository not found",
		"This account is\nsuspended \x1b[31m" + strings.Repeat("x", 1<<20): "This account is; suspended",
		"": "unexpected EOF",
	} {
		repo, opts := sshRemote(t, func(_, stderr io.Writer, _ io.Reader) { _, _ = io.WriteString(stderr, said) })
		_, err := openMirror(t, repo, opts).Fetch(context.Background())
		if !errors.Is(err, remote.ErrUnreachable) || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 1000 {
			t.Errorf("%v, want one line with %q", err, want)
		}
	}
}

// TestSilentRemotes: a remote that falls silent, at any point of the
// conversation, is given up after the time it may be silent for; the last state
// stays, and the next fetch gets everything.
func TestSilentRemotes(t *testing.T) {
	root, u := upstreamBelow(t)
	c1 := u.Commit("A", files{"x": "1"})
	noise := ""
	for i := range 2000 {
		noise += fmt.Sprintf("%x", object.Hash{byte(i), byte(i >> 8), byte(i * i), byte(i * 7)})
	}
	c2 := u.Commit("B", files{"x": "2", "noise": noise}, c1)
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	client, host := newKey(t, key), newKey(t, filepath.Join(dir, "host"))
	for scheme, c := range map[string]struct {
		server string
		at     []int64
	}{
		"git": {daemon(t, root), []int64{0, 60, 350, 1500}},                              // refs, their middle, the answer, the pack
		"ssh": {sshServer(t, root, client.PublicKey(), host), []int64{0, 30, 900, 2600}}, // banner, key exchange, login, refs or pack
	} {
		t.Run(scheme, func(t *testing.T) {
			u.Set("main", c1)
			proxy := newFaulty(t, c.server)
			address := proxy.address
			known := knownHosts(t, address, host.PublicKey())
			m := openMirror(t, remote.Repository{URL: scheme + "://git@" + address + "/up.git", Credential: &remote.Credential{SSHKey: key}}, Options{Remote: remote.Options{Transport: "builtin", KnownHosts: []string{known}}})
			checkFetch(t, m, "main", files{"x": "1"})
			u.Set("main", c2)
			for _, at := range c.at {
				m.opts.Remote.Silence = 100 * time.Millisecond
				proxy.mode.Store(&fault{kind: "stall", at: at})
				_, err := m.Fetch(context.Background())
				if !errors.Is(err, remote.ErrUnreachable) || !strings.Contains(err.Error(), "no answer in time") {
					t.Errorf("silent from byte %d on: %v", at, err)
				}
				if head, err := m.Head(); err != nil || head.Hash != c1 {
					t.Errorf("silent from byte %d on: the last state is lost: %v, %v", at, head, err)
				}
			}
			proxy.mode.Store(nil)
			m.opts.Remote.Silence = 0
			checkFetch(t, m, "main", files{"x": "2", "noise": noise})
		})
	}
}

// TestSilentHandshakes: a host that takes connections and says nothing, not even
// to a TLS handshake, costs the time it may be silent for, with either transport.
func TestSilentHandshakes(t *testing.T) {
	address := listen(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	for _, transport := range []string{"builtin", "binary"} {
		for _, scheme := range []string{"http", "https"} {
			m := openMirror(t, remote.Repository{URL: scheme + "://" + address + "/x"}, Options{Remote: remote.Options{Transport: transport}, Timeout: time.Minute})
			m.opts.Remote.Silence = 100 * time.Millisecond // the binary knows whole seconds only
			if transport == "binary" {
				gittest.NeedGit(t)
			}
			began := time.Now()
			_, err := m.Fetch(context.Background())
			if !errors.Is(err, remote.ErrUnreachable) || time.Since(began) > 50*time.Second {
				t.Errorf("%s, %s: %v after %s", scheme, transport, err, time.Since(began))
			}
		}
	}
}
