package gitsource

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/server"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// uploadPack serves one upload-pack conversation with go-git.
func uploadPack(root, path string) (transport.UploadPackSession, error) {
	ep, err := transport.NewEndpoint(path)
	if err != nil {
		return nil, err
	}
	return server.NewServer(server.NewFilesystemLoader(osfs.New(root))).NewUploadPackSession(ep, nil)
}

// gitHandler is a smart HTTP server that needs no git binary.
func gitHandler(root string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		path, info := strings.CutSuffix(req.URL.Path, "/info/refs")
		path = strings.TrimSuffix(path, "/git-upload-pack")
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			http.NotFound(w, req)
			return
		}
		session, err := uploadPack(root, path)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if info {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			refs, err := session.AdvertisedReferencesContext(req.Context())
			if errors.Is(err, transport.ErrEmptyRemoteRepository) {
				refs, err = packp.NewAdvRefs(), nil
			}
			if err == nil {
				refs.Prefix = [][]byte{[]byte("# service=git-upload-pack"), pktline.Flush}
				err = refs.Encode(w)
			}
			if err != nil {
				panic(err)
			}
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		if err := answer(req.Context(), session, req.Body, w); err != nil {
			panic(http.ErrAbortHandler)
		}
	})
}

func answer(ctx context.Context, session transport.UploadPackSession, in io.Reader, out io.Writer) error {
	request := packp.NewUploadPackRequest()
	if err := request.Decode(in); err != nil {
		return err
	}
	response, err := session.UploadPack(ctx, request)
	if err != nil {
		return err
	}
	return response.Encode(out)
}

// backend is git's own smart HTTP server.
func backend(tb testing.TB, root string) http.Handler {
	path := gittest.RunGit(tb, "", "--exec-path")
	return &cgi.Handler{
		Path: filepath.Join(path, "git-http-backend"), Stderr: io.Discard,
		Env: []string{
			"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		},
	}
}

// guarded serves to user "anna" with password "hunter2" and counts requests.
func guarded(t *testing.T, next http.Handler) (srv *httptest.Server, requests *atomic.Int64) {
	requests = new(atomic.Int64)
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		user, password, _ := req.BasicAuth()
		requests.Add(1)
		if user != "anna" || password != "hunter2" {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, req)
	}))
	t.Cleanup(srv.Close)
	return srv, requests
}

// transports calls run for each pair of a transport and a server on this machine.
func transports(t *testing.T, root string, run func(t *testing.T, transport string, h http.Handler)) {
	t.Run("builtin, go-git server", func(t *testing.T) { run(t, "builtin", gitHandler(root)) })
	t.Run("builtin, git server", func(t *testing.T) { run(t, "builtin", backend(t, root)) })
	t.Run("binary, git server", func(t *testing.T) { run(t, "binary", backend(t, root)) })
}

