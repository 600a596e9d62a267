package gitsource

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

const (
	// objectCache bounds what go-git keeps of inflated objects; delta chains of
	// large PO files are slow with less.
	objectCache = 48 << 20
	// treeLimit and commitLimit bound objects that are read whole without the
	// caller having a say. The largest real trees are a few MiB.
	treeLimit   = 64 << 20
	commitLimit = 16 << 20
	// maxAlternates bounds the chain of objects/info/alternates (git allows a
	// depth of 5).
	maxAlternates = 32
)

// objects reads the objects of a repository and of those it borrows from.
// go-git's own handling of alternates opens each again for every object and
// takes relative paths from the wrong place, so each directory is a store here.
// Use by one goroutine.
type objects struct {
	stores []*filesystem.Storage
	dirs   []string // objects directories, parallel to stores
}

// openObjects opens the object directory below gitDir and its alternates.
// Nothing is read before the first question.
func openObjects(gitDir string) *objects {
	lru := cache.NewObjectLRU(objectCache)
	o := &objects{dirs: objectDirs(filepath.Join(gitDir, "objects"))}
	for _, dir := range o.dirs {
		fsys := osfs.New(filepath.Dir(dir), osfs.WithBoundOS())
		o.stores = append(o.stores, filesystem.NewStorageWithOptions(fsys, lru, filesystem.Options{KeepDescriptors: true}))
	}
	return o
}

// objectDirs follows alternates (gitrepository-layout(5)): relative lines are
// relative to the objects directory they stand in.
func objectDirs(first string) []string {
	dirs := []string{first}
	for i := 0; i < len(dirs) && len(dirs) < maxAlternates; i++ {
		text, err := readSmall(filepath.Join(dirs[i], "info", "alternates"))
		if err != nil {
			continue
		}
		for line := range strings.SplitSeq(text, "\n") {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") || filepath.Base(line) != "objects" {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(dirs[i], line)
			}
			if info, err := os.Stat(line); err == nil && info.IsDir() && !contains(dirs, line) {
				dirs = append(dirs, line)
			}
		}
	}
	return dirs
}

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}

func (o *objects) close() error {
	var err error
	for _, s := range o.stores {
		err = errors.Join(err, s.Close())
	}
	return err
}

// find gives the store that has the object.
func (o *objects) find(h Hash) (*filesystem.Storage, error) {
	for _, s := range o.stores {
		err := s.HasEncodedObject(h.plumb())
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			return nil, err
		}
	}
	return nil, ErrUnknownObject
}

func (o *objects) has(h Hash) bool {
	_, err := o.find(h)
	return err == nil
}

// size is the length of an object in bytes, from its header.
func (o *objects) size(h Hash) (int64, error) {
	s, err := o.find(h)
	if err != nil {
		return 0, err
	}
	return guard(func() (int64, error) { return s.EncodedObjectSize(h.plumb()) })
}

// read gives the whole object, if it is of type want (AnyObject: any) and not
// longer than limit; the length is asked for before anything is inflated.
func (o *objects) read(h Hash, want plumbing.ObjectType, limit int64) (plumbing.ObjectType, []byte, error) {
	s, err := o.find(h)
	if err != nil {
		return 0, nil, err
	}
	size, err := guard(func() (int64, error) { return s.EncodedObjectSize(h.plumb()) })
	if err != nil {
		return 0, nil, err
	}
	if size > limit {
		return 0, nil, fmt.Errorf("%d bytes, limit %d: %w", size, limit, ErrTooLarge)
	}
	obj, err := guard(func() (plumbing.EncodedObject, error) { return s.EncodedObject(plumbing.AnyObject, h.plumb()) })
	if err != nil {
		return 0, nil, err
	}
	if want != plumbing.AnyObject && obj.Type() != want {
		return 0, nil, fmt.Errorf("is a %s, want a %s: %w", obj.Type(), want, ErrUnknownObject)
	}
	data, err := guard(func() ([]byte, error) { return readObject(obj, size) })
	return obj.Type(), data, err
}

func readObject(obj plumbing.EncodedObject, size int64) ([]byte, error) {
	r, err := obj.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, err
	}
	return data, nil
}

// guard turns a panic of go-git over damaged packs into an error.
func guard[T any](fn func() (T, error)) (result T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrCorrupt, p)
		}
	}()
	return fn()
}
