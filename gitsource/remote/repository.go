package remote

import (
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/repoglot/repoglot/gitsource/object"
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
func (r Repository) String() string { return Redact(r.URL) }

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

// Redact is the address without user and password (ssh keeps the user),
// query and fragment, whatever shape it has, with control characters replaced by
// U+FFFD. A path is returned as it is. Where it is not clear whether something
// is a secret, it is hidden.
func Redact(address string) string {
	address = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, address)
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return redactSCP(address)
	}
	if strings.EqualFold(scheme, "file") {
		return address
	}
	rest = cutQuery(rest)
	end := authorityEnd(rest)
	at := strings.LastIndexByte(rest[:end], '@')
	if at < 0 {
		return scheme + "://" + rest
	}
	user, _, _ := strings.Cut(rest[:at], ":")
	rest = rest[at+1:]
	if user != "" && strings.Contains(strings.ToLower(scheme), "ssh") {
		return scheme + "://" + user + "@" + rest
	}
	return scheme + "://" + rest
}

// cutQuery drops "?…" and "#…"; a password may hold one, so what stands before
// an "@" that still belongs to the authority does not count.
func cutQuery(rest string) string {
	start := strings.LastIndexByte(rest[:authorityEnd(rest)], '@') + 1
	if q := strings.IndexAny(rest[start:], "?#"); q >= 0 {
		return rest[:start+q]
	}
	return rest
}

// authorityEnd is where "user:password@host:port" ends. A password with an
// unescaped slash is not valid, but must not be shown either: when the part
// before the slash has a colon and no "@", it reaches to the last "@", unless
// that "@" begins a part of a path after a sane port (host:8443/@scope).
func authorityEnd(rest string) int {
	end := strings.IndexByte(rest, '/')
	if end < 0 {
		return len(rest)
	}
	if strings.IndexByte(rest[:end], '@') >= 0 {
		return end
	}
	last := strings.LastIndexByte(rest, '@')
	_, port, ok := strings.Cut(rest[:end], ":")
	if last < 0 || !ok || strings.HasPrefix(rest, "[") {
		return end
	}
	if strings.Trim(port, "0123456789") == "" && rest[last-1] == '/' {
		return end
	}
	return last + 1
}

// redactSCP drops a password that somebody put into user:password@host:path,
// which git does not take, but which may stand in a configuration.
func redactSCP(address string) string {
	at := strings.IndexByte(address, '@')
	if at < 0 || strings.ContainsAny(address[:at], `/\`) {
		return address
	}
	user, _, ok := strings.Cut(address[:at], ":")
	if !ok {
		return address
	}
	return user + address[at:]
}

// IsLocal reports whether address is a path or a file:// URL, and gives the
// path as it is on disk (relative ones as given). The rule is git's: a colon
// before the first slash makes it host:path.
func IsLocal(address string) (path string, ok bool) {
	if address == "" || strings.Contains(address, "::") && !strings.ContainsAny(address[:strings.Index(address, "::")], `/.`) {
		return "", false
	}
	if scheme, rest, isURL := strings.Cut(address, "://"); isURL && !strings.ContainsRune(scheme, '/') {
		if !strings.EqualFold(scheme, "file") {
			return "", false
		}
		rest = strings.TrimPrefix(rest, "localhost")
		if !strings.HasPrefix(rest, "/") {
			return "", false
		}
		if decoded, err := url.PathUnescape(rest); err == nil {
			rest = decoded
		}
		return filepath.FromSlash(rest), true
	}
	colon := strings.IndexByte(address, ':')
	if colon >= 0 && strings.IndexByte(address[:colon], '/') < 0 && filepath.VolumeName(address) == "" {
		return "", false
	}
	return address, true
}

// Validate refuses addresses and branches that could mean something else to a
// program they are handed to: options, transport helpers, control characters.
func (r Repository) Validate() error {
	bad := func(detail, remedy string) error {
		return &Error{URL: Redact(r.URL), Kind: ErrUnsupported, Detail: detail, Remedy: remedy}
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
	if _, ok := IsLocal(r.URL); ok {
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
