package store

import (
	"encoding/binary"
	"errors"

	"github.com/repoglot/repoglot/catalog"
)

// blockUnits is the number of live units in a layout block. Only the last block of
// a translation has fewer.
const blockUnits = 256

var errLayout = errors.New("a layout block is damaged: restore a backup, or move the database away and import anew")

// encodeBlock writes each unit as its difference from the one before: most ids and
// positions rise by one, and locations share a prefix. A string inserted at the
// top of a file changes one number per block.
func encodeBlock(placed []catalog.UnitPosition) []byte {
	b := binary.AppendUvarint(nil, uint64(len(placed)))
	var last catalog.UnitPosition
	for _, p := range placed {
		b = binary.AppendVarint(b, p.ID-last.ID)
		b = binary.AppendVarint(b, int64(p.Position-last.Position))
		shared := commonPrefix(last.Location, p.Location)
		b = binary.AppendUvarint(b, uint64(shared))
		b = binary.AppendUvarint(b, uint64(len(p.Location)-shared))
		b = append(b, p.Location[shared:]...)
		last = p
	}
	return b
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// decodeBlock is the inverse of encodeBlock. On damaged bytes it does not panic,
// and it allocates in proportion to their length.
func decodeBlock(b []byte) ([]catalog.UnitPosition, error) { return decodeRange(b, 0, blockUnits) }

// decodeRange decodes the units [from, to) of a block, as far as they exist. It
// allocates no strings for the others.
func decodeRange(b []byte, from, to int) ([]catalog.UnitPosition, error) {
	r := blockReader{b: b}
	n := int(min(r.uvarint(), blockUnits+1))
	if n > blockUnits {
		return nil, errLayout
	}
	out := make([]catalog.UnitPosition, 0, max(0, min(n, to)-from))
	var p catalog.UnitPosition
	var location []byte
	same := false // location equals p.Location
	for i := range n {
		p.ID += r.varint()
		p.Position += int(r.varint())
		shared := r.uvarint()
		rest := r.bytes(r.uvarint())
		if r.bad || shared > uint64(len(location)) {
			return nil, errLayout
		}
		same = same && int(shared) == len(location) && len(rest) == 0
		location = append(location[:shared], rest...)
		if from <= i && i < to {
			if !same {
				p.Location, same = string(location), true
			}
			out = append(out, p)
		}
	}
	if r.bad || len(r.b) > 0 {
		return nil, errLayout
	}
	return out, nil
}

// decodeIDs calls fn for the ids of a block, without decoding locations. On
// damaged bytes it does not panic.
func decodeIDs(b []byte, fn func(int64)) error {
	r := blockReader{b: b}
	n := r.uvarint()
	if n > blockUnits {
		return errLayout
	}
	var id int64
	for range n {
		id += r.varint()
		r.varint()
		r.uvarint()
		r.bytes(r.uvarint())
		if r.bad {
			return errLayout
		}
		fn(id)
	}
	if r.bad || len(r.b) > 0 {
		return errLayout
	}
	return nil
}

// blockReader reads numbers and bytes; bad is set when the input ends early.
type blockReader struct {
	b   []byte
	bad bool
}

func (r *blockReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	return skip(r, v, n)
}

func (r *blockReader) varint() int64 {
	v, n := binary.Varint(r.b)
	return skip(r, v, n)
}

func skip[T uint64 | int64](r *blockReader, v T, n int) T {
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *blockReader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}
