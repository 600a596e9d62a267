package remote

import (
	"context"
	"errors"
)

// What can go wrong with a remote: the kinds of a Error.
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
)

// Error is a failure that concerns one remote. Its message is one line
// and never holds credentials.
type Error struct {
	// URL of the remote as [Redact] gives it.
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

// Unwrap gives the kind and the cause to errors.Is.
func (e *Error) Unwrap() []error {
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
