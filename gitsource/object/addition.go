package object

import (
	"bufio"
	"crypto/sha1"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"
)

const (
	// looseAdded and looseAddedBytes bound what an Addition stores as loose objects.
	looseAdded      = 16
	looseAddedBytes = 4 << 20
	// maxAddedChain is how many deltas an object of an Addition is made of: git's
	// pack.depth, so that git sends them as they are.
	maxAddedChain = 50
	// minDelta is the least length of an object that is stored as a delta.
	minDelta = 512
)

// Addition adds objects to a git directory, all at once and durably: a few as loose files,
// more in one pack, where a new version of a large object is stored as its difference from
// the last one. Syncing each object by itself took most of the time of many commits.
type Addition struct {
	gitDir string
	store  *Store
	sum    hash.Hash
	z      *zlib.Writer
	small  []addedObject
	bytes  int64 // of small
	at     map[Hash]int32
	depth  []int32 // of each object of the pack
	x      *packIndexer
	out    *bufio.Writer
	end    int64
}

type addedObject struct {
	kind plumbing.ObjectType
	hash Hash
	data []byte
}

// NewAddition begins an addition to a git directory, of which nothing is seen before Store.
// What the store has is not added.
func NewAddition(gitDir string, store *Store) *Addition {
	return &Addition{gitDir: gitDir, store: store, sum: sha1.New(), at: map[Hash]int32{}}
}

// Base is an object that another one is stored as a difference from; the zero Base is none.
type Base struct {
	Hash Hash
	Data []byte
}

// Blob adds a file's contents and returns the id.
func (a *Addition) Blob(data []byte, base Base) (Hash, error) {
	return a.add(plumbing.BlobObject, data, base)
}

// Tree adds a directory, as git stores it.
func (a *Addition) Tree(data []byte, base Base) (Hash, error) {
	return a.add(plumbing.TreeObject, data, base)
}

// Commit adds a commit, as git stores it.
func (a *Addition) Commit(data []byte) (Hash, error) {
	return a.add(plumbing.CommitObject, data, Base{})
}

// add adds an object, unless it is there. The data must not change afterwards.
func (a *Addition) add(kind plumbing.ObjectType, data []byte, base Base) (Hash, error) {
	o := addedObject{kind: kind, data: data}
	objectSum(a.sum, kind, int64(len(data)))
	a.sum.Write(data)
	a.sum.Sum(o.hash[:0])
	if _, ok := a.at[o.hash]; ok || a.store.Has(o.hash) {
		return o.hash, nil
	}
	if a.x == nil && len(a.small) < looseAdded && a.bytes+int64(len(data)) <= looseAddedBytes {
		a.at[o.hash] = int32(len(a.small))
		a.small, a.bytes = append(a.small, o), a.bytes+int64(len(data))
		return o.hash, nil
	}
	err := error(nil)
	if a.x == nil {
		err = a.spill()
	}
	if err == nil {
		err = a.pack(o, base)
	}
	if err != nil {
		return o.hash, fmt.Errorf("write %s %s: %w", kind, o.hash, err)
	}
	return o.hash, nil
}

// spill begins the pack with the objects so far.
func (a *Addition) spill() error {
	dir := filepath.Join(a.gitDir, "objects", "pack")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, "tmp_pack_*")
	if err != nil {
		return err
	}
	a.x, a.out, a.end = &packIndexer{file: file, completed: true}, bufio.NewWriterSize(file, 256<<10), packHeader
	if _, err := a.out.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x00"); err != nil {
		return err
	}
	small := a.small
	a.small, a.at = nil, make(map[Hash]int32, len(small))
	for _, o := range small {
		if err := a.pack(o, Base{}); err != nil {
			return err
		}
	}
	return nil
}

// pack writes an object into the pack.
func (a *Addition) pack(o addedObject, base Base) error {
	w := &countingWriter{w: a.out}
	depth := int32(0)
	var delta []byte
	from, there := a.at[base.Hash]
	if there && base.Data != nil && len(o.data) >= minDelta && a.depth[from] < maxAddedChain {
		delta = difference(base.Data, o.data)
	}
	head, data := entryHeader(o.kind, int64(len(o.data))), o.data
	if delta != nil && len(delta) <= len(o.data)/2 {
		depth, data = a.depth[from]+1, delta
		head = appendBack(entryHeader(plumbing.OFSDeltaObject, int64(len(delta))), a.end-a.x.objects[from].offset)
	}
	if err := a.compress(w, head, data); err != nil {
		return err
	}
	a.at[o.hash] = int32(len(a.x.objects))
	a.x.objects, a.depth = append(a.x.objects, packObject{offset: a.end, hash: o.hash}), append(a.depth, depth)
	a.end += w.n
	return nil
}

// compress writes an entry of the pack. A compressor takes a megabyte, so there is one.
func (a *Addition) compress(w io.Writer, head, data []byte) error {
	if _, err := w.Write(head); err != nil {
		return err
	}
	if a.z == nil {
		a.z = zlib.NewWriter(w)
	}
	a.z.Reset(w)
	if _, err := a.z.Write(data); err != nil {
		return err
	}
	return a.z.Close()
}

// Empty reports whether nothing waits to be stored.
func (a *Addition) Empty() bool { return len(a.at) == 0 }

// Store makes the objects a part of the git directory. When it returns, they survive a
// crash. The Addition is empty afterwards.
func (a *Addition) Store() error {
	defer a.Close()
	if a.x == nil {
		for _, o := range a.small {
			if err := writeLoose(a.gitDir, o); err != nil {
				return err
			}
		}
		return nil
	}
	if err := a.out.Flush(); err != nil {
		return fmt.Errorf("write objects: %w", err)
	}
	a.x.end = a.end
	sum, err := a.x.checksums()
	if err == nil {
		err = a.x.publish(filepath.Join(a.gitDir, "objects", "pack"), sum)
	}
	if err != nil {
		return fmt.Errorf("write objects: %w", err)
	}
	return nil
}

// Close drops what was not stored.
func (a *Addition) Close() {
	if a.x != nil {
		_ = a.x.file.Close()
		_ = os.Remove(a.x.file.Name())
	}
	*a = *NewAddition(a.gitDir, a.store)
}
