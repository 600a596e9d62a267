package object

import (
	"bufio"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
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
	depth  []int32  // of each object of the pack
	file   *os.File // of the pack; nil without one
	index  idxfile.Writer
	out    *bufio.Writer
	starts []int64 // of each object of the pack
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
	if a.file == nil && len(a.small) < looseAdded && a.bytes+int64(len(data)) <= looseAddedBytes {
		a.at[o.hash] = int32(len(a.small))
		a.small, a.bytes = append(a.small, o), a.bytes+int64(len(data))
		return o.hash, nil
	}
	err := error(nil)
	if a.file == nil {
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
	file, err := os.CreateTemp(dir, "tmp_pack_*.pack")
	if err != nil {
		return err
	}
	a.file, a.out, a.end = file, bufio.NewWriterSize(file, 256<<10), packHeader
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
	depth := int32(0)
	var delta []byte
	from, there := a.at[base.Hash]
	if there && base.Data != nil && len(o.data) >= minDelta && a.depth[from] < maxAddedChain {
		delta = difference(base.Data, o.data)
	}
	head, data := entryHeader(o.kind, int64(len(o.data))), o.data
	if delta != nil && len(delta) <= len(o.data)/2 {
		depth, data = a.depth[from]+1, delta
		head = appendBack(entryHeader(plumbing.OFSDeltaObject, int64(len(delta))), a.end-a.starts[from])
	}
	crc, size := crc32.NewIEEE(), &countingWriter{}
	if err := a.compress(io.MultiWriter(a.out, crc, size), head, data); err != nil {
		return err
	}
	a.index.Add(plumbing.Hash(o.hash), uint64(a.end), crc.Sum32())
	a.at[o.hash] = int32(len(a.starts))
	a.starts, a.depth = append(a.starts, a.end), append(a.depth, depth)
	a.end += size.n
	return nil
}

// entryHeader returns the header of an object in a pack.
func entryHeader(kind plumbing.ObjectType, size int64) []byte {
	b := make([]byte, 0, 10)
	c := byte(kind)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		b = append(b, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(b, c)
}

// appendBack encodes the distance to a base (gitformat-pack(5)).
func appendBack(b []byte, back int64) []byte {
	var tmp [10]byte
	i := len(tmp) - 1
	tmp[i] = byte(back & 0x7f)
	for back >>= 7; back > 0; back >>= 7 {
		back--
		i--
		tmp[i] = byte(back&0x7f) | 0x80
	}
	return append(b, tmp[i:]...)
}

type countingWriter struct{ n int64 }

func (c *countingWriter) Write(p []byte) (int, error) { c.n += int64(len(p)); return len(p), nil }

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
	if a.file == nil {
		for _, o := range a.small {
			if err := writeLoose(a.gitDir, o); err != nil {
				return err
			}
		}
		return nil
	}
	if err := a.storePack(); err != nil {
		return fmt.Errorf("write objects: %w", err)
	}
	return nil
}

// storePack ends the pack with its number of objects and its sum.
func (a *Addition) storePack() error {
	if err := a.out.Flush(); err != nil {
		return err
	}
	if _, err := a.file.WriteAt(binary.BigEndian.AppendUint32(nil, uint32(len(a.starts))), 8); err != nil {
		return err
	}
	whole := sha1.New()
	_, err := a.file.Seek(0, io.SeekStart)
	if err == nil {
		_, err = io.Copy(whole, a.file)
	}
	sum := plumbing.Hash(whole.Sum(nil))
	if err == nil {
		_, err = a.file.Write(sum[:])
	}
	if err == nil {
		err = a.index.OnFooter(sum)
	}
	if err != nil {
		return err
	}
	index := strings.TrimSuffix(a.file.Name(), ".pack") + ".idx"
	if err := writeIndex(index, &a.index); err != nil {
		return err
	}
	return publish(a.file, index, sum)
}

// Close drops what was not stored.
func (a *Addition) Close() {
	if a.file != nil {
		_ = a.file.Close()
		_ = os.Remove(a.file.Name())
		_ = os.Remove(strings.TrimSuffix(a.file.Name(), ".pack") + ".idx")
	}
	*a = *NewAddition(a.gitDir, a.store)
}
