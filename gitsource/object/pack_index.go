package object

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sort"
)

// packIndex is a pack's index, version 2 (gitformat-pack(5)), as bytes of the
// file. go-git builds a map of all offsets, which costs more than the rest of a
// small pull.
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
	if err != nil {
		return nil, err
	}
	return &x, nil
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

// offset reads the table of offsets: 31 bits, or a position in the table of 64-bit
// offsets.
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