func TestFetchHTTP(t *testing.T) {
	root, u := upstreamBelow(t)
	empty := gittest.NewUpstreamAt[object.Hash](t, filepath.Join(root, "empty.git"))
	_ = empty
	transports(t, root, func(t *testing.T, transport string, h http.Handler) {
		c1 := u.Push("A", files{"de.po": "1"})
		srv, requests := guarded(t, h)
		host := strings.TrimPrefix(srv.URL, "http://")
		netrc := filepath.Join(t.TempDir(), "netrc")
		gittest.Must(t, os.WriteFile(netrc, []byte("machine other login x password y\nmachine 127.0.0.1\n  login anna\n  password hunter2\n"), 0o600))
		t.Setenv("HOME", filepath.Dir(netrc))
		t.Setenv("NETRC", "/nonexistent")

		var log bytes.Buffer
		opts := Options{Remote: remote.Options{Transport: transport}, Logger: slog.New(slog.NewTextHandler(&log, nil))}
		m := openMirror(t, remote.Repository{URL: "http://anna:hunter2@" + host + "/up.git"}, opts)
		checkFetch(t, m, "main", files{"de.po": "1"})

		requests.Store(0)
		fetch(t, m)
		if n := requests.Load(); n > 2 && transport == "builtin" { // git asks without a password first
			t.Errorf("a fetch that finds nothing new asks for more than refs: %d requests", n)
		}
		c2 := u.Commit("B", files{"de.po": "2", "cs.po": "2"}, c1)
		big := files{"de.po": "3"}
		for i := range object.UnpackLimit + 20 {
			big[fmt.Sprintf("l/%d.po", i)] = fmt.Sprint(i)
		}
		u.Set("main", c2)
		checkFetch(t, m, "main", files{"de.po": "2", "cs.po": "2"})
		path, _ := m.Path()
		if packs, _ := filepath.Glob(filepath.Join(path, "objects/pack/*.pack")); len(packs) > 0 {
			t.Errorf("small fetches leave packs: %v", packs)
		}
		c3 := u.Push("C", big, c2)
		r := checkFetch(t, m, "main", big)
		if got := steps(t, r, c1, c3, poMask); len(got) != 2 {
			t.Errorf("steps %v", describe(got))
		}
		u.Set("main", c2) // force push back
		checkFetch(t, m, "main", files{"de.po": "2", "cs.po": "2"})

		cred := &remote.Credential{Host: host, Username: "anna", Password: "hunter2"}
		checkFetch(t, openMirror(t, remote.Repository{URL: srv.URL + "/up.git", Credential: cred, Branch: "main"}, opts), "main", files{"de.po": "2", "cs.po": "2"})
		t.Setenv("NETRC", netrc)
		checkFetch(t, openMirror(t, remote.Repository{URL: srv.URL + "/up.git"}, opts), "main", files{"de.po": "2", "cs.po": "2"})
		t.Setenv("NETRC", "/nonexistent")

		for _, c := range []struct {
			remote remote.Repository
			kind   error
		}{
			{remote.Repository{URL: srv.URL + "/up.git"}, remote.ErrAuth},
			{remote.Repository{URL: "http://anna:s3cret@" + host + "/up.git"}, remote.ErrAuth},
			{remote.Repository{URL: srv.URL + "/up.git", Credential: &remote.Credential{Host: "elsewhere", Username: "anna", Password: "hunter2"}}, remote.ErrAuth},
			{remote.Repository{URL: "http://anna:hunter2@" + host + "/absent.git"}, remote.ErrUnreachable},
			{remote.Repository{URL: "http://anna:hunter2@" + host + "/up.git", Branch: "gone"}, remote.ErrBranchMissing},
			{remote.Repository{URL: "http://anna:hunter2@" + host + "/empty.git"}, remote.ErrEmptyRepository},
			{remote.Repository{URL: "http://anna:hunter2@127.0.0.1:1/up.git"}, remote.ErrUnreachable},
			{remote.Repository{URL: "http://anna:hunter2@" + host + "/up.git", Credential: &remote.Credential{Username: "a\nb", Password: "s3cret"}}, nil},
		} {
			o := opts
			if c.kind == remote.ErrAuth {
				t.Setenv("HOME", t.TempDir())
			}
			_, err := openMirror(t, c.remote, o).Fetch(context.Background())
			if err == nil || c.kind != nil && !errors.Is(err, c.kind) {
				t.Errorf("%s: %v, want %v", c.remote, err, c.kind)
			}
			if s := fmt.Sprint(err, log.String()); strings.Contains(s, "hunter2") || strings.Contains(s, "s3cret") || strings.Contains(err.Error(), "\n") {
				t.Errorf("secret or line break in: %s", s)
			}
		}
		grep(t, m.dir, "hunter2")
	})
}

// grep fails if any file below dir holds the text.
func grep(t *testing.T, dir, text string) {
	t.Helper()
	gittest.Must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			t.Errorf("%s holds a secret", path)
		}
		return err
	}))
}

func TestBinaryArgumentsHoldNoSecrets(t *testing.T) {
	git := gittest.NeedGit(t)
	root, u := upstreamBelow(t)
	u.Push("A", files{"x": "1"})
	srv, _ := guarded(t, backend(t, root))
	dir := t.TempDir()
	spy, seen := filepath.Join(dir, "spy"), filepath.Join(dir, "seen")
	gittest.Must(t, os.WriteFile(spy, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" >>'"+seen+"'\nexec '"+git+"' \"$@\"\n"), 0o700))
	m := openMirror(t, remote.Repository{URL: "http://anna:hunter2@" + strings.TrimPrefix(srv.URL, "http://") + "/up.git"}, Options{Remote: remote.Options{Transport: "binary", GitBinary: spy}})
	checkFetch(t, m, "main", files{"x": "1"})
	data, err := os.ReadFile(seen)
	gittest.Must(t, err)
	if !bytes.Contains(data, []byte("ls-remote")) || bytes.Contains(data, []byte("hunter2")) || bytes.Contains(data, []byte("anna")) {
		t.Errorf("arguments:\n%s", data)
	}
}

// TestShortNames: a user whose name is part of every message.
func TestShortNames(t *testing.T) {
	root, u := upstreamBelow(t)
	u.Push("A", files{"x": "1"})
	transports(t, root, func(t *testing.T, transport string, h http.Handler) {
		srv, _ := guarded(t, h)
		t.Setenv("HOME", t.TempDir())
		for _, c := range []remote.Credential{{Username: "u", Password: "wrong-one"}, {Username: "u", Password: "e"}, {Username: "a", Password: "Authentication failed"}} {
			_, err := openMirror(t, remote.Repository{URL: srv.URL + "/up.git", Credential: &c}, Options{Remote: remote.Options{Transport: transport}}).Fetch(context.Background())
			if !errors.Is(err, remote.ErrAuth) || strings.Contains(err.Error(), c.Password) && len(c.Password) > 1 {
				t.Errorf("%s/%s: %v, want ErrAuth", c.Username, c.Password, err)
			}
			if len(c.Password) > 1 && !strings.Contains(err.Error(), srv.URL+"/up.git: access refused") {
				t.Errorf("garbled: %v", err)
			}
		}
	})
}

