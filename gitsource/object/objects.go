package object

import (
	"crypto/sha1" // git ids objects with it
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	// objectCache bounds the bytes of inflated objects that are kept; delta
	// chains of large PO files are slow with less.
	objectCache = 48 << 20
	// treeLimit and commitLimit bound the bytes of trees and commits, a few MiB in reality.
	treeLimit   = 64 << 20
	commitLimit = 16 << 20
	// maxAlternates bounds the chain of objects/info/alternates (git allows a depth of 5).
	maxAlternates = 32
)

// objects reads the objects of a git directory and of the directories in its alternates. It
// shows the objects that were there at the first read. Use by one goroutine.
type objects struct {
	dirs    []string // objects directories
	open    bool     // loose and packs are filled in
	loose   map[Hash]string
	packs   []*pack
	cache   blobCache
	fresh   map[Hash][]byte // checked files, which Store.Lend gave
	indexes *Fresh          // shares indexes of packs; or nil
	sum     hash.Hash
}

// openObjects opens the objects directory of gitDir and its alternates, and lists nothing yet.
func openObjects(gitDir string) *objects {
	return openDirs(ObjectDirs(gitDir))
}

// openDirs opens some objects directories.
func openDirs(dirs []string) *objects {
	o := &objects{dirs: dirs}
	o.cache.setLimit(0)
	return o
}

// list finds out which loose objects and packs there are, so that looking for an
// object that is not loose costs no system call.
func (o *objects) list() error {
	if o.open {
		return nil
	}
	o.loose = map[Hash]string{}
	for _, dir := range o.dirs {
		if err := eachLoose(dir, func(name string, h Hash) error {
			o.loose[h] = dir
			return nil
		}); err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		names, err := packNames(dir)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		for _, name := range names {
			p, err := openPack(dir, "pack/"+name, &o.cache, o.indexes)
			if errors.Is(err, fs.ErrNotExist) {
				continue // repacked in the meantime, or its index is not written yet
			}
			if err != nil {
				return err
			}
			o.packs = append(o.packs, p)
		}
	}
	o.open = true
	return nil
}

// eachLoose calls fn for each loose object of an objects directory; name is its path in dir.
func eachLoose(dir string, fn func(name string, h Hash) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if len(e.Name()) != 2 || !e.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(dir, e.Name()))
		if err != nil {
			continue // not a directory, or gone with its last object
		}
		for _, f := range files {
			h, err := ParseHash(e.Name() + f.Name())
			if err != nil {
				continue
			}
			if err := fn(filepath.Join(e.Name(), f.Name()), h); err != nil {
				return err
			}
		}
	}
	return nil
}

// packNames lists the packs of an objects directory.
func packNames(dir string) ([]string, error) {
	name := filepath.Join(dir, "pack")
	if info, err := os.Lstat(name); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("pack: %w", fs.ErrInvalid)
	}
	files, err := os.ReadDir(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, f := range files {
		if strings.HasPrefix(f.Name(), "pack-") && strings.HasSuffix(f.Name(), ".pack") {
			names = append(names, f.Name())
		}
	}
	return names, nil
}

// ObjectDirs returns the objects directory of a git directory and those that its alternates
// name (gitrepository-layout(5)); relative lines are relative to the directory with the file.
func ObjectDirs(gitDir string) []string {
	dirs := []string{filepath.Join(gitDir, "objects")}
	for i := 0; i < len(dirs) && len(dirs) < maxAlternates; i++ {
		text, err := ReadText(dirs[i], "info/alternates")
		if err != nil {
			continue
		}
		for line := range strings.SplitSeq(text, "\n") {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(dirs[i], line)
			}
			if info, err := os.Stat(line); err == nil && info.IsDir() && !slices.Contains(dirs, line) {
				dirs = append(dirs, line)
			}
		}
	}
	return dirs
}

func (o *objects) close() error {
	var err error
	for _, p := range o.packs {
		err = errors.Join(err, p.close())
	}
	return err
}

// findPacked returns the pack that has an object.
func (o *objects) findPacked(h Hash) (*pack, int64, error) {
	for _, p := range o.packs {
		if offset, ok := p.index.find(h); ok {
			return p, offset, nil
		}
	}
	return nil, 0, ErrUnknownObject
}

// findLoose opens an object if it is loose; nil if it is not, or no longer.
func (o *objects) findLoose(h Hash) (*looseObject, error) {
	dirs := o.dirs // what was just pushed is loose: listing all others takes longer
	if o.open {
		dir, ok := o.loose[h]
		if !ok {
			return nil, nil
		}
		dirs = []string{dir}
	}
	for _, dir := range dirs {
		if loose, err := openLoose(dir, h); !errors.Is(err, fs.ErrNotExist) {
			return loose, err
		}
	}
	return nil, o.list()
}

