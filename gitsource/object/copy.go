package object

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"
)

var (
	// errMany: so many objects are new that copying whole files is cheaper.
	errMany = errors.New("many new objects")
	// ErrSource: the git directory that is copied from is incomplete or damaged.
	ErrSource = errors.New("source is incomplete")
)

// manyObjects bounds a copy object by object. A push has some ten objects.
const manyObjects = 20_000

// objectCopy copies objects from one git directory to another. An object is written after all
// objects that it names, so an object that is there is complete, also after a crash.
type objectCopy struct {
	from, to *objects
	target   string // the objects directory of to
	ends     string // shallowText of from: if it is not "", parents may be missing
	limit    int    // more objects are errMany
	fresh    *Fresh // gets the files that were inflated; or nil
	limits   Limits
	bytes    int64 // written
	written  int
	done     map[Hash]struct{}
}

// Origin is a git directory to copy from, which may be somebody else's.
type Origin struct {
	// Dir has the list of commits at which the history ends, if there is one.
	Dir string
	// Objects are the directories of its objects; see ObjectDirs.
	Objects []string
	// Limits bound the bytes that are copied, or it is a LimitError; zero bounds nothing.
	Limits Limits
}

// Copy copies a commit and the objects that it needs from one git directory to another:
// object by object, or all packs and loose objects if that is cheaper, or if it has none
// yet. Files that it inflated are put into fresh, which may be nil. The error is ErrSource
// if from is incomplete.
func Copy(ctx context.Context, from Origin, to string, tip Hash, fresh *Fresh) error {
	ends, err := shallowText(from.Dir)
	if err != nil {
		return err
	}
	c := &objectCopy{
		from: openDirs(from.Objects), to: openObjects(to), target: filepath.Join(to, "objects"),
		ends: ends, limit: manyObjects, limits: from.Limits, fresh: fresh, done: map[Hash]struct{}{},
	}
	defer func() { _ = errors.Join(c.from.close(), c.to.close()) }()
	if err := c.to.list(); err != nil {
		return err
	}
	had, err := shallowText(to)
	if err != nil {
		return err
	}
	empty := len(c.to.loose)+len(c.to.packs) == 0
	all := empty || had != "" && had != c.ends // commits that are there get parents
	if !all {
		err = c.history(ctx, tip)
		all = errors.Is(err, errMany) || errors.Is(err, ErrSource)
	}
	if all {
		err = c.allFiles(ctx)
	}
	if err == nil {
		err = WriteShallow(to, c.ends)
	}
	if err != nil || !empty {
		return err
	}
	if err := Verify(ctx, to, tip); err != nil {
		return cmp.Or(ctx.Err(), fmt.Errorf("%w: %w", ErrSource, err))
	}
	return nil
}

// history copies a commit and the objects that it needs and that are missing.
func (c *objectCopy) history(ctx context.Context, tip Hash) error {
	stack := []Hash{tip}
	for len(stack) > 0 {
		h := stack[len(stack)-1]
		if c.present(h) {
			stack = stack[:len(stack)-1]
			continue
		}
		data, err := c.read(ctx, "commit", h, plumbing.CommitObject, commitLimit)
		if err != nil {
			return err
		}
		head, err := parseCommit(data)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrSource, objectError("commit", h, err))
		}
		waiting := slices.DeleteFunc(head.parents, func(p Hash) bool { return c.present(p) || c.ends != "" && !c.from.has(p) })
		if len(waiting) > 0 {
			if stack = append(stack, waiting...); len(stack) > c.limit {
				return errMany
			}
			continue
		}
		if err := c.tree(ctx, head.tree, 0); err != nil {
			return err
		}
		if err := c.write(h, plumbing.CommitObject, data); err != nil {
			return err
		}
	}
	return nil
}

func (c *objectCopy) present(h Hash) bool {
	if _, ok := c.done[h]; ok {
		return true
	}
	if !c.to.has(h) {
		return false
	}
	c.done[h] = struct{}{}
	return true
}

func (c *objectCopy) tree(ctx context.Context, h Hash, depth int) error {
	if c.present(h) || depth > MaxDepth {
		return nil
	}
	data, err := c.read(ctx, "directory", h, plumbing.TreeObject, treeLimit)
	if err != nil {
		return err
	}
	list, err := parseTree(data)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSource, objectError("directory", h, err))
	}
	for _, e := range list {
		switch e.Kind {
		case KindTree:
			err = c.tree(ctx, e.Hash, depth+1)
		case KindFile, KindLink:
			err = c.blob(ctx, e.Hash)
		}
		if err != nil {
			return err
		}
	}
	return c.write(h, plumbing.TreeObject, data)
}

// blobMemory: for a larger file, which is not read, all packs and loose objects are copied.
const blobMemory = 64 << 20

