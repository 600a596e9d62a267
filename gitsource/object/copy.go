package object

import (
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

// objectCopy copies objects from one git directory to another. An object is
// written after all objects that it names, so an object that is there is complete,
// also after a crash.
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
	// Limits bound the bytes that are copied; more are a LimitError. The zero value
	// bounds nothing.
	Limits Limits
}

// newObjectCopy prepares a copy from one git directory to another; close ends it.
func newObjectCopy(from Origin, to string) (*objectCopy, error) {
	ends, err := shallowText(from.Dir)
	if err != nil {
		return nil, err
	}
	return &objectCopy{
		from: openDirs(from.Objects), to: openObjects(to), target: filepath.Join(to, "objects"),
		ends: ends, limit: manyObjects, limits: from.Limits, done: map[Hash]struct{}{},
	}, nil
}

func (c *objectCopy) close() { _ = errors.Join(c.from.close(), c.to.close()) }

// Copy copies a commit and the objects that it needs from one git directory to another:
// object by object, or all packs and loose objects if that is cheaper, or if it has none
// yet. Files that it inflated are put into fresh, which may be nil. The error is ErrSource
// if from is incomplete.
func Copy(ctx context.Context, from Origin, to string, tip Hash, fresh *Fresh) error {
	c, err := newObjectCopy(from, to)
	if err != nil {
		return err
	}
	defer c.close()
	c.fresh = fresh
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
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := c.from.read(h, plumbing.CommitObject, commitLimit)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrSource, objectError("commit", h, err))
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
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := c.from.read(h, plumbing.TreeObject, treeLimit)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSource, objectError("directory", h, err))
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

// blobMemory: a larger file is not read into memory; all packs and loose objects
// are copied instead.
const blobMemory = 64 << 20

func (c *objectCopy) blob(ctx context.Context, h Hash) error {
	if c.present(h) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, dir := range c.from.dirs {
		done, err := c.copyLoose(dir, filepath.ToSlash(looseName(h)), h)
		if done || err != nil {
			return err
		}
	}
	data, err := c.from.read(h, plumbing.BlobObject, blobMemory)
	if errors.Is(err, ErrTooLarge) {
		return errMany
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSource, objectError("file", h, err))
	}
	return c.write(h, plumbing.BlobObject, data)
}

// copyLoose copies a loose object's file as it is and checks its id: this costs a
// fifth of compressing it again. A file that a Fresh may keep is read into memory.
func (c *objectCopy) copyLoose(dir, name string, h Hash) (bool, error) {
	f, err := openIn(dir, name)
	if err != nil {
		return false, nil // not loose in this directory
	}
	defer f.Close()
	o := looseObject{file: f}
	var data []byte
	err = c.create(h, func(w *os.File) error {
		to := &ownWriter{w: w}
		err := o.header(io.TeeReader(f, to))
		if err == nil {
			data, err = o.check(h, c.fresh != nil && o.kind == plumbing.BlobObject && o.size <= freshBytes)
		}
		switch {
		case to.err != nil:
			return to.err
		case err != nil:
			err = fmt.Errorf("%w: loose object %s: %w", ErrSource, h, err)
		}
		return err
	})
	if err == nil && data != nil {
		c.fresh.put(h, data)
	}
	return err == nil, err
}

// ownWriter tells errors of our own disk from those of the source.
type ownWriter struct {
	w   io.Writer
	err error
}

// Write writes on.
func (o *ownWriter) Write(p []byte) (n int, err error) {
	n, err = o.w.Write(p)
	o.err = err
	return n, err
}

// write stores an object as a loose file, after checking its id.
func (c *objectCopy) write(h Hash, t plumbing.ObjectType, data []byte) error {
	if is := Hash(plumbing.ComputeHash(t, data)); is != h {
		return fmt.Errorf("%w: object %s has the contents of %s", ErrSource, h, is)
	}
	return c.create(h, func(w *os.File) error { return deflateLoose(w, zlib.BestSpeed, t, data) })
}

// create writes a loose object's file in one step.
func (c *objectCopy) create(h Hash, fill func(*os.File) error) error {
	err := createFile(filepath.Join(c.target, looseName(h)), func(w *os.File) error {
		if err := fill(w); err != nil {
			return err
		}
		size, err := w.Seek(0, io.SeekCurrent)
		return cmp.Or(err, c.count(size))
	})
	if err != nil {
		return err
	}
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
	err = fill(tmp)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// allFiles copies all packs and loose objects that are missing, as git clone does
// for a path. Files are copied, not linked, so that a change to the mirror cannot
// harm the source.
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

// directory copies one objects directory. Loose objects come first, since a repack
// moves them into packs.
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
	target := filepath.Join(c.target, name)
	if _, err := os.Lstat(target); err == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := openIn(dir, filepath.ToSlash(name))
	if errors.Is(err, fs.ErrInvalid) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return createFile(target, func(w *os.File) error {
		// In pieces, so that the copy of a large pack can be interrupted; the
		// kernel copies each (copy_file_range) and shares blocks if it can.
		for {
			n, err := io.CopyN(w, f, 64<<20)
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			if err := cmp.Or(ctx.Err(), c.count(n)); err != nil || n < 64<<20 {
				return err
			}
		}
	})
}
