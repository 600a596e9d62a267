package object

import (
	"errors"
	"fmt"
	"io/fs"
)

// Errors that have one of these causes wrap it.
var (
	// ErrUnknownCommit: the directory does not have this commit, or no longer
	// has it after a force push and a repack. Callers take a snapshot instead.
	ErrUnknownCommit = errors.New("commit is not in the mirror")
	// ErrUnknownObject: the directory does not have this file or tree object. The
	// id is wrong, the source was partial, or the directory is damaged.
	ErrUnknownObject = errors.New("object is not in the mirror")
	// ErrCorrupt: an object cannot be decoded.
	ErrCorrupt = errors.New("object is damaged")
	// ErrTooLarge: an object or a tree is larger than the limit given.
	ErrTooLarge = errors.New("too large")
)

// Damaged reports whether an error says that objects on disk are missing or
// broken. An unknown commit counts too, though it may only be gone after a force
// push. A caller that finds a mirror damaged while reading calls Mirror.Rebuild
// once.
func Damaged(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnknownObject) || errors.Is(err, ErrUnknownCommit)
}

// objectError names the object in an error about it, and makes it one of the
// errors above. what is the kind of the object.
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
