package object

import (
	"bufio"
	"cmp"
	"crypto/sha1"
	"encoding/binary"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"
)

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

// writeEntry writes one object, compressed.
func writeEntry(w io.Writer, kind plumbing.ObjectType, data []byte) error {
	if _, err := w.Write(entryHeader(kind, int64(len(data)))); err != nil {
		return err
	}
	z := zlib.NewWriter(w)
	if _, err := z.Write(data); err != nil {
		return err
	}
	return z.Close()
}

// countingWriter counts the bytes written.
type countingWriter struct {
	w io.Writer
	n int64
}

// Write writes to w.
func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// writePackIndex writes an index of version 2 (gitformat-pack(5)).
func writePackIndex(w io.Writer, objects []packObject, packSum [packTrailer]byte) error {
	order := make([]int32, len(objects))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := objects[a].hash.Compare(objects[b].hash); c != 0 {
			return c
		}
		return cmp.Compare(objects[a].offset, objects[b].offset)
	})
	sum := sha1.New()
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 64<<10) // Flush returns the first error
	put := func(n uint32) { _, _ = out.Write(binary.BigEndian.AppendUint32(out.AvailableBuffer(), n)) }
	_, _ = out.Write(indexMagic)
	at := 0
	for i := range 256 {
		for at < len(order) && int(objects[order[at]].hash[0]) <= i {
			at++
		}
		put(uint32(at))
	}
	for _, i := range order {
		_, _ = out.Write(objects[i].hash[:])
	}
	for _, i := range order {
		put(objects[i].crc)
	}
	const far = 1 << 31
	var long []int64
	for _, i := range order {
		if o := objects[i].offset; o < far {
			put(uint32(o))
			continue
		}
		put(far | uint32(len(long)))
		long = append(long, objects[i].offset)
	}
	for _, o := range long {
		put(uint32(o >> 32))
		put(uint32(o))
	}
	_, _ = out.Write(packSum[:])
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := w.Write(sum.Sum(nil))
	return err
}
