package derive

import (
	"context"
	"errors"
	"fmt"

	"github.com/repoglot/repoglot/gitsource/object"
)

var (
	// ErrNothing: the parent has all files as they are wanted, so there is nothing to
	// commit.
	ErrNothing = errors.New("nothing to commit")
	// ErrPath: a file cannot be at this path, as the path is no path, or leads through
	// a file, a symlink or a submodule. The error is a [*PathError].
	ErrPath = errors.New("no file can be written here")
)

// PathError says which file of a commit cannot be written, so that the others can.
type PathError struct {
	// Path is that of the File.
	Path string
	// Why is a clause for people, or "".
	Why string
}

// Error has the path and the reason.
func (e *PathError) Error() string {
	if e.Why == "" {
		return fmt.Sprintf("%q: %s", e.Path, ErrPath)
	}
	return fmt.Sprintf("%q: %s: %s", e.Path, ErrPath, e.Why)
}

// Unwrap returns ErrPath.
func (*PathError) Unwrap() error { return ErrPath }

// File is a file of the commit that its parent has not, or otherwise.
type File struct {
	// Path from the root of the repository, with slashes.
	Path string
	// Data are the contents. The mode stays as it is; a new file is not executable.
	Data []byte
	// Remove removes the file, and directories that become empty.
	Remove bool
}

// Commit is a commit to be made.
type Commit struct {
	// Parent is the commit that it changes.
	Parent object.Hash
	// Files are what it changes, in any order, each path once.
	Files []File
	// Author wrote the texts; Committer is this server. Times are in whole seconds.
	Author, Committer object.Signature
	// Message is the whole message.
	Message string
	// Signer signs the commit; nil: it is not signed.
	Signer Signer
}

// Write makes a commit in a git directory and returns its id. It writes loose objects,
// and durably: when it returns, a crash loses none of them. No ref moves. The error
// wraps ErrNothing or ErrPath, or says that an object is missing (object.Damaged) or
// cannot be written.
func Write(ctx context.Context, gitDir string, c Commit) (object.Hash, error) {
	id, err := write(ctx, gitDir, c)
	if err != nil {
		return object.Hash{}, fmt.Errorf("derive a commit from %s: %w", c.Parent, err)
	}
	return id, nil
}

func write(ctx context.Context, gitDir string, c Commit) (object.Hash, error) {
	store, err := object.Open(gitDir)
	if err != nil {
		return object.Hash{}, err
	}
	defer store.Close()
	parent, err := store.Commit(c.Parent)
	if err != nil {
		return object.Hash{}, err
	}
	root := newFolder()
	for _, f := range c.Files {
		if err := root.add(f); err != nil {
			return object.Hash{}, err
		}
	}
	w := writer{store: store, gitDir: gitDir}
	tree, err := w.tree(ctx, parent.Tree, root)
	switch {
	case err != nil:
		return object.Hash{}, err
	case tree == parent.Tree:
		return object.Hash{}, ErrNothing
	case tree.IsZero(): // git's empty tree
		if tree, err = object.WriteTree(gitDir, nil); err != nil {
			return object.Hash{}, err
		}
	}
	data, err := c.encode(tree)
	if err != nil {
		return object.Hash{}, err
	}
	return object.WriteCommit(gitDir, data)
}
