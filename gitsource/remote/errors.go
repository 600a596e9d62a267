package remote

import (
	"context"
	"errors"
)

// The kinds of an [Error], which wraps its kind.
var (
	// ErrUnreachable: the repository does not answer, or does not exist.
	ErrUnreachable = errors.New("repository cannot be reached")
	// ErrAuth: the remote refuses the credentials or asks for some, or its host key
	// is not known.
	ErrAuth = errors.New("access refused")
	// ErrBranchMissing: the repository has no such branch. The mirror keeps
	// the last state.
	ErrBranchMissing = errors.New("no such branch")
	// ErrEmptyRepository: the repository has no commit yet.
	ErrEmptyRepository = errors.New("repository has no commit")
	// ErrUnsupported: a kind of repository or address that is not supported, such
	// as SHA-256 object ids or a transport helper.
	ErrUnsupported = errors.New("not supported")
)

// Error is a failure of one remote. Its message is one line and never has
// credentials.
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
