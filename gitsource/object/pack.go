package object

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"
)

// pack reads objects of one pack (gitformat-pack(5)). An object is inflated to the
// size that it claims and no further, and a chain of deltas is bounded. go-git's
// reader bounds neither, and needs a map of the whole pack. Use by one goroutine.
type pack struct {
	index *packIndex
	dir   string   // the objects directory
	name  string   // of the .pack file in it
	file  *os.File // nil until the first read
	in    *bufio.Reader
	z     io.ReadCloser
	cache *blobCache
}

const (
	// maxChain bounds chains of deltas; git makes up to 4095.
	maxChain = 4096
	// baseRoom bounds the bytes of an object's bases and deltas in memory, if it
	// is more than twice the limit for the object itself.
	baseRoom = 64 << 20
)

// openPack reads the index of a pack; the pack itself is opened when needed.
func openPack(dir, name string, cache *blobCache, indexes *Fresh) (*pack, error) {
	index, err := indexes.index(dir, strings.TrimSuffix(name, ".pack")+".idx")
	return &pack{index: index, dir: dir, name: name, cache: cache}, err
}

func (p *pack) close() error {
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	p.file = nil
	return err
}

// entry is the header of one object in a pack.
type entry struct {
	kind plumbing.ObjectType
	size int64 // of the inflated object or delta
	base int64 // offset of the base of an offset delta
	ref  Hash  // id of the base of a reference delta
}

func (e entry) delta() bool { return e.kind.IsDelta() }

// readEntry reads the header of the object at an offset, after which the reader is at its data.
func readEntry(in *bufio.Reader, offset int64) (entry, error) {
	b, err := in.ReadByte()
	if err != nil {
		return entry{}, unexpectedEOF(err)
	}
	e := entry{kind: plumbing.ObjectType(b >> 4 & 7), size: int64(b & 15)}
	for shift := 4; b&0x80 != 0; shift += 7 {
		if b, err = in.ReadByte(); err != nil || shift > 55 {
			return entry{}, errors.New("header is cut or too long")
		}
		e.size |= int64(b&0x7f) << shift
	}
	switch e.kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		e.base, err = baseOffset(in, offset)
	case plumbing.REFDeltaObject:
		_, err = io.ReadFull(in, e.ref[:])
	default:
		err = fmt.Errorf("object of type %d", e.kind)
	}
	return e, unexpectedEOF(err)
}

func (p *pack) corrupt(offset int64, format string, args ...any) error {
	return fmt.Errorf("%w: pack at %d: %w", ErrCorrupt, offset, fmt.Errorf(format, args...))
}

// seek moves the reader to an offset.
func (p *pack) seek(offset int64) error {
	if p.file == nil {
		f, err := openIn(p.dir, p.name)
		if err != nil {
			return err
		}
		p.file = f
	}
	at := io.NewSectionReader(p.file, offset, 1<<62-offset)
	if p.in == nil {
		p.in = bufio.NewReaderSize(at, 4<<10)
	} else {
		p.in.Reset(at)
	}
	return nil
}

// header reads the header of the object at an offset. The reader is at the object's
// data afterwards. The base of a reference delta is looked up in the index.
func (p *pack) header(offset int64) (entry, error) {
	if err := p.seek(offset); err != nil {
		return entry{}, err
	}
	e, err := readEntry(p.in, offset)
	if err == nil && e.kind == plumbing.REFDeltaObject {
		var ok bool
		if e.base, ok = p.index.find(e.ref); !ok {
			err = errors.New("the base of a delta is missing")
		}
	}
	if err != nil {
		return entry{}, p.corrupt(offset, "%w", err)
	}
	return e, nil
}

// baseOffset reads the distance to the base of an offset delta, and returns the base's offset.
func baseOffset(in *bufio.Reader, offset int64) (int64, error) {
	b, err := in.ReadByte()
	back := int64(b & 0x7f)
	for err == nil && b&0x80 != 0 {
		if back > 1<<54 {
			return 0, errors.New("the base of a delta is out of reach")
		}
		b, err = in.ReadByte()
		back = (back+1)<<7 | int64(b&0x7f)
	}
	if err == nil && (back <= 0 || back >= offset) {
		err = errors.New("the base of a delta is out of reach")
	}
	return offset - back, err
}

// inflate reads the data after a header, or only the first n bytes of it.
func (p *pack) inflate(size, n int64) ([]byte, error) {
	var err error
	if p.z, err = inflater(p.z, p.in); err != nil {
		return nil, err
	}
	data := make([]byte, min(size, n))
	if _, err := io.ReadFull(p.z, data); err != nil {
		return nil, unexpectedEOF(err)
	}
	if n < size {
		return data, nil
	}
	var more [1]byte
	if k, err := p.z.Read(more[:]); k > 0 || !errors.Is(err, io.EOF) {
		return nil, errors.Join(errors.New("object is not as long as its header says"), err)
	}
	return data, nil
}

