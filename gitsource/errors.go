package gitsource

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// What can go wrong with a repository. Every error of this package that has
// one of these causes wraps it; the message around it names the repository
// (without credentials) and what to do.
var (
	// ErrUnreachable: the repository does not answer, or is not there.
	ErrUnreachable = errors.New("repository cannot be reached")
	// ErrAuth: the remote refuses the credentials, or wants some; or its host
	// key is not known.
	ErrAuth = errors.New("access refused")
	// ErrBranchMissing: the repository has no such branch. The mirror keeps
	// the last state.
	ErrBranchMissing = errors.New("no such branch")
	// ErrEmptyRepository: the repository has no commit yet.
	ErrEmptyRepository = errors.New("repository has no commit")
	// ErrUnsupported: a kind of repository or address that is not served,
	// such as SHA-256 object ids or a transport helper.
	ErrUnsupported = errors.New("not supported")
	// ErrNotFetched: the mirror has no commit yet; Fetch has to succeed once.
	ErrNotFetched = errors.New("mirror was not fetched yet")
	// ErrUnknownCommit: the mirror does not have this commit (any more, after
	// a force push and maintenance). Callers take a snapshot instead.
	ErrUnknownCommit = errors.New("commit is not in the mirror")
	// ErrUnknownObject: the mirror does not have this file or directory
	// object: a wrong id, a partial source, or damage.
	ErrUnknownObject = errors.New("object is not in the mirror")
	// ErrCorrupt: an object of the mirror cannot be decoded.
	ErrCorrupt = errors.New("object is damaged")
	// ErrTooLarge: an object or a tree is larger than the limit given.
	ErrTooLarge = errors.New("too large")
	// ErrInvalidMask: a filemask that cannot be understood.
	ErrInvalidMask = errors.New("invalid filemask")
	// ErrUnsafePath: a path that is refused, see [CheckPath].
	ErrUnsafePath = errors.New("unsafe path")
	// ErrWatchLimit: the system has no more watches (ENOSPC) or descriptors
	// (EMFILE); poll this repository instead.
	ErrWatchLimit = errors.New("no more file watches")
)

// RemoteError is a failure that concerns one remote. Its message is one line
// and never holds credentials.
type RemoteError struct {
	// URL of the remote as [RedactURL] gives it.
	URL string
	// Kind is one of the sentinels of this package.
	Kind error
	// Detail says what happened, redacted; may be empty.
	Detail string
	// Remedy says what a maintainer can do; may be empty.
	Remedy string
	// Cause is a context error if there was one, else nil. Errors of transports
	// are not kept: their text may repeat credentials.
	Cause error
}

// Error is "<url>: <kind>: <detail> (<remedy>)".
func (e *RemoteError) Error() string {
	s := e.URL + ": " + e.Kind.Error()
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Remedy != "" {
		s += " (" + e.Remedy + ")"
	}
	return s
}

// Unwrap gives the kind and the cause to errors.Is.
func (e *RemoteError) Unwrap() []error {
	if e.Cause != nil {
		return []error{e.Kind, e.Cause}
	}
	return []error{e.Kind}
}

// contextCause is the context error inside err, if any.
func contextCause(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	}
	return nil
}

// objectError turns a storage error about object h into ours.
func objectError(what string, h Hash, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnknownObject), errors.Is(err, ErrUnknownCommit),
		errors.Is(err, ErrCorrupt), errors.Is(err, ErrTooLarge):
		return fmt.Errorf("%s %s: %w", what, h, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s %s: %w", what, h, ErrUnknownObject)
	}
	return fmt.Errorf("%s %s: %w: %s", what, h, ErrCorrupt, oneLine(err.Error()))
}
