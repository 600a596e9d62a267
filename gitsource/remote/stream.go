package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/kevinburke/ssh_config"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/net/proxy"
)

// stream answers the requests of go-git's client for HTTP over a connection that stays open:
// ssh or git's own protocol (gitprotocol-pack(5)), with the same messages. go-git's own clients
// for these keep any list of refs in memory, and cannot be stopped while they connect.
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

// RoundTrip connects for the list of refs of a service, and sends the request that follows.
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

// connected takes a connection, whose reads and writes end, as it is closed, with ctx.
func (t *stream) connected(ctx context.Context, conn net.Conn) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	t.conn = conn
	t.hang = append(t.hang, func() { stop(); _ = conn.Close() })
}

// openDaemon connects to a git daemon (git-daemon(1)).
func (t *stream) openDaemon(ctx context.Context, service string) error {
	port := cmp.Or(t.e.port(), "9418")
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

// close ends the conversation. If no pack was asked for, the remote expects a flush packet.
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

// explain replaces an error about an answer cut short by the remote's own message, if any.
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

// dialTimeout bounds connecting to a host.
const dialTimeout = 30 * time.Second

// openSSH starts a service on a host. Like ssh, it reads HostName and Port
// from ~/.ssh/config. It uses the proxy in ALL_PROXY.
func (t *stream) openSSH(ctx context.Context, service string) error {
	address := sshAddress(t.e)
	config, finish, err := t.s.sshConfig(address)
	if err != nil {
		return err
	}
	t.hang = append(t.hang, finish)
	dialing, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := proxy.Dial(dialing, "tcp", address)
	if err != nil {
		return err
	}
	t.connected(ctx, conn)
	mux, channels, requests, err := ssh.NewClientConn(conn, address, config)
	if err != nil {
		return err
	}
	client := ssh.NewClient(mux, channels, requests)
	t.hang = append(t.hang, func() { _ = client.Close(); _ = client.Wait() })
	command, err := client.NewSession()
	if err != nil {
		return fmt.Errorf("ssh session: %w", err)
	}
	t.hang = append(t.hang, func() { _ = command.Close() })
	stderr := &capped{max: maxStderr}
	command.Stderr = stderr
	var in, out error
	t.in, in = command.StdinPipe()
	t.out, out = command.StdoutPipe()
	t.said = func() string { _ = command.Wait(); return oneLine(stderr.String()) }
	if err := cmp.Or(in, out, command.Start(service+" "+shellQuote(homePath(t.e.path)))); err != nil {
		return fmt.Errorf("ssh session: %w", err)
	}
	return nil
}

// sshAddress returns the host and port to connect to: those of the address, or
// those in ~/.ssh/config for its host. A port in the address overrides.
func sshAddress(e endpoint) string {
	host := e.hostname()
	config := &ssh_config.UserSettings{IgnoreErrors: true}
	port := cmp.Or(e.port(), config.Get(host, "Port"), "22")
	if name := config.Get(host, "HostName"); name != "" {
		host = strings.ReplaceAll(name, "%h", host)
	}
	return net.JoinHostPort(host, port)
}

// sshConfig makes the login for an ssh remote: with the key file if there is one, otherwise
// with the password, otherwise with the agent. Host keys are always checked. Only the types of
// keys that known_hosts has for the host are asked for: the check would fail for another.
func (s *wireSource) sshConfig(address string) (config *ssh.ClientConfig, finish func(), err error) {
	user := cmp.Or(s.access.Username, "git")
	hosts, err := gitssh.NewKnownHostsDb(s.KnownHosts...)
	if err != nil {
		return nil, nil, s.fail(ErrAuth, "known_hosts cannot be read: "+s.safe(err), "add the host's verified key to ~/.ssh/known_hosts")
	}
	login, finish, err := s.login(user, gitssh.HostKeyCallbackHelper{HostKeyCallback: hosts.HostKeyCallback()})
	if err != nil {
		return nil, nil, err
	}
	config, err = login.ClientConfig()
	if err != nil {
		finish()
		return nil, nil, fmt.Errorf("ssh login: %w", err)
	}
	config.HostKeyAlgorithms = hosts.HostKeyAlgorithms(address)
	return config, finish, nil
}

func (s *wireSource) login(user string, check gitssh.HostKeyCallbackHelper) (auth gitssh.AuthMethod, finish func(), err error) {
	none := func() {}
	switch {
	case s.access.SSHKey != "":
		auth, err := gitssh.NewPublicKeysFromFile(user, s.access.SSHKey, s.access.Password)
		if err != nil {
			return nil, nil, s.fail(ErrAuth, "the private key cannot be used: "+s.safe(err), "check ssh_key (and its passphrase) in credentials:")
		}
		auth.HostKeyCallbackHelper = check
		return auth, none, nil
	case s.access.Password != "":
		return &gitssh.Password{User: user, Password: s.access.Password, HostKeyCallbackHelper: check}, none, nil
	}
	// go-git's own agent login never closes its connection.
	conn, err := net.DialTimeout("unix", os.Getenv("SSH_AUTH_SOCK"), dialTimeout)
	if err != nil {
		return nil, nil, s.fail(ErrAuth, "no key file and no ssh agent", "set ssh_key in credentials:, or start an agent")
	}
	return &gitssh.PublicKeysCallback{User: user, Callback: agent.NewClient(conn).Signers, HostKeyCallbackHelper: check},
		func() { _ = conn.Close() }, nil
}
