package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

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

// decodeRange decodes the units [from, to) of a block, as far as they exist. It
// allocates no strings for the others. On damaged bytes it does not panic, and it
// allocates in proportion to their length.
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

// codec compresses stored bytes. It is safe for concurrent use.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// maxInflated limits what a corrupt or hostile database can make us allocate. PO
// files that max_file_size allows are far smaller.
const maxInflated = 1 << 30

// newCodec uses the fastest level, since files are written within a step; other
// levels have not been measured. Equal input gives equal bytes: PutLayout relies
// on it.
func newCodec() (*codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxInflated), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return &codec{enc: enc, dec: dec}, nil
}

func (c *codec) deflate(b []byte) []byte { return c.enc.EncodeAll(b, nil) }

// deflateBlock is the stored form of a block of encodeBlock.
func (c *codec) deflateBlock(block []byte) []byte { return c.enc.EncodeAll(block, []byte{blobVersion}) }

func (c *codec) inflate(b []byte) ([]byte, error) { return c.dec.DecodeAll(b, nil) }

// block decompresses and decodes one layout block.
func (c *codec) block(data []byte) ([]catalog.UnitPosition, error) {
	return c.blockRange(data, 0, blockUnits)
}

// blockRange is block for the units [from, to) of it.
func (c *codec) blockRange(data []byte, from, to int) ([]catalog.UnitPosition, error) {
	raw, err := c.inflateBlock(data)
	if err != nil {
		return nil, err
	}
	return decodeRange(raw, from, to)
}

// eachID calls fn for the ids of a block.
func (c *codec) eachID(data []byte, fn func(id int64)) error {
	raw, err := c.inflateBlock(data)
	if err != nil {
		return err
	}
	return decodeIDs(raw, fn)
}

func (c *codec) inflateBlock(data []byte) (raw []byte, err error) {
	if data, err = unversioned(data, errLayout); err != nil {
		return nil, err
	}
	if raw, err = c.inflate(data); err != nil {
		return nil, fmt.Errorf("%w (%w)", errLayout, err)
	}
	return raw, nil
}
