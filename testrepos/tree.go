package testrepos

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// fileSet is a tree, flat: path to entry. Empty folders do not exist.
type fileSet struct {
	entries  map[string]entry
	conflict map[string]bool // paths with a conflict of a merge
}

type entry struct {
	mode filemode.FileMode
	hash plumbing.Hash
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
	if _, ok := fs.entries[path]; ok {
		delete(fs.entries, path)
		return true
	}
	maps.DeleteFunc(fs.entries, func(p string, _ entry) bool { return strings.HasPrefix(p, path+"/") })
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

// mergeIn applies the changes from base to theirs.
func (fs *fileSet) mergeIn(base, theirs *fileSet) {
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
}

// readTree lists the files of a commit; the zero hash has no files.
func readTree(st storer.EncodedObjectStorer, commit plumbing.Hash) (*fileSet, error) {
	fs := &fileSet{entries: map[string]entry{}, conflict: map[string]bool{}}
	if commit.IsZero() {
		return fs, nil
	}
	c, err := object.GetCommit(st, commit)
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", commit, err)
	}
	return fs, fs.read(st, c.TreeHash, "")
}

func (fs *fileSet) read(st storer.EncodedObjectStorer, tree plumbing.Hash, prefix string) error {
	t, err := object.GetTree(st, tree)
	if err != nil {
		return fmt.Errorf("tree %s: %w", tree, err)
	}
	for _, e := range t.Entries {
		if e.Mode == filemode.Dir {
			if err := fs.read(st, e.Hash, prefix+e.Name+"/"); err != nil {
				return err
			}
			continue
		}
		fs.entries[prefix+e.Name] = entry{mode: e.Mode, hash: e.Hash}
	}
	return nil
}

// writeFolder stores the folder of paths, which is their first skip bytes, with its
// subfolders, and returns its hash. Paths are sorted, so that the paths of a subfolder
// are together.
func writeFolder(st storer.EncodedObjectStorer, fs *fileSet, paths []string, skip int) (plumbing.Hash, error) {
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
		hash, err := writeFolder(st, fs, paths[i:end], len(prefix))
		if err != nil {
			return plumbing.ZeroHash, err
		}
		t.Entries = append(t.Entries, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: hash})
		i = end
	}
	sort.Sort(object.TreeEntrySorter(t.Entries))
	return writeObject(st, &t)
}

// encoder is the interface of object.Commit and object.Tree.
type encoder interface {
	Encode(plumbing.EncodedObject) error
}

// writeObject stores an object unless it exists, as most trees and blobs do.
func writeObject(st storer.EncodedObjectStorer, e encoder) (plumbing.Hash, error) {
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

// store stores an object of a size in a git directory without a copy in memory: a generated
// file may have 100 MB.
func store(dir string, kind plumbing.ObjectType, size int64, from io.Reader) (plumbing.Hash, error) {
	out, err := dotgit.New(osfs.New(dir)).NewObject()
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("%s: %w", kind, err)
	}
	err = out.WriteHeader(kind, size)
	if err == nil {
		_, err = io.Copy(out, from)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		err = fmt.Errorf("%s %s: %w", kind, out.Hash(), err)
	}
	return out.Hash(), err
}

func readBlob(st storer.EncodedObjectStorer, h plumbing.Hash) ([]byte, error) {
	b, err := object.GetBlob(st, h)
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", h, err)
	}
	r, err := b.Reader()
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", h, err)
	}
	data, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("blob %s: %w", h, err)
	}
	return data, nil
}
