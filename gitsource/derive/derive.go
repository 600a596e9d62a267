package derive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

var (
	// ErrNothing: the parent has all files as they are wanted: nothing is to be committed.
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
	// Blob are the contents instead, if the git directory has them; the zero hash: Data.
	Blob object.Hash
	// Remove removes the file, and directories that become empty.
	Remove bool
}

// Commit is a commit to be made.
type Commit struct {
	// Parent is the commit that it changes.
	Parent object.Hash
	// Merged is the second parent of a merge, whose files are those of Tree, with changes; the
	// zero hash: there is one parent.
	Merged, Tree object.Hash
	// Files are what it changes, in any order, each path once.
	Files []File
	// Author wrote the texts; Committer is this server. Times are in whole seconds.
	Author, Committer object.Signature
	// Message is the whole message.
	Message string
	// Signer signs the commit; nil: it is not signed.
	Signer Signer
}

// Chain makes commits on top of each other. It belongs to one goroutine and must be closed.
type Chain struct {
	gitDir string
	store  *object.Store
	added  *object.Addition
	roots  map[object.Hash]object.Hash // directories of the commits that were made
	trees  map[object.Hash][]byte      // directories that were made
	size   int                         // of trees
	last   map[string]object.Base      // contents that were written last, by path
}

// maxTrees bounds the bytes of directories that a Chain holds.
const maxTrees = 32 << 20

// Open opens a git directory.
func Open(gitDir string) (*Chain, error) {
	c := &Chain{gitDir: gitDir, last: map[string]object.Base{}}
	if err := c.open(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Chain) open() (err error) {
	if c.store, err = object.Open(c.gitDir); err != nil {
		return err
	}
	c.added = object.NewAddition(c.gitDir, c.store)
	c.roots, c.trees, c.size = map[object.Hash]object.Hash{}, map[object.Hash][]byte{}, 0
	return nil
}

// Close drops what was not stored.
func (c *Chain) Close() {
	if c.store == nil {
		return // it could not be opened again
	}
	c.added.Close()
	_ = c.store.Close()
}

// Store stores the commits so far: when it returns, a crash loses none of them. No ref moves.
func (c *Chain) Store() error {
	if c.added.Empty() {
		return nil
	}
	if err := c.added.Store(); err != nil {
		return err
	}
	_ = c.store.Close()
	c.store = nil
	return c.open()
}

// Has reports whether the git directory has an object.
func (c *Chain) Has(h object.Hash) bool { return c.store.Has(h) }

// Blob returns the id of the contents that were last written to a path.
func (c *Chain) Blob(path string) object.Hash { return c.last[path].Hash }

// Commit makes a commit on top of one that the git directory or the Chain has, and returns
// its id. The error wraps ErrNothing or ErrPath, or says that an object is missing
// (object.Damaged) or cannot be written. Nothing is seen of the commit before Store.
func (c *Chain) Commit(ctx context.Context, commit Commit) (object.Hash, error) {
	id, err := c.commit(ctx, commit)
	if err != nil {
		return object.Hash{}, fmt.Errorf("derive a commit from %s: %w", commit.Parent, err)
	}
	return id, nil
}

func (c *Chain) commit(ctx context.Context, commit Commit) (object.Hash, error) {
	if c.size > maxTrees {
		if err := c.Store(); err != nil {
			return object.Hash{}, err
		}
	}
	was, ok := c.roots[commit.Parent]
	if !commit.Merged.IsZero() {
		was = commit.Tree
	} else if !ok {
		parent, err := c.store.Commit(commit.Parent)
		if err != nil {
			return object.Hash{}, err
		}
		was = parent.Tree
	}
	for _, f := range commit.Files {
		if strings.Count(f.Path, "/") >= object.MaxDepth {
			return object.Hash{}, &PathError{f.Path, "it is too deep"}
		}
	}
	tree, err := c.tree(ctx, was, 0, commit.Files)
	switch {
	case err != nil:
		return object.Hash{}, err
	case tree == was && commit.Merged.IsZero():
		return object.Hash{}, ErrNothing
	case tree.IsZero(): // git's empty tree
		if tree, err = c.writeTree(nil, object.Base{}); err != nil {
			return object.Hash{}, err
		}
	}
	data, err := commit.encode(tree)
	if err != nil {
		return object.Hash{}, err
	}
	id, err := c.added.Commit(data)
	c.roots[id] = tree
	return id, err
}

// encode returns the commit as git stores it.
func (c *Commit) encode(tree object.Hash) ([]byte, error) {
	parents := c.Parent.String()
	if !c.Merged.IsZero() {
		parents += "\nparent " + c.Merged.String()
	}
	head := fmt.Sprintf("tree %s\nparent %s\nauthor %s\ncommitter %s\n", tree, parents, person(c.Author), person(c.Committer))
	message := strings.ToValidUTF8(strings.ReplaceAll(c.Message, "\x00", ""), "\uFFFD")
	message = "\n" + strings.Trim(message, "\n") + "\n"
	if message == "\n\n" {
		return nil, errors.New("the message is empty")
	}
	if c.Signer == nil {
		return []byte(head + message), nil
	}
	signature, err := c.Signer.Sign([]byte(head+message), c.Committer.When)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	var b bytes.Buffer
	b.WriteString(head + "gpgsig")
	for line := range strings.SplitSeq(strings.TrimRight(signature, "\n"), "\n") {
		b.WriteString(" " + line + "\n")
	}
	b.WriteString(message)
	return b.Bytes(), nil
}

// person writes a name and a time as git does: without characters that end the name,
// the address or the line. Without a name the address stands for it.
func person(s object.Signature) string {
	email := cleanPart(s.Email)
	return fmt.Sprintf("%s <%s> %d %s", cmp.Or(cleanPart(s.Name), email, "unknown"), email, max(0, s.When.Unix()), s.When.Format("-0700"))
}

// cleanPart does what git does to names and addresses (ident.c, strbuf_addstr_without_crud).
func cleanPart(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '<' || r == '>' || r == 0:
			return -1
		case r < ' ' || r == 0x7F:
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Trim(s, " .,:;\"'\\")
}
