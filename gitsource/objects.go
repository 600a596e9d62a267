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

// found is where an object lies: open as a loose file, or in a pack of a store.
type found struct {
	loose  *looseObject
	packed *filesystem.Storage
}

// find looks for an object. What it found loose must be closed.
func (o *objects) find(h Hash) (found, error) {
	for i, s := range o.stores {
		loose, err := openLoose(o.dirs[i], h)
		if err == nil {
			return found{loose: loose}, nil
		}
		if !isNotExist(err) {
			return found{}, err
		}
		err = s.HasEncodedObject(h.plumb())
		if err == nil {
			return found{packed: s}, nil
		}
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			return found{}, err
		}
	}
	return found{}, ErrUnknownObject
}

func (o *objects) has(h Hash) bool {
	for _, s := range o.stores {
		if s.HasEncodedObject(h.plumb()) == nil {
			return true
		}
	}
	return false
}

// size is the length of an object in bytes, from its header.
func (o *objects) size(h Hash) (int64, error) {
	f, err := o.find(h)
	if err != nil {
		return 0, err
	}
	if f.loose != nil {
		return f.loose.size, f.loose.close()
	}
	return guard(func() (int64, error) { return f.packed.EncodedObjectSize(h.plumb()) })
}

// read gives the whole object, if it is of type want and not
// longer than limit; the length is asked for before anything is inflated.
func (o *objects) read(h Hash, want plumbing.ObjectType, limit int64) ([]byte, error) {
	f, err := o.find(h)
	if err != nil {
		return nil, err
	}
	if f.loose != nil {
		defer f.loose.close()
		if err := fits(f.loose.kind, want, f.loose.size, limit); err != nil {
			return nil, err
		}
		return f.loose.read()
	}
	return guard(func() ([]byte, error) { return readPacked(f.packed, h, want, limit) })
}

func readPacked(s *filesystem.Storage, h Hash, want plumbing.ObjectType, limit int64) ([]byte, error) {
	size, err := s.EncodedObjectSize(h.plumb())
	if err != nil {
		return nil, err
	}
	if err := fits(want, want, size, limit); err != nil {
		return nil, err
	}
	obj, err := s.EncodedObject(plumbing.AnyObject, h.plumb())
	if err != nil {
		return nil, err
	}
	if err := fits(obj.Type(), want, size, limit); err != nil {
		return nil, err
	}
	return readObject(obj, size)
}

func fits(is, want plumbing.ObjectType, size, limit int64) error {
	if is != want {
		return fmt.Errorf("is a %s, want a %s: %w", is, want, ErrUnknownObject)
	}
	if size > limit {
		return fmt.Errorf("%d bytes, limit %d: %w", size, limit, ErrTooLarge)
	}
	return nil
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
