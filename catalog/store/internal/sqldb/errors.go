package sqldb

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/repoglot/repoglot/catalog"
)

// The errors of package store, where their comments are.
var (
	ErrUnavailable = errors.New("the database is not available")
	ErrAgain       = errors.New("the same operation succeeds now")
	ErrWriting     = errors.New("another process is writing")
	ErrFull        = errors.New("the disk of the database is full: free some space; what waits goes on by itself")
	ErrTooMuch     = errors.New("more bytes than the step may write")
	ErrLocked      = errors.New("the data directory is in use")
)

// unavailable is an ErrUnavailable with its own text.
type unavailable struct {
	error
	kind error // ErrAgain, ErrWriting or ErrFull, which it is, too, or ErrUnavailable
}

func (u unavailable) Is(target error) bool { return target == ErrUnavailable || target == u.kind }

// reported is an error that fail has returned. fail does not wrap it again.
type reported struct{ error }

func (o reported) Unwrap() error { return o.error }

// Reported marks an error that is fit to leave the package.
func Reported(err error) error { return reported{err} }

// UnwrapReported returns the error within reported.
func UnwrapReported(err error) error {
	if o, ok := err.(reported); ok {
		return o.error
	}
	return err
}

// errClosed is what a pool answers after Close.
var errClosed = errors.New("closed")

// NotFound is an error of catalog.ErrNotFound.
func NotFound(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), catalog.ErrNotFound)
}

// Invalid is an error of catalog.ErrInvalid.
func Invalid(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), catalog.ErrInvalid)
}

// Conflict is an error of catalog.ErrConflict.
func Conflict(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), catalog.ErrConflict)
}

// Refusal is ErrInvalid with a complete text, to which the sentinel's text adds
// nothing.
type Refusal string

func (r Refusal) Error() string { return string(r) }
func (Refusal) Unwrap() error   { return catalog.ErrInvalid }

// Fail makes an error of any operation fit to leave the package: sentinels of
// catalog and errors of the context can still be recognised, an error of the
// driver is replaced by its description, and all begin with the operation.
func (db *DB) Fail(ctx context.Context, op string, err error) error {
	_, already := errors.AsType[reported](err)
	switch {
	case err == nil || already:
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return reported{fmt.Errorf("store: %s: %w", op, err)}
	case ctx.Err() != nil: // the driver says "interrupted"
		return reported{fmt.Errorf("store: %s: %w", op, ctx.Err())}
	case errors.Is(err, errClosed):
		return reported{fmt.Errorf("store: %s: the database %s is closed", op, db.Name)}
	}
	if text, sentinel, found := db.Engine.Explain(err); found {
		said := fmt.Errorf("store: %s: database %s: %s", op, db.Name, text)
		switch sentinel {
		case nil:
			return reported{said}
		case ErrUnavailable, ErrAgain, ErrWriting, ErrFull:
			return reported{unavailable{said, sentinel}}
		}
		return reported{fmt.Errorf("%w: %w", said, sentinel)}
	}
	return reported{fmt.Errorf("store: %s: %w", op, err)}
}

// locked is an ErrLocked that names the process.
type locked struct{ error }

func (l locked) Is(target error) bool { return target == ErrLocked }

// inUse and lockError are the one-line errors of Lock.
func inUse(dir, holder string) error {
	return locked{fmt.Errorf("the data directory %s is in use by %s: stop it, or give this one another data_dir (--data-dir)", dir, holder)}
}

func lockError(dir string, err error) error {
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("the data directory %s cannot be written: give this user write access to it, or change data_dir (--data-dir)", dir)
	}
	return fmt.Errorf("the data directory %s cannot be locked: %w: check it, or change data_dir (--data-dir)", dir, err)
}
