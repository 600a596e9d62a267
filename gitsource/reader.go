package gitsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
)

// Reader reads one state of a mirror. It belongs to one goroutine and must be
// closed; see the package comment.
type Reader struct {
	objects *objects
	head    Head
	shallow string // contents of the "shallow" file; empty: history is whole
	trees   treeCache
	release func()
}

// openReader opens the repository in gitDir.
func openReader(gitDir string, head Head, release func()) (*Reader, error) {
	shallow, err := readSmall(filepath.Join(gitDir, "shallow"))
	if err != nil && !isNotExist(err) {
		return nil, fmt.Errorf("open mirror: %w", err)
	}
	return &Reader{objects: openObjects(gitDir), head: head, shallow: shallow, release: release}, nil
}

// Head is the branch's commit when the Reader was opened.
func (r *Reader) Head() Head { return r.head }

// Close gives the files back. Closing twice is harmless.
func (r *Reader) Close() error {
	if r.release == nil {
		return nil
	}
	r.release()
	r.release = nil
	return r.objects.close()
}

// LimitCache bounds the bytes of inflated objects that the Reader keeps, for one
// that reads little beside another; 0 is 48 MiB, as before the first call.
func (r *Reader) LimitCache(bytes int) { r.objects.cache.limit = bytes }

// Has reports whether the mirror has this object.
func (r *Reader) Has(h Hash) bool { return !h.IsZero() && r.objects.has(h) }

// Size is the length of a file object in bytes.
func (r *Reader) Size(ctx context.Context, h Hash) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.objects.size(h)
	return n, objectError("file", h, err)
}

// Blob is SharedBlob with a slice that is the caller's.
func (r *Reader) Blob(ctx context.Context, h Hash, limit int64) ([]byte, error) {
	data, err := r.SharedBlob(ctx, h, limit)
	return bytes.Clone(data), err
}

// SharedBlob reads a file's contents. One longer than limit bytes is ErrTooLarge,
// found out from its header before anything is inflated; limit ≤ 0 stands for
// 128 MiB. The slice is shared with the Reader's cache: do not write to it.
func (r *Reader) SharedBlob(ctx context.Context, h Hash, limit int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = 128 << 20
	}
	data, err := r.objects.read(h, plumbing.BlobObject, limit)
	return data, objectError("file", h, err)
}

// IsAncestor reports whether commit a is b or an ancestor of b, through any
// parent.
func (r *Reader) IsAncestor(ctx context.Context, a, b Hash) (bool, error) {
	if a == b {
		return r.Has(a), nil
	}
	if !r.Has(a) {
		return false, fmt.Errorf("commit %s: %w", a, ErrUnknownCommit)
	}
	// a is an ancestor of b exactly if nothing of a's history is missing from b's.
	fresh, err := r.difference(ctx, a, b, 0)
	return len(fresh) == 0, err
}

func isNotExist(err error) bool {
	return err != nil && errors.Is(err, fs.ErrNotExist)
}