// inflater makes z inflate in; nil: a new reader.
func inflater(z io.ReadCloser, in io.Reader) (io.ReadCloser, error) {
	var err error
	if z == nil {
		z, err = zlib.NewReader(in)
	} else {
		err = z.(zlib.Resetter).Reset(in, nil)
	}
	return z, unexpectedEOF(err)
}

// size returns an object's length, from its header or from the start of its delta.
func (p *pack) size(offset int64) (int64, error) {
	if o, ok := p.cache.get(p, offset); ok {
		return int64(len(o.data)), nil
	}
	e, err := p.header(offset)
	if err != nil || !e.delta() {
		return e.size, err
	}
	head, err := p.inflate(e.size, 20)
	_, size, _, ok := deltaSizes(head)
	if err == nil && !ok {
		err = errDelta
	}
	if err != nil {
		return 0, p.corrupt(offset, "%w", err)
	}
	return size, nil
}

// object reads the object at an offset, if it is no longer than limit: else the error
// is ErrTooLarge. The slice belongs to the cache: do not write to it.
func (p *pack) object(offset, limit int64) (plumbing.ObjectType, []byte, error) {
	c := chain{held: max(2*limit, baseRoom)}
	if err := p.follow(&c, offset, limit); err != nil {
		return 0, nil, err
	}
	data := c.root
	var room, spare []byte // for objects that are not kept
	for i := len(c.links) - 1; i >= 0; i-- {
		_, size, _, ok := deltaSizes(c.links[i].delta)
		if !ok {
			return 0, nil, p.corrupt(c.links[i].offset, "%w", errDelta)
		}
		if size > max(2*limit, baseRoom) {
			return 0, nil, p.corrupt(offset, "it is made from more than can be held: %w", ErrTooLarge)
		}
		keep := int(size) <= smallBase || i <= nearBases || i%farBases == 0
		if size > largeBase {
			keep = i == 1 || i > 0 && i%farLargeBases == 0
		}
		if keep {
			room = nil
		}
		var err error
		if data, err = patch(room, data, c.links[i].delta); err != nil {
			return 0, nil, p.corrupt(c.links[i].offset, "%w", err)
		}
		if keep {
			p.cache.put(p, c.links[i].offset, cached{c.kind, data, size > largeBase && i == 1})
			continue
		}
		room, spare = spare, data
	}
	return c.kind, data, nil
}

// chain is what an object is made of: a root, and deltas to apply to it, the last one first.
type chain struct {
	kind  plumbing.ObjectType
	root  []byte
	links []link
	held  int64 // bytes that it may still have
}

type link struct {
	offset int64
	delta  []byte
}

// bounded returns ErrTooLarge if a size is that of the object and more than the limit.
func (c *chain) bounded(size, limit int64) error {
	if len(c.links) > 0 {
		return nil
	}
	return tooLarge(size, limit)
}

// follow reads the chain of the object at an offset, up to the first base in the cache.
func (p *pack) follow(c *chain, offset, limit int64) error {
	for at := offset; ; {
		if o, ok := p.cache.get(p, at); ok {
			if o.once && at == offset {
				p.cache.drop(p, at)
			}
			c.kind, c.root = o.kind, o.data
			return c.bounded(int64(len(o.data)), limit)
		}
		e, err := p.header(at)
		if err != nil {
			return err
		}
		if !e.delta() {
			if err := c.bounded(e.size, limit); err != nil {
				return err
			}
		}
		if c.held -= e.size; c.held < 0 || len(c.links) > maxChain {
			return p.corrupt(offset, "it is made from more than can be held: %w", ErrTooLarge)
		}
		data, err := p.inflate(e.size, e.size)
		if err != nil {
			return p.corrupt(at, "%w", err)
		}
		if !e.delta() {
			c.kind, c.root = e.kind, data
			p.cache.put(p, at, cached{e.kind, data, false})
			return nil
		}
		if _, size, _, ok := deltaSizes(data); ok {
			if err := c.bounded(size, limit); err != nil {
				return err
			}
		}
		c.links = append(c.links, link{at, data})
		at = e.base
	}
}

const (
	// nearBases is the number of an object's bases that are kept. Git makes older
	// versions from newer ones, so a walk through history needs these next; a
	// whole long chain would push the bases of other files out. Its root is kept.
	nearBases = 3
	// farBases: every so many-th of the bases further away is kept, to walk on from.
	farBases = 8
	// smallBase is the length up to which every base is kept.
	smallBase = 16 << 10
	// largeBase is the length from which only the next base is kept, until it was read itself,
	// and every farLargeBases-th: with more of them, those of a dozen files of a megabyte
	// push each other out before they are used.
	largeBase, farLargeBases = 512 << 10, 24
)

