package testrepos

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// ErrConflict is returned by a merge for a file that both sides changed and that the
// commit does not have.
var ErrConflict = errors.New("merge conflict")

// fileSet is a tree, flat: path to entry. Empty folders do not exist.
type fileSet struct {
	entries  map[string]entry
	conflict map[string]bool // paths with a conflict of a merge
}

type entry struct {
	mode filemode.FileMode
	hash plumbing.Hash
}

func newFileSet() *fileSet {
	return &fileSet{entries: map[string]entry{}, conflict: map[string]bool{}}
}

// readFiles lists the files of a commit.
func readFiles(r *git.Repository, c *object.Commit) (*fileSet, error) {
	fs := newFileSet()
	return fs, fs.read(r, c.TreeHash, "")
}

func (fs *fileSet) read(r *git.Repository, tree plumbing.Hash, folder string) error {
	t, err := r.TreeObject(tree)
	if err != nil {
		return fmt.Errorf("tree %s: %w", tree, err)
	}
	for i := 0; i < len(t.Entries) && err == nil; i++ {
		if e := t.Entries[i]; e.Mode == filemode.Dir {
			err = fs.read(r, e.Hash, folder+e.Name+"/")
		} else {
			fs.entries[folder+e.Name] = entry{mode: e.Mode, hash: e.Hash}
		}
	}
	return err
}

// set adds a file; a file in place of its folder, or a folder in its place, is
// removed.
func (fs *fileSet) set(path string, e entry) {
	fs.remove(path)
	for i, c := range path {
		if c == '/' {
			delete(fs.entries, path[:i])
		}
	}
	fs.entries[path] = e
}

// remove removes a path and all files below it and reports whether there were any.
func (fs *fileSet) remove(path string) bool {
	n := len(fs.entries)
	delete(fs.conflict, path)
	maps.DeleteFunc(fs.entries, func(p string, _ entry) bool { return p == path || strings.HasPrefix(p, path+"/") })
	return len(fs.entries) < n
}

// unmerged returns an error if a merge left a conflict.
func (fs *fileSet) unmerged() error {
	if len(fs.conflict) == 0 {
		return nil
	}
	return fmt.Errorf("%w: both sides changed %s; give its text", ErrConflict,
		strings.Join(slices.Sorted(maps.Keys(fs.conflict)), ", "))
}

// merge applies the changes that another commit made since its first common commit with
// ours; without one, since the beginning.
func (fs *fileSet) merge(r *git.Repository, ours, other *object.Commit) error {
	bases, err := ours.MergeBase(other)
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	base := newFileSet()
	if len(bases) > 0 {
		if base, err = readFiles(r, bases[0]); err != nil {
			return err
		}
	}
	theirs, err := readFiles(r, other)
	if err != nil {
		return err
	}
	paths := maps.Clone(base.entries)
	maps.Copy(paths, theirs.entries)
	for path := range paths {
		b, t, o := base.entries[path], theirs.entries[path], fs.entries[path]
		switch {
		case t == b || t == o:
		case o != b:
			fs.conflict[path] = true
		case t == entry{}:
			delete(fs.entries, path)
		default:
			fs.entries[path] = t
		}
	}
	return nil
}

// write stores the folder of paths, which is their first skip bytes, with its
// subfolders, and returns its hash. Paths are sorted, so that the paths of a subfolder
// are together.
func (fs *fileSet) write(st storer.EncodedObjectStorer, paths []string, skip int) (plumbing.Hash, error) {
	t := object.Tree{}
	for i := 0; i < len(paths); {
		name, _, isDir := strings.Cut(paths[i][skip:], "/")
		if !isDir {
			e := fs.entries[paths[i]]
			t.Entries = append(t.Entries, object.TreeEntry{Name: name, Mode: e.mode, Hash: e.hash})
			i++
			continue
		}
		end, prefix := i, paths[i][:skip]+name+"/"
		for end < len(paths) && strings.HasPrefix(paths[end], prefix) {
			end++
		}
		hash, err := fs.write(st, paths[i:end], len(prefix))
		if err != nil {
			return plumbing.ZeroHash, err
		}
		t.Entries = append(t.Entries, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: hash})
		i = end
	}
	sort.Sort(object.TreeEntrySorter(t.Entries))
	return writeObject(st, &t)
}

// blob is the contents of a file.
type blob []byte

// Encode makes an object of it, as the commits and trees of go-git do.
func (b blob) Encode(o plumbing.EncodedObject) error {
	o.SetType(plumbing.BlobObject)
	w, err := o.Writer()
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// writeObject stores an object unless it exists, as most trees and blobs do.
func writeObject(st storer.EncodedObjectStorer, e interface {
	Encode(o plumbing.EncodedObject) error
},
) (plumbing.Hash, error) {
	o := st.NewEncodedObject()
	if err := e.Encode(o); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("object: %w", err)
	}
	if st.HasEncodedObject(o.Hash()) == nil {
		return o.Hash(), nil
	}
	h, err := st.SetEncodedObject(o)
	if err != nil {
		return h, fmt.Errorf("object %s: %w", o.Hash(), err)
	}
	return h, nil
}

// read returns the bytes of a file, or the target of a symbolic link.
func (r *Repo) read(files *fileSet, path string) ([]byte, error) {
	e, ok := files.entries[path]
	if !ok {
		return nil, fmt.Errorf("there is no such file: %q", path)
	}
	b, err := r.git.BlobObject(e.hash)
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", e.hash, err)
	}
	in, err := b.Reader()
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", e.hash, err)
	}
	data, err := io.ReadAll(in)
	return data, errors.Join(err, in.Close())
}
