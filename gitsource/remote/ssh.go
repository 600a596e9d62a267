package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/kevinburke/ssh_config"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"
	"golang.org/x/net/proxy"
)

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
	host, port := e.hostname(), e.port()
	config := &ssh_config.UserSettings{IgnoreErrors: true}
	if port == "" {
		port = config.Get(host, "Port")
	}
	if port == "" {
		port = "22"
	}
	if name := config.Get(host, "HostName"); name != "" {
		host = strings.ReplaceAll(name, "%h", host)
	}
	return net.JoinHostPort(host, port)
}

// sshConfig makes the login for an ssh remote: with the key file if there is one,
// otherwise with the password, otherwise with the agent. Host keys are always
// checked. Only the types of keys that known_hosts has for the host are asked for:
// the check would fail for another.
func (s *wireSource) sshConfig(address string) (config *ssh.ClientConfig, finish func(), err error) {
	user := s.access.user
	if user == "" {
		user = "git"
	}
	hosts, err := gitssh.NewKnownHostsDb(s.knownHosts...)
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
	case s.access.sshKey != "":
		auth, err := gitssh.NewPublicKeysFromFile(user, s.access.sshKey, s.access.password)
		if err != nil {
			return nil, nil, s.fail(ErrAuth, "the private key cannot be used: "+s.safe(err), "check ssh_key (and its passphrase) in credentials:")
		}
		auth.HostKeyCallbackHelper = check
		return auth, none, nil
	case s.access.password != "":
		return &gitssh.Password{User: user, Password: s.access.password, HostKeyCallbackHelper: check}, none, nil
	}
	// go-git's own agent login never closes its connection.
	conn, err := net.DialTimeout("unix", os.Getenv("SSH_AUTH_SOCK"), dialTimeout)
	if err != nil {
		return nil, nil, s.fail(ErrAuth, "no key file and no ssh agent", "set ssh_key in credentials:, or start an agent")
	}
	return &gitssh.PublicKeysCallback{User: user, Callback: agent.NewClient(conn).Signers, HostKeyCallbackHelper: check},
		func() { _ = conn.Close() }, nil
}

func isHostKeyError(err error) bool {
	var key *knownhosts.KeyError
	var revoked *knownhosts.RevokedError
	return errors.As(err, &key) || errors.As(err, &revoked)
}

// isSSHAuthError reports whether a login was refused; x/crypto/ssh has no type for
// this error.
func isSSHAuthError(err error) bool {
	return strings.Contains(err.Error(), "ssh: unable to authenticate")
}
