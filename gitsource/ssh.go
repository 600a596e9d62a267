package gitsource

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"
)

// dialTimeout bounds connecting to a host.
const dialTimeout = 30 * time.Second

// sshAuth makes the login for an ssh remote: the key file if there is one,
// else the password, else the agent. Host keys are always checked.
func (s *wireSource) sshAuth(e endpoint) (auth transport.AuthMethod, finish func(), err error) {
	user := s.access.user
	if user == "" {
		user = "git"
	}
	hosts, err := gitssh.NewKnownHostsDb(s.knownHosts...)
	if err != nil {
		return nil, nil, s.fail(ErrAuth, "known_hosts cannot be read: "+s.safe(err), "add the host's verified key to ~/.ssh/known_hosts")
	}
	check := gitssh.HostKeyCallbackHelper{HostKeyCallback: hosts.HostKeyCallback()}
	login, finish, err := s.login(user, check)
	if err != nil {
		return nil, nil, err
	}
	port := e.port()
	if port == "" {
		port = "22"
	}
	return &checkedAuth{AuthMethod: login, algorithms: hosts.HostKeyAlgorithms(net.JoinHostPort(e.hostname(), port))}, finish, nil
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

// checkedAuth adds a timeout to a login, and the kinds of host keys that
// known_hosts has for the host: with another the check would fail.
type checkedAuth struct {
	gitssh.AuthMethod
	algorithms []string
}

// ClientConfig is what the ssh client works with.
func (a *checkedAuth) ClientConfig() (*ssh.ClientConfig, error) {
	config, err := a.AuthMethod.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("ssh login: %w", err)
	}
	config.HostKeyAlgorithms = a.algorithms
	config.Timeout = dialTimeout
	return config, nil
}

func isHostKeyError(err error) bool {
	var key *knownhosts.KeyError
	var revoked *knownhosts.RevokedError
	return errors.As(err, &key) || errors.As(err, &revoked)
}

// isSSHAuthError: x/crypto/ssh has no type for a login that was refused.
func isSSHAuthError(err error) bool {
	return strings.Contains(err.Error(), "ssh: unable to authenticate")
}
