package object

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// Limits bound the pack that a remote sends. Make them with [NewLimits].
type Limits struct {
	// Bytes of the pack on disk.
	Bytes int64
	// Objects in the pack; each takes 400 bytes of memory while go-git makes its index.
	Objects int
	// Whole is the number of bytes of an object: it must be in memory whole.
	Whole int64
	// Total bounds the bytes of all objects of the git directory that the pack comes
	// into; 0: nothing does.
	Total int64

	total bool // Total is what bounds Bytes
}

// Within returns the limits for a pack that comes into a git directory: Total
// includes what the directory has already.
func (l Limits) Within(gitDir string) Limits {
	if l.Total <= 0 {
		return l
	}
	if left := max(0, l.Total-Size(gitDir)); left < l.Bytes {
		l.Bytes, l.total = left, true
	}
	return l
}

// Size is the number of bytes of the objects in a git directory.
func Size(gitDir string) (sum int64) {
	objects := filepath.Join(gitDir, "objects")
	dirs, _ := os.ReadDir(objects) // an error means that there is nothing to count
	for _, d := range dirs {
		files, _ := os.ReadDir(filepath.Join(objects, d.Name()))
		for _, f := range files {
			if info, err := f.Info(); err == nil && info.Mode().IsRegular() {
				sum += info.Size()
			}
		}
	}
	return sum
}

const (
	// defaultMaxPack: the largest public repositories with translations have
	// packs of some 5 GiB.
	defaultMaxPack = 16 << 30
	// maxPackObjects: Linux has 10 million, and takes git.
	maxPackObjects = 2_000_000
	// maxWhole: GitHub takes no files above 100 MiB.
	maxWhole = 128 << 20
)

// LimitError says which limit a remote exceeds: "it sends more than …".
type LimitError string

// Error names the limit.
func (e LimitError) Error() string { return string(e) }

// TooManyBytes is the error for a pack of more than l.Bytes.
func (l Limits) TooManyBytes() error {
	if l.total {
		return LimitError(fmt.Sprintf("its mirror would have more than %d MiB, which quotas.mirror allows", l.Total>>20))
	}
	return LimitError(fmt.Sprintf("it sends a pack of more than %d MiB", l.Bytes>>20))
}

// NewLimits returns the limits for packs of up to maxPack bytes; 0 is 16 GiB.
func NewLimits(maxPack int64) Limits {
	if maxPack <= 0 {
		maxPack = defaultMaxPack
	}
	return Limits{Bytes: maxPack, Objects: maxPackObjects, Whole: maxWhole}
}
