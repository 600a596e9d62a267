package object

import (
	"errors"
	"fmt"
	"io/fs"
)

// Errors of objects. Errors of this package that have one of these causes wrap
// it.
var (
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
)

// Damaged reports whether an error speaks of a git directory on disk: objects
// that are missing or broken. A commit that is unknown counts too, though it may
// only be gone after a force push. A caller that meets a damaged mirror while
// reading calls Mirror.Rebuild once.
func Damaged(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnknownObject) || errors.Is(err, ErrUnknownCommit)
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
	return fmt.Errorf("%s %s: %w: %v", what, h, ErrCorrupt, err)
}
