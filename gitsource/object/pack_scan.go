package object

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sort"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// packObject is one object of a pack that is being indexed.
type packObject struct {
	offset int64
	hash   Hash
	crc    uint32
	base   int32 // index of the base of an offset delta, otherwise none or byName
	kind   int8  // plumbing.ObjectType; a delta has it once it is resolved
	known  bool  // hash and kind are known
}

const (
	none   int32 = -1
	byName int32 = -2
)

// packIndexer finds out which objects a pack file holds: scan, then resolve.
type packIndexer struct {
	file    *os.File
	size    int64 // of the file
	limits  Limits
	harm    bool     // trees that may harm are an error
	borrow  *objects // has the bases that the pack lacks
	objects []packObject
	refs    map[Hash][]int32 // reference deltas, by their base
	largest int64            // bytes of the largest object that is no delta
	end     int64            // offset after the last object

	completed bool // objects were added at the end

	first, children []int32 // offset deltas on object i: children[first[i]:first[i+1]]
}

// scan reads the objects one after the other: their offsets, and the ids of the
// objects that are no deltas. It keeps only this list in memory.
func (x *packIndexer) scan(ctx context.Context) error {
	s := &packScan{ctx: ctx, in: io.NewSectionReader(x.file, 0, x.size-packTrailer)}
	s.buffer = bufio.NewReaderSize(s, 128<<10)
	head := make([]byte, packHeader)
	if _, err := io.ReadFull(s.buffer, head); err != nil {
		return unexpectedEOF(err)
	}
	count := int(uint32(head[8])<<24 | uint32(head[9])<<16 | uint32(head[10])<<8 | uint32(head[11]))
	for i := range count {
		o, err := x.object(s)
		if err != nil {
			return fmt.Errorf("object %d of %d, at %d: %w", i+1, count, o.offset, err)
		}
		x.objects = append(x.objects, o)
	}
	if x.end = s.offset(); x.end != x.size-packTrailer {
		return errors.New("more follows after its last object")
	}
	return nil
}

// packScan reads a pack from its beginning to its end and knows the offset.
type packScan struct {
	ctx    context.Context
	in     io.Reader
	n      int64
	buffer *bufio.Reader
	z      io.ReadCloser
	sum    hash.Hash
	copier []byte
	tree   bytes.Buffer
}

// Read reads on, until the context is done.
func (s *packScan) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.in.Read(p)
	s.n += int64(n)
	return n, err
}

func (s *packScan) offset() int64 { return s.n - int64(s.buffer.Buffered()) }

// data inflates the data of an object into w.
func (s *packScan) data(w io.Writer, size int64) error {
	if s.copier == nil {
		s.copier = make([]byte, 32<<10)
	}
	var err error
	if s.z, err = inflater(s.z, s.buffer); err != nil {
		return err
	}
	n, err := io.CopyBuffer(writerOnly{w}, io.LimitReader(s.z, size+1), s.copier)
	if err != nil {
		return unexpectedEOF(err)
	}
	if n != size {
		return errors.New("it is not as long as its header says")
	}
	return nil
}

// object reads one object.
func (x *packIndexer) object(s *packScan) (packObject, error) {
	o := packObject{offset: s.offset(), base: none}
	e, err := readEntry(s.buffer, o.offset)
	if err != nil {
		return o, err
	}
	if e.delta() && e.size > x.limits.Whole {
		return o, LimitError(fmt.Sprintf("a delta of %d bytes, of %d at most", e.size, x.limits.Whole))
	}
	switch e.kind {
	case plumbing.OFSDeltaObject:
		i := sort.Search(len(x.objects), func(i int) bool { return x.objects[i].offset >= e.base })
		if i == len(x.objects) || x.objects[i].offset != e.base {
			return o, errors.New("no object begins where the base of a delta should")
		}
		o.base = int32(i)
		return o, s.data(io.Discard, e.size)
	case plumbing.REFDeltaObject:
		if x.refs == nil {
			x.refs = map[Hash][]int32{}
		}
		x.refs[e.ref] = append(x.refs[e.ref], int32(len(x.objects)))
		o.base = byName
		return o, s.data(io.Discard, e.size)
	}
	if s.sum == nil {
		s.sum = sha1.New()
	}
	objectSum(s.sum, e.kind, e.size)
	w := io.Writer(s.sum)
	check := x.harm && e.kind == plumbing.TreeObject
	if check && e.size > treeLimit {
		return o, LimitError(fmt.Sprintf("a directory of %d bytes, of %d at most", e.size, treeLimit))
	}
	if check {
		s.tree.Reset()
		w = io.MultiWriter(s.sum, &s.tree)
	}
	if err := s.data(w, e.size); err != nil {
		return o, err
	}
	x.largest = max(x.largest, e.size)
	s.sum.Sum(o.hash[:0])
	o.kind, o.known = int8(e.kind), true
	if check {
		return o, checkTree(o.hash, s.tree.Bytes())
	}
	return o, nil
}

// objectSum starts the hash of an object with its header.
func objectSum(sum hash.Hash, kind plumbing.ObjectType, size int64) {
	var head [looseHeader]byte
	b := append(head[:0], kind.Bytes()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, size, 10)
	sum.Reset()
	sum.Write(append(b, 0))
}
