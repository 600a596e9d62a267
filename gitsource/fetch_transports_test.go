package gitsource

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/remote"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// sshd starts Debian's ssh server for one key, as this user, with a throwaway
// host key, and returns its address and a known_hosts file for it.
func sshd(t *testing.T, key ssh.PublicKey) (address, known string) {
	t.Helper()
	program := "/usr/sbin/sshd"
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI=true, but there is no sshd (apt-get install openssh-server)")
		}
		t.Skip("skipped: there is no /usr/sbin/sshd on this machine (openssh-server)")
	}
	gittest.NeedGit(t)
	if os.Getuid() == 0 { // as root it wants the folder that its service makes
		_ = os.Mkdir("/run/sshd", 0o755)
	}
	dir := t.TempDir()
	host := newKey(t, filepath.Join(dir, "host"))
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "authorized"), ssh.MarshalAuthorizedKey(key), 0o600))
	config := filepath.Join(dir, "config")
	gittest.Must(t, os.WriteFile(config, []byte("ListenAddress 127.0.0.1\nHostKey "+filepath.Join(dir, "host")+
		"\nAuthorizedKeysFile "+filepath.Join(dir, "authorized")+"\nStrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"), 0o600))
	address = inetd(t, program, "-i", "-e", "-f", config)
	return address, knownHosts(t, address, host.PublicKey())
}

// TestFetchSSHD goes through the real ssh server with both transports, by key
// file and by agent.
func TestFetchSSHD(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	signer := newKey(t, key)
	address, known := sshd(t, signer.PublicKey())
	u := newUpstream(t)
	c1 := u.Push("A", files{"x": "1"})
	user := os.Getenv("USER")
	if user == "" {
		out, err := exec.Command("id", "-un").Output()
		gittest.Must(t, err)
		user = strings.TrimSpace(string(out))
	}
	address = "ssh://" + user + "@" + address + u.Dir
	socket := sshAgent(t, key)
	for _, transport := range []string{"builtin", "binary"} {
		t.Run(transport, func(t *testing.T) {
			u.Set("main", c1)
			t.Setenv("SSH_AUTH_SOCK", "")
			t.Setenv("HOME", t.TempDir())
			opts := Options{Remote: remote.Options{Transport: transport, KnownHosts: []string{known}}}
			m := openMirror(t, remote.Repository{URL: address, Credential: &remote.Credential{SSHKey: key}}, opts)
			checkFetch(t, m, "main", files{"x": "1"})
			u.Push("B", files{"x": "2"}, c1)
			checkFetch(t, m, "main", files{"x": "2"})
			if _, err := openMirror(t, remote.Repository{URL: address}, opts).Fetch(context.Background()); !errors.Is(err, remote.ErrAuth) {
				t.Errorf("without a key: %v, want ErrAuth", err)
			}
			none := opts
			none.Remote.KnownHosts = []string{filepath.Join(dir, "none")}
			gittest.Must(t, os.WriteFile(none.Remote.KnownHosts[0], nil, 0o600))
			if _, err := openMirror(t, remote.Repository{URL: address, Credential: &remote.Credential{SSHKey: key}}, none).Fetch(context.Background()); !errors.Is(err, remote.ErrAuth) || !strings.Contains(err.Error(), "known_hosts") {
				t.Errorf("a host that is not known: %v, want ErrAuth", err)
			}
			t.Setenv("SSH_AUTH_SOCK", socket)
			checkFetch(t, openMirror(t, remote.Repository{URL: address}, opts), "main", files{"x": "2"})
		})
	}
}

// sshAgent serves a key file's key on a socket.
func sshAgent(t *testing.T, key string) (socket string) {
	t.Helper()
	data, err := os.ReadFile(key)
	gittest.Must(t, err)
	private, err := ssh.ParseRawPrivateKey(data)
	gittest.Must(t, err)
	ring := agent.NewKeyring()
	gittest.Must(t, ring.Add(agent.AddedKey{PrivateKey: private.(*ed25519.PrivateKey)}))
	dir, err := os.MkdirTemp("", "agent") // t.TempDir may be too long for a socket
	gittest.Must(t, err)
	socket = filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	gittest.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	accept(t, l, func(conn net.Conn) { _ = agent.ServeAgent(ring, conn) })
	return socket
}