func (c *objectCopy) blob(ctx context.Context, h Hash) error {
	if c.present(h) {
		return nil
	}
	for _, dir := range c.from.dirs {
		f, err := openIn(dir, filepath.ToSlash(looseName(h)))
		if err != nil {
			continue // not loose in this directory
		}
		if err := c.copyFrom(ctx, f, looseName(h), func(w *os.File) error { return c.check(w, h) }); err != nil {
			return err
		}
		return c.wrote(h)
	}
	data, err := c.read(ctx, "file", h, plumbing.BlobObject, blobMemory)
	if errors.Is(err, ErrTooLarge) {
		return errMany
	}
	if err != nil {
		return err
	}
	return c.write(h, plumbing.BlobObject, data)
}

// read reads an object of the source.
func (c *objectCopy) read(ctx context.Context, what string, h Hash, kind plumbing.ObjectType, limit int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := c.from.read(h, kind, limit)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSource, objectError(what, h, err))
	}
	return data, nil
}

// check checks the id of a copied loose object. A file that a Fresh may keep is read.
func (c *objectCopy) check(f *os.File, h Hash) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	o := looseObject{file: f}
	err := o.header(bufio.NewReaderSize(f, 64<<10))
	var data []byte
	if err == nil {
		data, err = o.check(h, c.fresh != nil && o.kind == plumbing.BlobObject && o.size <= freshBytes)
	}
	if err != nil {
		return fmt.Errorf("%w: loose object %s: %w", ErrSource, h, err)
	}
	if data != nil {
		c.fresh.put(h, data)
	}
	return nil
}

// write stores an object as a loose file.
func (c *objectCopy) write(h Hash, t plumbing.ObjectType, data []byte) error {
	err := createFile(filepath.Join(c.target, looseName(h)), func(w *os.File) error {
		if err := deflateLoose(w, zlib.BestSpeed, t, data); err != nil {
			return err
		}
		size, err := w.Seek(0, io.SeekCurrent)
		return cmp.Or(err, c.count(size))
	})
	if err != nil {
		return err
	}
	return c.wrote(h)
}

// wrote counts an object that is there now.
func (c *objectCopy) wrote(h Hash) error {
	c.done[h] = struct{}{}
	if c.written++; c.written > c.limit {
		return errMany
	}
	return nil
}

// count counts bytes that are copied.
func (c *objectCopy) count(n int64) error {
	if c.bytes += n; c.bytes > c.limits.Bytes && c.limits != (Limits{}) {
		return c.limits.TooManyBytes()
	}
	return nil
}

func createFile(name string, fill func(*os.File) error) error {
	return writeFile(name, "tmp_obj_*", fill)
}

// writeFile writes a file in one step: readers see nothing or the old file until it
// is complete. pattern names the temporary file.
func writeFile(name, pattern string, fill func(*os.File) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), pattern)
	if err != nil {
		return err
	}
	if err = cmp.Or(fill(tmp), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// allFiles copies all packs and loose objects that are missing, as git clone does for a path.
// Files are copied, not linked, so that a change to the mirror cannot harm the source.
func (c *objectCopy) allFiles(ctx context.Context) error {
	var err error
	for range 3 { // a repack of the source may move objects during the copy
		err = nil
		for _, dir := range c.from.dirs {
			if err = errors.Join(err, c.directory(ctx, dir)); ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrSource, err)
}

// directory copies one objects directory, loose objects first: a repack moves them to packs.
func (c *objectCopy) directory(ctx context.Context, dir string) error {
	err := eachLoose(dir, func(name string, _ Hash) error { return c.copyFile(ctx, dir, name) })
	if err != nil {
		return err
	}
	names, err := packNames(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		// The index comes first: readers look for the .pack file.
		base := strings.TrimSuffix(name, ".pack")
		for _, ext := range []string{".idx", ".pack"} {
			if err := c.copyFile(ctx, dir, filepath.Join("pack", base+ext)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *objectCopy) copyFile(ctx context.Context, dir, name string) error {
	if _, err := os.Lstat(filepath.Join(c.target, name)); err == nil {
		return nil
	}
	f, err := openIn(dir, filepath.ToSlash(name))
	if errors.Is(err, fs.ErrInvalid) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.copyFrom(ctx, f, name, func(*os.File) error { return nil })
}

// copyFrom copies an open file of the source as it is, in one step after a check, and closes
// it. It does so in pieces, so that the copy of a large pack can be interrupted; the kernel
// copies each (copy_file_range) and shares blocks if it can.
func (c *objectCopy) copyFrom(ctx context.Context, f *os.File, name string, check func(*os.File) error) error {
	defer f.Close()
	return createFile(filepath.Join(c.target, name), func(w *os.File) error {
		const piece = 64 << 20
		for n := int64(piece); n == piece; {
			err := ctx.Err()
			if err == nil {
				n, err = io.CopyN(w, f, piece)
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			if err := c.count(n); err != nil {
				return err
			}
		}
		return check(w)
	})
}