func (o *objects) has(h Hash) bool {
	if o.list() != nil {
		return false
	}
	if _, ok := o.loose[h]; ok {
		return true
	}
	_, _, err := o.findPacked(h)
	return err == nil
}

// size returns the length of an object in bytes, from its header.
func (o *objects) size(h Hash) (int64, error) {
	loose, err := o.findLoose(h)
	if err != nil {
		return 0, err
	}
	if loose != nil {
		return loose.size, loose.close()
	}
	p, offset, err := o.findPacked(h)
	if err != nil {
		return 0, err
	}
	return p.size(offset)
}

// emptyTree is a directory without files: git does not always store it.
var emptyTree = Hash(plumbing.ComputeHash(plumbing.TreeObject, nil))

// read returns the whole object, if it is of type want and no longer than limit; the length is
// read before anything is inflated. The slice may be shared: do not write to it.
func (o *objects) read(h Hash, want plumbing.ObjectType, limit int64) ([]byte, error) {
	if h == emptyTree && want == plumbing.TreeObject {
		return nil, nil
	}
	if data, ok := o.fresh[h]; ok && want == plumbing.BlobObject && int64(len(data)) <= limit {
		return data, nil
	}
	kind, data, err := o.readAny(h, limit)
	if err != nil {
		return nil, err
	}
	if kind != want {
		return nil, fmt.Errorf("is a %s, want a %s: %w", kind, want, ErrUnknownObject)
	}
	return data, o.checkID(h, kind, data)
}

// checkID compares an object with its id: zlib's checksums find flipped bits in compressed
// data, but one in an index, or in the offset of a delta's base, gives another object.
func (o *objects) checkID(h Hash, kind plumbing.ObjectType, data []byte) error {
	if o.sum == nil {
		o.sum = sha1.New()
	}
	objectSum(o.sum, kind, int64(len(data)))
	o.sum.Write(data)
	var is Hash
	if o.sum.Sum(is[:0]); is != h {
		return fmt.Errorf("%w: it has the contents of %s", ErrCorrupt, is)
	}
	return nil
}

// readAny returns an object of any type, if it is no longer than limit.
func (o *objects) readAny(h Hash, limit int64) (plumbing.ObjectType, []byte, error) {
	loose, err := o.findLoose(h)
	if err != nil {
		return 0, nil, err
	}
	if loose != nil {
		defer loose.close()
		if err := tooLarge(loose.size, limit); err != nil {
			return 0, nil, err
		}
		data, err := loose.read(loose.in)
		return loose.kind, data, err
	}
	p, offset, err := o.findPacked(h)
	if err != nil {
		return 0, nil, err
	}
	return p.object(offset, limit)
}

func tooLarge(size, limit int64) error {
	if size > limit {
		return fmt.Errorf("%d bytes, limit %d: %w", size, limit, ErrTooLarge)
	}
	return nil
}

// freshBytes bounds the files in a Fresh.
const freshBytes = 64 << 20

// Fresh keeps files that a copy has inflated and checked, for the Store that reads them next: a
// push of one large file inflates it once. It also has the indexes of packs that are open, for
// all Stores of one directory. It is safe for concurrent use. A nil Fresh keeps nothing.
type Fresh struct {
	mu      sync.Mutex
	blobs   map[Hash][]byte
	bytes   int
	indexes map[string]weak.Pointer[packIndex] // by path
}

// index reads the index of a pack, which is named by its contents, unless a Store has it.
func (f *Fresh) index(dir, name string) (*packIndex, error) {
	if f == nil {
		return readPackIndex(dir, name)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	path := filepath.Join(dir, name)
	if x := f.indexes[path].Value(); x != nil {
		return x, nil
	}
	maps.DeleteFunc(f.indexes, func(_ string, x weak.Pointer[packIndex]) bool { return x.Value() == nil })
	x, err := readPackIndex(dir, name)
	if err != nil {
		return nil, err
	}
	if f.indexes == nil {
		f.indexes = map[string]weak.Pointer[packIndex]{}
	}
	f.indexes[path] = weak.Make(x)
	return x, nil
}

func (f *Fresh) put(h Hash, data []byte) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bytes+len(data) > freshBytes {
		return
	}
	if f.blobs == nil {
		f.blobs = map[Hash][]byte{}
	}
	f.blobs[h] = data
	f.bytes += len(data)
}

// take returns everything that was kept, and forgets it.
func (f *Fresh) take() map[Hash][]byte {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	blobs := f.blobs
	f.blobs, f.bytes = nil, 0
	return blobs
}

// Lend gives the Store the files in a Fresh, which forgets them, and the indexes.
func (s *Store) Lend(f *Fresh) { s.objects.fresh, s.objects.indexes = f.take(), f }