// TestFetchTLS: a certificate that the system does not know is refused; one of
// a CA that SSL_CERT_FILE names is taken. The pool is read once per process, so
// the good case runs in a process of its own.
func TestFetchTLS(t *testing.T) {
	root, u := upstreamBelow(t)
	u.Push("A", files{"x": "1"})
	if address := os.Getenv("GITSOURCE_TEST_TLS"); address != "" {
		checkFetch(t, openMirror(t, remote.Repository{URL: address}, Options{Remote: remote.Options{Transport: os.Getenv("GITSOURCE_TEST_TRANSPORT")}}), "main", files{"x": "1"})
		return
	}
	transports(t, root, func(t *testing.T, transport string, h http.Handler) {
		srv := httptest.NewUnstartedServer(h)
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		srv.StartTLS()
		defer srv.Close()
		_, err := openMirror(t, remote.Repository{URL: srv.URL + "/up.git"}, Options{Remote: remote.Options{Transport: transport}}).Fetch(context.Background())
		if !errors.Is(err, remote.ErrUnreachable) || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("an unknown certificate: %v, want ErrUnreachable that says so", err)
		}
		ca := filepath.Join(t.TempDir(), "ca.pem")
		gittest.Must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600))
		cmd := exec.Command(os.Args[0], "-test.run=^TestFetchTLS$")
		cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+ca, "GITSOURCE_TEST_TLS="+srv.URL+"/up.git", "GITSOURCE_TEST_TRANSPORT="+transport)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("with SSL_CERT_FILE: %v\n%s", err, out)
		}
	})
}

// bothListener answers TLS and plain HTTP on one port.
type bothListener struct {
	net.Listener
	config *tls.Config
}

// Accept looks at the first byte of a connection.
func (l bothListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	first := &firstByte{Conn: c}
	if b, err := first.peek(); err == nil && b == 0x16 { // a TLS handshake
		return tls.Server(first, l.config), nil
	}
	return first, nil
}

// firstByte is a connection whose first byte was looked at.
type firstByte struct {
	net.Conn
	seen []byte
}

func (f *firstByte) peek() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(f.Conn, b[:])
	f.seen = b[:]
	return b[0], err
}

// Read reads the byte again, then the connection.
func (f *firstByte) Read(p []byte) (int, error) {
	if n := copy(p, f.seen); n > 0 {
		f.seen = f.seen[n:]
		return n, nil
	}
	return f.Conn.Read(p)
}

// TestNoDowngrade: a server that leads from https to http, at the same host and port, is not
// followed.
func TestNoDowngrade(t *testing.T) {
	if address := os.Getenv("GITSOURCE_TEST_TLS"); address != "" {
		_, err := openMirror(t, remote.Repository{URL: address}, Options{Remote: remote.Options{Transport: os.Getenv("GITSOURCE_TEST_TRANSPORT")}}).Fetch(context.Background())
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
		return
	}
	for _, transport := range []string{"builtin", "binary"} {
		if transport == "binary" {
			gittest.NeedGit(t)
		}
		var mu sync.Mutex
		var secure, plain []string
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			switch given := req.Header.Get("Authorization"); {
			case req.TLS == nil:
				plain = append(plain, given)
				w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
				http.Error(w, "no", http.StatusUnauthorized)
			case given == "":
				w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
				http.Error(w, "no", http.StatusUnauthorized)
			default:
				secure = append(secure, given)
				http.Redirect(w, req, "http://"+req.Host+req.URL.String(), http.StatusFound)
			}
		}))
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		template := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
		defer template.Close()
		srv.Listener = bothListener{srv.Listener, &tls.Config{Certificates: template.TLS.Certificates, MinVersion: tls.VersionTLS12}}
		srv.Start()
		defer srv.Close()
		ca := filepath.Join(t.TempDir(), "ca.pem")
		gittest.Must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: template.Certificate().Raw}), 0o600))
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNoDowngrade$")
		address := "https://anna:hunter2@" + strings.TrimPrefix(srv.URL, "http://") + "/up.git"
		cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+ca, "GITSOURCE_TEST_TLS="+address, "GITSOURCE_TEST_TRANSPORT="+transport)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", transport, err, out)
		}
		mu.Lock()
		if len(secure) == 0 || len(plain) != 0 {
			t.Errorf("%s: over TLS %q, in clear %q", transport, secure, plain)
		}
		mu.Unlock()
	}
}

