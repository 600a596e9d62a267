package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// Options say how remotes are reached; the zero value is usable.
type Options struct {
	// Transport says who transports packs: "builtin" (go-git), "binary" (the git program),
	// or "auto" and "" (the program, if there is one, for network remotes). Local
	// repositories are copied as files, unless it is "binary" or they have a reftable.
	Transport string
	// GitBinary is the name or path of the git program; empty: "git".
	GitBinary string
	// KnownHosts are the files with ssh host keys; empty: the files that ssh
	// reads (~/.ssh/known_hosts, /etc/ssh/ssh_known_hosts).
	KnownHosts []string
	// MaxPack bounds one pack that a remote sends, in bytes; 0: 16 GiB.
	MaxPack int64
	// MaxMirror bounds the objects of a git directory written to, in bytes; 0: unbounded.
	MaxMirror int64
	// Trust says which local repositories are read.
	Trust Trust
	// Silence is how long a remote may send nothing; 0: a minute. git counts whole seconds.
	Silence time.Duration
	// Fresh, if set, gets files that a copy from a local repository has inflated.
	Fresh *object.Fresh
}

// The values of Options.Transport.
const (
	transportAuto    = "auto"
	transportBuiltin = "builtin"
	transportBinary  = "binary"
)

// defaultSilence is how long a remote may send nothing.
const defaultSilence = time.Minute

// Validate refuses a transport that does not exist; the error wraps ErrUnsupported.
func (o Options) Validate() error {
	switch o.Transport {
	case "", transportAuto, transportBuiltin, transportBinary:
		return nil
	}
	return fmt.Errorf("git transport %q: %w; want auto, builtin or binary", o.Transport, ErrUnsupported)
}

// Git finds the git program; false if it is not installed or Transport is "builtin".
func (o Options) Git() (Git, bool) {
	if o.Transport == transportBuiltin {
		return Git{}, false
	}
	path, err := exec.LookPath(cmp.Or(o.GitBinary, "git"))
	return Git{path: path}, err == nil
}

// Client says who fetches and pushes: the path of the git program, or "go-git".
func (o Options) Client() string {
	if git, ok := o.Git(); ok {
		return git.path
	}
	return "go-git"
}

// Source copies from one repository. Call one method at a time. An error about the
// repository is an [*Error]. An error of Transfer about the git directory that is
// written to satisfies object.Damaged or is an error of the disk.
type Source interface {
	// Tip asks for the branch's commit, without transferring objects.
	Tip(ctx context.Context) (object.Head, error)
	// List asks for branches that any pattern selects, in any order, up to 100,000.
	List(ctx context.Context, patterns []BranchPattern) ([]object.Head, error)
	// Transfer copies tip and its history to the git directory gitDir, which has the
	// histories of have. It moves no ref. A tip without a branch is asked for by its id.
	Transfer(ctx context.Context, gitDir string, tip object.Head, have []object.Hash) error
}

// NewSource chooses how to reach a repository, and reads credentials, without the network.
func NewSource(r Repository, o Options) Source {
	path, local := repourl.IsLocal(r.URL)
	git, have := o.Git()
	local = local && o.Transport != transportBinary
	if local && have {
		local = !o.Trust.reftable(path)
	}
	c := newClient(r, o)
	if local {
		return &localSource{client: c, path: path}
	}
	if o.Transport == transportBinary || have && c.binaryFits() {
		return &binarySource{client: c, git: git}
	}
	return &wireSource{client: c}
}

// client is the fields that all sources share.
type client struct {
	Options
	remote Repository
	access Credential
	limits object.Limits
}

func newClient(r Repository, o Options) client {
	o.Silence = cmp.Or(o.Silence, defaultSilence)
	c := client{Options: o, remote: r, access: r.access(), limits: object.NewLimits(o.MaxPack)}
	c.limits.Total = o.MaxMirror
	return c
}

// fail makes an error about this remote.
func (c *client) fail(kind error, detail, remedy string) *Error {
	return &Error{URL: c.remote.String(), Kind: kind, Detail: detail, Remedy: remedy}
}

// timedOut is fail for a context that ended.
func (c *client) timedOut(cause error) error {
	e := c.fail(ErrUnreachable, "no answer in time", "check address and network")
	e.Cause = cause
	return e
}

// binaryFits reports whether git can open this remote without a prompt. For ssh it
// needs the ssh program, and no way exists to pass a passphrase or password to it.
func (c *client) binaryFits() bool {
	e, err := parseEndpoint(c.remote.URL)
	switch {
	case err == nil && e.scheme == "git":
		return false // nothing ends a git that waits for a silent daemon
	case err == nil && e.query != "":
		return false // it would be among git's arguments
	case err != nil || e.scheme != "ssh":
		return true
	}
	_, err = exec.LookPath("ssh")
	return err == nil && c.access.Password == ""
}

// The kinds of an [Error], which wraps its kind.
var (
	// ErrUnreachable: the repository does not answer, or does not exist.
	ErrUnreachable = errors.New("repository cannot be reached")
	// ErrAuth: the remote refuses or wants credentials, or its host key is not known.
	ErrAuth = errors.New("access refused")
	// ErrBranchMissing: the repository has no such branch. The mirror keeps the last state.
	ErrBranchMissing = errors.New("no such branch")
	// ErrEmptyRepository: the repository has no commit yet.
	ErrEmptyRepository = errors.New("repository has no commit")
	// ErrUnsupported: a kind of repository or address that is not supported, such
	// as SHA-256 object ids or a transport helper.
	ErrUnsupported = errors.New("not supported")
)

// Error is a failure of one remote. Its message is one line and never has credentials.
type Error struct {
	// URL of the remote without its secrets.
	URL string
	// Kind is one of the kinds above, or object.ErrTooLarge.
	Kind error
	// Detail says what happened, redacted; may be empty.
	Detail string
	// Remedy says what a maintainer can do; may be empty.
	Remedy string
	// Cause is a context error if there was one, otherwise nil. Errors of
	// transports are not kept: their text may have credentials.
	Cause error
}

// Error returns "<url>: <kind>: <detail> (<remedy>)".
func (e *Error) Error() string {
	s := e.URL + ": " + e.Kind.Error()
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Remedy != "" {
		s += " (" + e.Remedy + ")"
	}
	return s
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause != nil {
		return []error{e.Kind, e.Cause}
	}
	return []error{e.Kind}
}

// contextCause returns the context error in err, if any.
func contextCause(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	}
	return nil
}
