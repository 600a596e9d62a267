package gitsource

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// dialTimeout bounds connecting to a host.
const dialTimeout = 30 * time.Second

// sshAuth makes the login for an ssh remote: the key file if there is one,
// else the password, else the agent. Host keys are always checked.
func (s *wireSource) sshAuth(e endpoint) (transport.AuthMethod, error) {
	user := s.access.user
	if user == "" {
		user = "git"
	}
	var auth gitssh.AuthMethod
	var err error
	switch {
	case s.access.sshKey != "":
		auth, err = gitssh.NewPublicKeysFromFile(user, s.access.sshKey, s.access.password)
		if err != nil {
			return nil, s.fail(ErrAuth, "the private key cannot be used: "+s.safe(err), "check ssh_key (and its passphrase) in credentials:")
		}
	case s.access.password != "":
		auth = &gitssh.Password{User: user, Password: s.access.password}
	default:
		auth, err = gitssh.NewSSHAgentAuth(user)
		if err != nil {
			return nil, s.fail(ErrAuth, "no key file and no ssh agent", "set ssh_key in credentials:, or start an agent")
		}
	}
	hosts, err := gitssh.NewKnownHostsDb(s.knownHosts...)
	if err != nil {
		return nil, s.fail(ErrAuth, "known_hosts cannot be read: "+s.safe(err), "add the host's verified key to ~/.ssh/known_hosts")
	}
	port := e.port()
	if port == "" {
		port = "22"
	}
	return &checkedAuth{
		AuthMethod: auth, check: hosts.HostKeyCallback(),
		algorithms: hosts.HostKeyAlgorithms(e.hostname() + ":" + port),
	}, nil
}

// checkedAuth adds the check of host keys and a timeout to a login.
type checkedAuth struct {
	gitssh.AuthMethod
	check      ssh.HostKeyCallback
	algorithms []string
}

// ClientConfig is what the ssh client works with.
func (a *checkedAuth) ClientConfig() (*ssh.ClientConfig, error) {
	config, err := a.AuthMethod.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("ssh login: %w", err)
	}
	config.HostKeyCallback, config.HostKeyAlgorithms = a.check, a.algorithms
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