// TestProxies: the usual variables lead through a proxy.
func TestProxies(t *testing.T) {
	root, u := upstreamBelow(t)
	u.Push("A", files{"x": "1"})
	if address := os.Getenv("GITSOURCE_TEST_PROXY"); address != "" {
		checkFetch(t, openMirror(t, remote.Repository{URL: address}, Options{Remote: remote.Options{Transport: os.Getenv("GITSOURCE_TEST_TRANSPORT")}}), "main", files{"x": "1"})
		return
	}
	transports(t, root, func(t *testing.T, transport string, h http.Handler) {
		srv := httptest.NewServer(h)
		defer srv.Close()
		target, err := url.Parse(srv.URL)
		gittest.Must(t, err)
		var mu sync.Mutex
		asked := 0
		proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			mu.Lock()
			asked++
			mu.Unlock()
			r.Out.URL.Scheme, r.Out.URL.Host = "http", target.Host
		}})
		defer proxy.Close()
		// A name that only the proxy can resolve; loopback is never proxied.
		cmd := exec.Command(os.Args[0], "-test.run=^TestProxies$")
		cmd.Env = append(os.Environ(), "http_proxy="+proxy.URL, "HTTP_PROXY="+proxy.URL, "NO_PROXY=", "no_proxy=",
			"GITSOURCE_TEST_PROXY=http://git.invalid/up.git", "GITSOURCE_TEST_TRANSPORT="+transport)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		mu.Lock()
		defer mu.Unlock()
		if asked == 0 {
			t.Error("the proxy was not asked")
		}
	})
}

// TestReftable: only git can read such refs, and only from 2.45 on.
func TestReftable(t *testing.T) {
	git := gittest.NeedGit(t)
	dir := filepath.Join(t.TempDir(), "r.git")
	cmd := exec.Command(git, "init", "-q", "--bare", "-b", "main", "--ref-format=reftable", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("skipped: this git (%s) cannot make reftables, which 2.45 and newer can; TestReftableRefused shows how that is told: %.60q",
			gittest.RunGit(t, "", "version"), out)
	}
	tree := strings.TrimSpace(string(gittest.PipeGit(t, dir, strings.NewReader(""), "mktree")))
	h := gittest.RunGit(t, dir, "commit-tree", "-m", "x", tree)
	gittest.RunGit(t, dir, "update-ref", "refs/heads/main", h)
	head, err := openMirror(t, remote.Repository{URL: dir}, Options{}).Fetch(context.Background())
	if err != nil || head.Hash.String() != h {
		t.Errorf("%+v, %v", head, err)
	}
}

// TestReftableRefused: without a git that can read it, a reftable is recognised
// and the error says what to do.
func TestReftableRefused(t *testing.T) {
	u := newUpstream(t)
	u.Write("reftable/tables.list", "")
	u.Write("config", "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\trefStorage = reftable\n")
	old := filepath.Join(t.TempDir(), "git") // 2.39
	gittest.Must(t, os.WriteFile(old, []byte("#!/bin/sh\necho 'fatal: unknown repository extension found:' >&2\necho '\trefstorage' >&2\nexit 128\n"), 0o700))
	for name, c := range map[string]struct {
		opts Options
		says string
	}{
		"old git":  {Options{Remote: remote.Options{GitBinary: old}}, "install git 2.45 or newer"},
		"no git":   {Options{Remote: remote.Options{GitBinary: filepath.Join(t.TempDir(), "none")}}, "install git"},
		"built in": {Options{Remote: remote.Options{Transport: "builtin"}}, "set git: auto"},
	} {
		_, err := openMirror(t, remote.Repository{URL: u.Dir}, c.opts).Fetch(context.Background())
		if !errors.Is(err, remote.ErrUnsupported) || !strings.Contains(fmt.Sprint(err), c.says) || !strings.Contains(fmt.Sprint(err), "reftable") {
			t.Errorf("%s: %v, want ErrUnsupported that says %q", name, err, c.says)
		}
	}
}
