package gitsource

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/repoglot/repoglot/gitsource/derive"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// Writer makes commits in a mirror and pushes them. No ref of the mirror moves, so a Fetch may
// run at the same time; what was not pushed is gone after the mirror has been packed or cloned
// anew, and is made again from the same input. A Writer must be closed.
type Writer struct {
	mirror  *Mirror
	gitDir  string
	head    object.Head
	release func()
	*derive.Chain
}

// Writer opens the mirror for writing; ErrNotFetched before the first fetch.
func (m *Mirror) Writer(ctx context.Context) (*Writer, error) {
	dir, head, release, err := m.lease(ctx)
	if err != nil {
		return nil, err
	}
	w, err := m.writer(dir, head, release)
	if err != nil {
		release()
	}
	return w, err
}

func (m *Mirror) writer(gitDir string, head object.Head, release func()) (*Writer, error) {
	chain, err := derive.Open(gitDir)
	return &Writer{m, gitDir, head, release, chain}, err
}

// Head returns the mirror's head as of the opening: the parent of the first commit.
func (w *Writer) Head() object.Head { return w.head }

// Reader opens the same git directory for reading. It must be closed before the Writer.
func (w *Writer) Reader() (*Reader, error) { return openReader(w.gitDir, w.head, func() {}) }

// Commit makes a commit on top of one that the mirror or this Writer has. Nothing is seen
// of it before Store. The errors are those of [derive.Chain.Commit].
func (w *Writer) Commit(ctx context.Context, c derive.Commit) (id object.Hash, err error) {
	if err := w.mirror.opts.Room(); err != nil {
		return object.Hash{}, err
	}
	if id, err = w.Chain.Commit(ctx, c); err != nil {
		return object.Hash{}, fmt.Errorf("mirror of %s: %w", w.mirror.remote, err)
	}
	return id, nil
}

// Store stores the commits so far in the mirror, durably.
func (w *Writer) Store() error {
	if err := w.Chain.Store(); err != nil {
		return fmt.Errorf("mirror of %s: %w", w.mirror.remote, err)
	}
	return nil
}

// Writable returns the error of Commit for a file that is written at the head, or nil.
func (m *Mirror) Writable(ctx context.Context, path string) error {
	w, err := m.Writer(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err = w.Chain.Commit(ctx, derive.Commit{Parent: w.head.Hash, Files: []derive.File{{Path: path}}, Message: "-"}); errors.Is(err, derive.ErrNothing) {
		return nil
	}
	return err
}

// Push pushes to a repository; without an address to the one that the mirror copies.
// The errors are those of remote.Repository.Push.
func (w *Writer) Push(ctx context.Context, to remote.Repository, p remote.Push) error {
	if err := w.Store(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, w.mirror.opts.Timeout)
	defer cancel()
	return w.mirror.orOwn(to).Push(ctx, w.mirror.opts.Remote, w.gitDir, p)
}

// Tip returns where a branch of a repository is, without an address of the one that the
// mirror copies; the zero hash if there is no such branch.
func (m *Mirror) Tip(ctx context.Context, of remote.Repository, branch string) (object.Hash, error) {
	pattern, err := remote.ParseBranchPattern(branch)
	if err != nil {
		return object.Hash{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, m.opts.Timeout)
	defer cancel()
	heads, err := remote.NewSource(m.orOwn(of), m.opts.Remote).List(ctx, []remote.BranchPattern{pattern})
	if err != nil || len(heads) == 0 {
		return object.Hash{}, err
	}
	return heads[0].Hash, nil
}

// Close lets the git directory go. It may be called once.
func (w *Writer) Close() {
	w.Chain.Close()
	w.release()
}

// derivedFolder holds a git namespace (gitnamespaces(7)) with the name of the head that
// derived commits are on: they are shown in one moment, and no longer when the head moves.
const derivedFolder = "refs/namespaces"

// derivedRef is the ref of the derived commits on a head, within a git directory.
func derivedRef(head object.Head) string {
	return derivedFolder + "/" + head.Hash.String() + "/refs/heads/" + head.Branch
}

// derivedTip returns the newest of the commits that are shown on a head and their
// namespace; the head itself and "" without any.
func derivedTip(gitDir string, head object.Head) (namespace string, tip object.Hash) {
	tip, err := object.ReadRef(gitDir, derivedRef(head))
	if err != nil {
		return "", head.Hash
	}
	return head.Hash.String(), tip
}

// Show has clones of the mirror see commits on top of its head, up to tip, until it is
// called again or the head moves; with the head itself, none. The commits last as long as
// they are shown. It must not run beside another Show or a Fetch.
func (w *Writer) Show(tip object.Hash) error {
	err := w.Store()
	if err == nil {
		err = w.show(tip)
	}
	if err != nil {
		return fmt.Errorf("mirror of %s: show commits: %w", w.mirror.remote, err)
	}
	return nil
}

func (w *Writer) show(tip object.Hash) error {
	folder := filepath.Join(w.gitDir, filepath.FromSlash(derivedFolder))
	kept, shown := derivedTip(w.gitDir, w.head)
	switch {
	case tip == w.head.Hash || w.head.Branch == object.Detached:
		kept = ""
	case tip != shown:
		kept = w.head.Hash.String()
		ref := derivedRef(w.head)
		// HEAD before the branch: a namespace counts from when it has the branch.
		if err := object.WriteText(filepath.Join(folder, kept, "HEAD"), "ref: "+ref+"\n"); err != nil {
			return err
		}
		if err := object.WriteText(filepath.Join(w.gitDir, filepath.FromSlash(ref)), tip.String()+"\n"); err != nil {
			return err
		}
	}
	old, err := os.ReadDir(folder)
	if os.IsNotExist(err) {
		return nil
	}
	for _, e := range old {
		if e.Name() != kept {
			if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
				return err
			}
		}
	}
	return err
}
