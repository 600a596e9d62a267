package remote

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// Repository says where a repository is and which branch of it is wanted.
type Repository struct {
	// URL is any address that git takes: a path (relative to the working
	// directory), file://, http(s)://, ssh://, git://, or user@host:path.
	// Credentials in it are used and never shown.
	URL string
	// Branch without "refs/heads/". Empty: the one that the remote's HEAD names, always.
	Branch string
	// Credential for the remote; nil: those of the URL, .netrc, then the ssh agent.
	Credential *Credential
}

// String returns the address without credentials.
func (r Repository) String() string { return repourl.Redact(r.URL) }

// GoString is like String: %#v must not show the credentials in the URL.
func (r Repository) GoString() string {
	return fmt.Sprintf("remote.Repository(%q, %q)", r.String(), r.Branch)
}

// LogValue returns String for slog.
func (r Repository) LogValue() slog.Value { return slog.StringValue(r.String()) }

// Credential is a user and the secrets for one host. It never prints its secrets.
type Credential struct {
	// Host the credential is for, "host" or "host:port"; empty: any. It is never
	// sent to another host, not even if the remote redirects there.
	Host string
	// Username; empty: the user in the URL, otherwise "git" for ssh.
	Username string
	// Password is the password or token for https, or the passphrase of the key for ssh.
	Password string
	// SSHKey is the path of a private key file; empty: the agent.
	SSHKey string
}

// String returns the host only: a user may be a token.
func (c Credential) String() string { return "credential for " + c.Host }

// GoString returns String, so that %#v shows no password.
func (c Credential) GoString() string { return c.String() }

// LogValue returns String for slog.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Validate refuses addresses and branches that could mean something else: options, transport
// helpers, control characters. The error is an [*Error] of the kind ErrUnsupported.
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
	if _, err := parseEndpoint(r.URL); err != nil {
		return bad(err.Error(), "use a path, file://, https://, ssh://, git:// or user@host:path")
	}
	return nil
}

// oneLine makes one line of at most 500 bytes from foreign text.
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

// BranchPattern selects branches by name; "*" is any text, also slashes; the zero value, none.
type BranchPattern struct{ text string }

// ParseBranchPattern reads a pattern such as "l10n/*"; "" is the zero value. A
// pattern that no name of a branch can match is an error.
func ParseBranchPattern(s string) (BranchPattern, error) {
	if s == "" {
		return BranchPattern{}, nil
	}
	if !object.ValidBranch(strings.ReplaceAll(s, "*", "x")) {
		return BranchPattern{}, fmt.Errorf("%q is no pattern of branch names; write it like l10n/*", s)
	}
	return BranchPattern{strings.TrimPrefix(s, "refs/heads/")}, nil
}

// String returns the pattern without "refs/heads/".
func (p BranchPattern) String() string { return p.text }

// IsZero reports whether the pattern selects nothing.
func (p BranchPattern) IsZero() bool { return p.text == "" }

// slashes makes of slashes what package path has no meaning for.
var slashes = strings.NewReplacer("/", "\x00")

// Match reports whether a branch, without "refs/heads/", is selected.
func (p BranchPattern) Match(branch string) bool {
	ok, err := path.Match(slashes.Replace(p.text), slashes.Replace(branch))
	return ok && err == nil && !p.IsZero()
}

// maxListed bounds the branches that a remote may list.
const maxListed = 100_000

// List reads the refs of the repository.
func (s *localSource) List(ctx context.Context, patterns []BranchPattern) ([]object.Head, error) {
	repo, err := s.repo()
	if err != nil {
		return nil, err
	}
	found := branchList{}
	err = object.Refs(repo.commonDir, "refs/heads/", func(branch string, h object.Hash) error {
		found.add(patterns, branch, h)
		return ctx.Err()
	})
	if err != nil && contextCause(err) == nil {
		err = s.fail(ErrUnreachable, "its branches cannot be listed: "+plainPathError(err), "repair the repository")
	}
	return found.heads(), err
}

// branchList is branches and their commits.
type branchList map[string]object.Hash

// add adds a branch if any of the patterns selects it.
func (l branchList) add(patterns []BranchPattern, branch string, h object.Hash) {
	if len(l) < maxListed && object.ValidBranch(branch) && slices.ContainsFunc(patterns, func(p BranchPattern) bool { return p.Match(branch) }) {
		l[branch] = h
	}
}

func (l branchList) heads() []object.Head {
	list := make([]object.Head, 0, len(l))
	for branch, h := range l {
		list = append(list, object.Head{Hash: h, Branch: branch})
	}
	return list
}

func (s *binarySource) List(ctx context.Context, patterns []BranchPattern) ([]object.Head, error) {
	var refs []string
	for _, p := range patterns {
		refs = append(refs, "refs/heads/"+p.String())
	}
	out, err := s.read(ctx, []string{"ls-remote", "--quiet", "--heads"}, refs...)
	if err != nil {
		return nil, err
	}
	if len(out) >= maxStdout {
		return nil, s.fail(object.ErrTooLarge, fmt.Sprintf("it lists more than %d MiB of branches", maxStdout>>20), "narrow suggestions.branches")
	}
	found := branchList{}
	for line := range strings.SplitSeq(out, "\n") {
		id, branch, ok := strings.Cut(line, "\trefs/heads/")
		if h, err := object.ParseHash(id); ok && err == nil {
			found.add(patterns, branch, h)
		}
	}
	return found.heads(), nil
}
