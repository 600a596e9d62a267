package object

import (
	"bytes"
	"context"
	"crypto/sha1" // git sums packs with it
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Store reads one git directory: its commits, trees and files. It shows the objects that the
// directory had at the first read. A Store belongs to one goroutine and must be closed.
type Store struct {
	objects *objects
	shallow bool // history is cut: parents may be missing
	trees   treeCache
}

// Open opens the git directory gitDir.
func Open(gitDir string) (*Store, error) {
	shallow, err := readText(gitDir, "shallow", maxShallow)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open mirror: %w", err)
	}
	return &Store{objects: openObjects(gitDir), shallow: shallow != ""}, nil
}

// Close closes the packs that were read.
func (s *Store) Close() error { return s.objects.close() }

// Shallow reports whether the history of the directory is cut: parents may be missing.
func (s *Store) Shallow() bool { return s.shallow }

// LimitCache bounds the bytes of inflated objects that the Store keeps; 0: 48 MiB, as at first.
func (s *Store) LimitCache(bytes int) { s.objects.cache.setLimit(bytes) }

// Has reports whether the directory has this object.
func (s *Store) Has(h Hash) bool { return !h.IsZero() && s.objects.has(h) }

// Size returns the length of a file object in bytes.
func (s *Store) Size(h Hash) (int64, error) {
	n, err := s.objects.size(h)
	return n, objectError("file", h, err)
}

// Blob reads a file's contents. A file longer than limit bytes is ErrTooLarge, of which nothing
// is inflated. The slice is shared with the cache: do not write to it.
func (s *Store) Blob(h Hash, limit int64) ([]byte, error) {
	data, err := s.objects.read(h, plumbing.BlobObject, limit)
	return data, objectError("file", h, err)
}

// Verify checks that a commit of gitDir and its root directory can be read.
func Verify(ctx context.Context, gitDir string, commit Hash) error {
	s, err := Open(gitDir)
	if err != nil {
		return err
	}
	defer s.Close()
	n, err := s.Node(commit)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err = s.Tree(n.Tree)
	return err
}

// VerifyAll reads every byte of a git directory that names its own sum: packs, their
// indexes, and loose objects. The error is the first damage.
func VerifyAll(ctx context.Context, gitDir string) error {
	dir := filepath.Join(gitDir, "objects")
	err := eachLoose(dir, func(_ string, h Hash) error {
		o, err := openLoose(dir, h)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // packed meanwhile
		}
		if err != nil {
			return fmt.Errorf("loose object %s: %w", h, err)
		}
		_, err = o.check(h, false)
		_ = o.close()
		if err != nil {
			return fmt.Errorf("loose object %s: %w: %w", h, ErrCorrupt, err)
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	names, err := packNames(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		for _, file := range []string{name, strings.TrimSuffix(name, ".pack") + ".idx"} {
			if err := verifySum(ctx, dir, path.Join("pack", file)); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return nil
}

// verifySum checks that a file ends with the sum of what is before (gitformat-pack(5)).
func verifySum(ctx context.Context, dir, name string) error {
	f, err := openIn(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // packed anew meanwhile
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	left := info.Size() - sha1.Size
	if left < 0 {
		return fmt.Errorf("%w: it is cut", ErrCorrupt)
	}
	sum := sha1.New()
	if _, err := io.CopyN(sum, &packFile{ctx, f}, left); err != nil {
		return err
	}
	want := make([]byte, sha1.Size)
	if _, err := io.ReadFull(f, want); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return fmt.Errorf("%w: its sum is not the one at its end", ErrCorrupt)
	}
	return nil
}

// Hash is the SHA-1 id of a git object. The zero value means "absent".
type Hash [20]byte

// ParseHash reads 40 hexadecimal digits of either case.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != 2*len(h) {
		return Hash{}, fmt.Errorf("git id %.80q: want 40 hexadecimal digits, have %d characters", s, len(s))
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return Hash{}, fmt.Errorf("git id %q: not hexadecimal", s)
	}
	return h, nil
}

// BlobID is the id of a file with these contents.
func BlobID(data []byte) Hash { return Hash(plumbing.ComputeHash(plumbing.BlobObject, data)) }

// String is the id as 40 lowercase hexadecimal digits.
func (h Hash) String() string { return string(hex.AppendEncode(make([]byte, 0, 2*len(h)), h[:])) }

// IsZero reports whether h means "absent".
func (h Hash) IsZero() bool { return h == Hash{} }

// Compare orders ids by their bytes: -1, 0 or +1.
func (h Hash) Compare(other Hash) int { return bytes.Compare(h[:], other[:]) }
