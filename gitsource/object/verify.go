package object

import (
	"bytes"
	"context"
	"crypto/sha1" // git sums packs with it
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// VerifyAll reads every byte of a git directory that names its own sum: packs, their
// indexes, and loose objects. The error is the first damage.
func VerifyAll(ctx context.Context, gitDir string) error {
	dir := filepath.Join(gitDir, "objects")
	err := eachLoose(dir, func(_ string, h Hash) error {
		o, err := openLoose(dir, h)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // packed meanwhile
		}
		if err == nil {
			_, err = o.check(h, false)
			_ = o.close()
		}
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

// verifySum checks that a file ends with the sum of what is before
// (gitformat-pack(5)).
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
	for left > 0 {
		n, err := io.CopyN(sum, f, min(left, 16<<20))
		if left -= n; err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
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