// sshServer serves root to the key, with host key host.
func sshServer(t *testing.T, root string, client ssh.PublicKey, host ssh.Signer) (address string) {
	return listenSSH(t, client, host, func(command string, ch ssh.Channel) error {
		path := strings.Trim(strings.TrimPrefix(command, "git-upload-pack "), "'")
		session, err := uploadPack(root, path)
		if err != nil {
			return err
		}
		refs, err := session.AdvertisedReferencesContext(context.Background())
		if err != nil {
			return err
		}
		_ = refs.Encode(ch)
		return answer(context.Background(), session, ch, ch)
	})
}

// listenSSH serves commands to the key client, with host key host.
func listenSSH(t *testing.T, client ssh.PublicKey, host ssh.Signer, run func(command string, ch ssh.Channel) error) (address string) {
	t.Helper()
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if !bytes.Equal(key.Marshal(), client.Marshal()) {
			return nil, errors.New("unknown key")
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	return listen(t, func(conn net.Conn) {
		_, channels, requests, err := ssh.NewServerConn(conn, config)
		if err != nil {
			return
		}
		go ssh.DiscardRequests(requests)
		for c := range channels {
			ch, reqs, err := c.Accept()
			if err != nil {
				return
			}
			for req := range reqs {
				_ = req.Reply(req.Type == "exec", nil)
				if req.Type != "exec" {
					continue
				}
				status := uint32(0)
				if err := run(string(req.Payload[4:]), ch); err != nil {
					status = 128
				}
				_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
				_ = ch.Close()
			}
		}
	})
}

// knownHosts writes a known_hosts file.
func knownHosts(t *testing.T, address string, key ssh.PublicKey) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "known")
	gittest.Must(t, os.WriteFile(file, []byte(knownhosts.Line([]string{address}, key)+"\n"), 0o600))
	return file
}

func newKey(t *testing.T, file string) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	gittest.Must(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	gittest.Must(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	gittest.Must(t, err)
	gittest.Must(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	return signer
}

func TestFetchSSH(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	u := gittest.NewUpstreamAt[object.Hash](t, filepath.Join(root, "up.git"))
	c1 := u.Push("A", files{"x": "1"})
	key, other := filepath.Join(dir, "key"), filepath.Join(dir, "other")
	client, host := newKey(t, key), newKey(t, filepath.Join(dir, "host"))
	stranger := newKey(t, other)
	address := sshServer(t, root, client.PublicKey(), host)
	good, wrong := knownHosts(t, address, host.PublicKey()), knownHosts(t, address, stranger.PublicKey())
	nobody := filepath.Join(dir, "nobody")
	gittest.Must(t, os.WriteFile(nobody, nil, 0o600))
	t.Setenv("SSH_AUTH_SOCK", "")

	url := "ssh://git@" + address + "/up.git"
	m := openMirror(t, remote.Repository{URL: url, Credential: &remote.Credential{SSHKey: key}}, Options{Remote: remote.Options{Transport: "builtin", KnownHosts: []string{good}}})
	checkFetch(t, m, "main", files{"x": "1"})
	u.Push("B", files{"x": "2"}, c1)
	checkFetch(t, m, "main", files{"x": "2"})

	for name, c := range map[string]struct{ key, known, says string }{
		"unknown host": {key, nobody, "known_hosts"},
		"changed host": {key, wrong, "known_hosts"},
		"wrong key":    {other, good, "ssh_key"},
		"no key file":  {filepath.Join(dir, "absent"), good, "ssh_key"},
		"no agent":     {"", good, "agent"},
	} {
		m := openMirror(t, remote.Repository{URL: url, Credential: &remote.Credential{SSHKey: c.key}}, Options{Remote: remote.Options{Transport: "builtin", KnownHosts: []string{c.known}}})
		if _, err := m.Fetch(context.Background()); !errors.Is(err, remote.ErrAuth) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want ErrAuth that says %q", name, err, c.says)
		}
	}
}

func TestFetchTimeout(t *testing.T) {
	address := listen(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }) // never answers
	for _, scheme := range []string{"http", "git"} {
		for _, transport := range []string{"builtin", "binary"} {
			if transport == "binary" {
				gittest.NeedGit(t)
			}
			m := openMirror(t, remote.Repository{URL: scheme + "://" + address + "/x"}, Options{Remote: remote.Options{Transport: transport}, Timeout: 200_000_000})
			if _, err := m.Fetch(context.Background()); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, remote.ErrUnreachable) {
				t.Errorf("%s, %s: %v", scheme, transport, err)
			}
		}
	}
}
