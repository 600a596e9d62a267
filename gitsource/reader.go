package gitsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"github.com/repoglot/repoglot/gitsource/object"
)

// Reader reads one state of a mirror. It belongs to one goroutine and must be closed
// (see the package comment). Errors about objects wrap those of package object.
type Reader struct {
	store   *object.Store
	head    object.Head
	release func()
}

// openReader opens a git directory; Close calls release.
func openReader(gitDir string, head object.Head, release func()) (*Reader, error) {
	store, err := object.Open(gitDir)
	return &Reader{store: store, head: head, release: release}, err
}

// Head returns the branch and its commit when the Reader was opened.
func (r *Reader) Head() object.Head { return r.head }

// Close closes the Reader's files. Closing twice is harmless.
func (r *Reader) Close() error {
	if r.release == nil {
		return nil
	}
	r.release()
	r.release = nil
	return r.store.Close()
}

// LimitCache bounds the bytes of inflated objects that the Reader keeps, for a second
// Reader that reads little; 0 is 48 MiB, the limit before the first call.
func (r *Reader) LimitCache(bytes int) { r.store.LimitCache(bytes) }

// Has reports whether the mirror has this object.
func (r *Reader) Has(h object.Hash) bool { return r.store.Has(h) }

// Commit reads a commit; object.ErrUnknownCommit if the mirror does not have it.
func (r *Reader) Commit(ctx context.Context, h object.Hash) (object.Commit, error) {
	if err := ctx.Err(); err != nil {
		return object.Commit{}, err
	}
	return r.store.Commit(h)
}

// Size returns the length of a file object in bytes.
func (r *Reader) Size(ctx context.Context, h object.Hash) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return r.store.Size(h)
}

// Blob is SharedBlob that returns a copy.
func (r *Reader) Blob(ctx context.Context, h object.Hash, limit int64) ([]byte, error) {
	data, err := r.SharedBlob(ctx, h, limit)
	return bytes.Clone(data), err
}

// SharedBlob reads a file's contents. The error is object.ErrTooLarge if the file has more than
// limit bytes; the length is read from its header, before anything is inflated. A limit of 0 or
// less is 128 MiB. The slice is shared with the Reader's cache: do not write to it.
func (r *Reader) SharedBlob(ctx context.Context, h object.Hash, limit int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = 128 << 20
	}
	return r.store.Blob(h, limit)
}

// IsAncestor reports whether commit a is b, or an ancestor of b through any parents.
func (r *Reader) IsAncestor(ctx context.Context, a, b object.Hash) (bool, error) {
	if a == b {
		return r.Has(a), nil
	}
	if !r.Has(a) {
		return false, fmt.Errorf("commit %s: %w", a, object.ErrUnknownCommit)
	}
	// a is an ancestor of b exactly if b's history has all commits of a's.
	fresh, err := r.store.Difference(ctx, a, []object.Hash{b}, 0)
	return len(fresh) == 0, err
}

// Bases returns the commits of the head's history at which the history of a commit leaves it:
// the commit itself if it is one of those.
func (r *Reader) Bases(ctx context.Context, of object.Hash) ([]object.Hash, error) {
	return r.leaving(ctx, of, r.head.Hash)
}

func (r *Reader) leaving(ctx context.Context, of, history object.Hash) ([]object.Hash, error) {
	fresh, err := r.store.Difference(ctx, of, []object.Hash{history}, 0)
	if err != nil || len(fresh) == 0 {
		return []object.Hash{of}, err
	}
	var bases []object.Hash
	for _, node := range fresh {
		for _, parent := range node.Parents {
			if _, is := fresh[parent]; !is {
				bases = append(bases, parent)
			}
		}
	}
	slices.SortFunc(bases, object.Hash.Compare)
	return slices.Compact(bases), nil
}

// FirstParent is one commit of a chain of first parents.
type FirstParent struct {
	// Hash is the commit; Elsewhere is the one of View.FirstParents.
	Hash, Elsewhere object.Hash
	// When is the committer's time; zero if the commit has no readable time.
	When time.Time
}

// State is the state of the commit.
func (p *FirstParent) State() State { return State{p.Hash, p.Elsewhere} }

// FirstParents walks the chain of first parents from a commit to the first commit, or to the
// end of a shallow source's history, the newest first. It ends after an error.
func (r *Reader) FirstParents(ctx context.Context, from object.Hash) iter.Seq2[FirstParent, error] {
	return func(yield func(FirstParent, error) bool) {
		for at := from; ; {
			n, err := r.store.Node(at)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(FirstParent{}, fmt.Errorf("walk first parents of %s: %w", from, err))
				return
			}
			l := FirstParent{Hash: at}
			if n.When != noTime {
				l.When = time.Unix(n.When, 0).UTC()
			}
			if !yield(l, nil) || len(n.Parents) == 0 {
				return
			}
			at = n.Parents[0]
		}
	}
}

// noTime is object.Node.When of a commit without a readable time.
const noTime = -62135596800

// mailmapLimit bounds the bytes of .mailmap; the one of Linux has 40 KiB.
const mailmapLimit = 4 << 20

// Mailmap reads .mailmap from the root of a commit. If the commit has no such file, or it is a
// symlink, which git does not follow either, the result maps nothing.
func (r *Reader) Mailmap(ctx context.Context, commit object.Hash) (object.Mailmap, error) {
	if err := ctx.Err(); err != nil {
		return object.Mailmap{}, err
	}
	n, err := r.store.Node(commit)
	var list []object.Entry
	if err == nil {
		list, err = r.store.Tree(n.Tree)
	}
	var data []byte
	if e, _ := object.Lookup(list, ".mailmap"); e.Kind == object.KindFile {
		data, err = r.store.Blob(e.Hash, mailmapLimit)
	}
	if err != nil && !errors.Is(err, object.ErrTooLarge) {
		return object.Mailmap{}, fmt.Errorf("read .mailmap: %w", err)
	}
	return object.ParseMailmap(string(data)), nil
}

// OpenIn opens the mirror in a folder for reading, without a Mirror: it changes nothing, so a
// server may use the folder meanwhile, and replace the git directory that the Reader reads.
// path is that git directory. The error is ErrNotFetched if there is no mirror.
func OpenIn(ctx context.Context, dir string) (r *Reader, path string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	name, err := object.ReadText(dir, currentFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", ErrNotFetched
	case err != nil:
		return nil, "", err
	case !generationName.MatchString(name):
		return nil, "", fmt.Errorf("%s: %w", currentFile, object.ErrCorrupt)
	}
	path = filepath.Join(dir, name)
	head, err := object.CurrentHead(path)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", object.ErrCorrupt, err)
	}
	r, err = openReader(path, head, func() {})
	return r, path, err
}
