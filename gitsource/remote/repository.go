package remote

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode"

	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// Remote says where a repository is and which branch of it is wanted.
type Repository struct {
	// URL is any address that git takes: a path (relative ones are relative to
	// the working directory), file://, http(s)://, ssh://, git://, or
	// user@host:path. Credentials inside it are used, and shown nowhere.
	URL string
	// Branch without "refs/heads/". Empty: the remote's HEAD, followed when it
	// changes.
	Branch string
	// Credential for the remote; nil: those in the URL, then .netrc, then the
	// ssh agent.
	Credential *Credential
}

// String is the address without credentials.
func (r Repository) String() string { return repourl.Redact(r.URL) }

// GoString is String; %#v must not show what the URL holds.
func (r Repository) GoString() string {
	return fmt.Sprintf("remote.Repository(%q, %q)", r.String(), r.Branch)
}

// LogValue is String, for slog.
func (r Repository) LogValue() slog.Value { return slog.StringValue(r.String()) }

// Credential gives access to one host. It never prints its secrets.
type Credential struct {
	// Host the credential is for, "host" or "host:port"; empty: any. It is not
	// sent to another host, also when the remote redirects there.
	Host string
	// Username; empty: the URL's, else "git" with ssh.
	Username string
	// Password or token for https; passphrase of the key for ssh.
	Password string
	// SSHKey is the path of a private key file; empty: the agent.
	SSHKey string
}

// String names host and user only.
func (c Credential) String() string { return "credential for " + c.Username + "@" + c.Host }

// GoString is String, so that %#v shows no password.
func (c Credential) GoString() string { return c.String() }

// LogValue is String, for slog.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Validate refuses addresses and branches that could mean something else to a
// program they are handed to: options, transport helpers, control characters.
func (r Repository) Validate() error {
	bad := func(detail, remedy string) error {
		return &Error{URL: repourl.Redact(r.URL), Kind: ErrUnsupported, Detail: detail, Remedy: remedy}
	}
	if r.URL == "" {
		return bad("no repository address", "set repo: to a URL or a path")
	}
	if strings.HasPrefix(r.URL, "-") || strings.ContainsFunc(r.URL, unicode.IsControl) {
		return bad("address begins with \"-\" or holds control characters", "check repo:")
	}
	if r.Branch != "" && !object.ValidBranch(r.Branch) {
		return bad(fmt.Sprintf("branch name %q is not one that git allows", r.Branch), "check branch:")
	}
	if _, ok := repourl.IsLocal(r.URL); ok {
		return nil
	}
	_, err := parseEndpoint(r.URL)
	if err != nil {
		return bad(err.Error(), "use a path, file://, https://, ssh://, git:// or user@host:path")
	}
	return nil
}

// oneLine makes foreign text fit for a one-line message.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	const most = 500
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strings.TrimSpace(s)
}