// blobCache keeps inflated objects, which are the bases of their neighbours in history. It has
// two generations: an object that is not read while it is in the old one is dropped with it.
type blobCache struct {
	young, old map[packed]cached
	bytes      int // of young
	limit      int // in bytes
}

type packed struct {
	pack   *pack
	offset int64
}

// cached is an inflated object.
type cached struct {
	kind plumbing.ObjectType
	data []byte
	once bool // it is forgotten when it was read as an object
}

// setLimit bounds the bytes, and empties the cache; 0 is objectCache.
func (c *blobCache) setLimit(bytes int) { *c = blobCache{limit: cmp.Or(bytes, objectCache)} }

func (c *blobCache) get(p *pack, offset int64) (cached, bool) {
	key := packed{p, offset}
	if o, ok := c.young[key]; ok {
		return o, true
	}
	o, ok := c.old[key]
	if ok {
		c.put(p, offset, o)
	}
	return o, ok
}

// drop forgets an object.
func (c *blobCache) drop(p *pack, offset int64) {
	key := packed{p, offset}
	if o, ok := c.young[key]; ok {
		c.bytes -= len(o.data) + overhead
	}
	delete(c.young, key)
	delete(c.old, key)
}

// overhead is what an object in a cache takes besides its bytes.
const overhead = 100

func (c *blobCache) put(p *pack, offset int64, o cached) {
	size := len(o.data) + overhead
	if len(o.data) > c.limit/4 {
		return
	}
	if c.young == nil || c.bytes+size > c.limit/2 {
		c.old, c.young, c.bytes = c.young, map[packed]cached{}, 0
	}
	c.young[packed{p, offset}] = o
	c.bytes += size
}

// packIndex is a pack's index, version 2 (gitformat-pack(5)), as bytes of the file. go-git
// builds a map of all offsets, which costs more than the rest of a small pull.
type packIndex struct {
	data []byte
	n    int // objects
}

// maxIndex bounds an index; 1 GiB is 30 million objects.
const maxIndex = 1 << 30

const (
	fanoutAt = 8
	namesAt  = fanoutAt + 256*4
)

var indexMagic = []byte("\xfftOc\x00\x00\x00\x02")

func readPackIndex(dir, name string) (*packIndex, error) {
	f, err := openIn(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxIndex {
		return nil, fmt.Errorf("%w: pack index has %d bytes", ErrCorrupt, info.Size())
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("%w: pack index: %w", ErrCorrupt, err)
	}
	x, err := parsePackIndex(data)
	return &x, err
}

// parsePackIndex checks that all tables are there.
func parsePackIndex(data []byte) (packIndex, error) {
	if len(data) < namesAt+40 || !bytes.HasPrefix(data, indexMagic) {
		return packIndex{}, fmt.Errorf("%w: pack index is cut or not of version 2; git gc writes a new one", ErrCorrupt)
	}
	x := packIndex{data: data}
	last := 0
	for i := range 256 {
		at := x.fanout(i)
		if at < last {
			return packIndex{}, fmt.Errorf("%w: pack index is not sorted", ErrCorrupt)
		}
		last = at
	}
	x.n = last
	if len(data) < namesAt+x.n*28+40 {
		return packIndex{}, fmt.Errorf("%w: pack index is cut", ErrCorrupt)
	}
	return x, nil
}

// fanout returns the number of ids whose first byte is at most i.
func (x packIndex) fanout(i int) int {
	return int(binary.BigEndian.Uint32(x.data[fanoutAt+4*i:]))
}

// find returns the offset of an object in the pack.
func (x packIndex) find(h Hash) (offset int64, ok bool) {
	low := 0
	if h[0] > 0 {
		low = x.fanout(int(h[0]) - 1)
	}
	i, ok := sort.Find(x.fanout(int(h[0]))-low, func(i int) int {
		at := namesAt + len(h)*(low+i)
		return bytes.Compare(h[:], x.data[at:at+len(h)])
	})
	if !ok {
		return 0, false
	}
	return x.offset(low + i)
}

// offset reads the table of offsets: 31 bits, or a position in the table of 64-bit offsets.
func (x packIndex) offset(i int) (int64, bool) {
	short := binary.BigEndian.Uint32(x.data[namesAt+24*x.n+4*i:])
	if short&(1<<31) == 0 {
		return int64(short), true
	}
	at := namesAt + 28*x.n + 8*int(short&^(1<<31))
	if at+8 > len(x.data)-40 {
		return 0, false
	}
	long := binary.BigEndian.Uint64(x.data[at:])
	return int64(long & (1<<63 - 1)), true
}
