package stored

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/repoglot/repoglot/catalog"
)

// BlockUnits is the number of live units in a layout block. Only the last block of
// a translation has fewer.
const BlockUnits = 256

var errLayout = errors.New("a layout block is damaged: restore a backup, or move the database away and import anew")

// EncodeBlock writes each unit as its difference from the one before: most ids and
// positions rise by one, and locations share a prefix. A string inserted at the
// top of a file changes one number per block.
func EncodeBlock(placed []catalog.UnitPosition) []byte {
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
	r := Reader{B: b}
	n := int(min(r.Uvarint(), BlockUnits+1))
	if n > BlockUnits {
		return nil, errLayout
	}
	out := make([]catalog.UnitPosition, 0, max(0, min(n, to)-from))
	var p catalog.UnitPosition
	var location []byte
	same := false // location equals p.Location
	for i := range n {
		p.ID += r.Varint()
		p.Position += int(r.Varint())
		shared := r.Uvarint()
		rest := r.Bytes(r.Uvarint())
		if r.Bad || shared > uint64(len(location)) {
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
	if r.Bad || len(r.B) > 0 {
		return nil, errLayout
	}
	return out, nil
}

// decodeIDs calls fn for the ids of a block, without decoding locations. On
// damaged bytes it does not panic.
func decodeIDs(b []byte, fn func(int64)) error {
	r := Reader{B: b}
	n := r.Uvarint()
	if n > BlockUnits {
		return errLayout
	}
	var id int64
	for range n {
		id += r.Varint()
		r.Varint()
		r.Uvarint()
		r.Bytes(r.Uvarint())
		if r.Bad {
			return errLayout
		}
		fn(id)
	}
	if r.Bad || len(r.B) > 0 {
		return errLayout
	}
	return nil
}

// Reader reads numbers and bytes; Bad is set when the input ends early.
type Reader struct {
	B   []byte
	Bad bool
}

// Uvarint reads a number.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.B)
	return skip(r, v, n)
}

// Varint reads a number that may be negative.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.B)
	return skip(r, v, n)
}

func skip[T uint64 | int64](r *Reader, v T, n int) T {
	if n <= 0 {
		r.Bad, r.B = true, nil
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Bytes reads n bytes.
func (r *Reader) Bytes(n uint64) []byte {
	if n > uint64(len(r.B)) {
		r.Bad, r.B = true, nil
		return nil
	}
	out := r.B[:n]
	r.B = r.B[n:]
	return out
}

// Codec compresses stored bytes. It is safe for concurrent use.
type Codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// MaxInflated limits what a corrupt or hostile database can make us allocate. PO
// files that max_file_size allows are far smaller.
const MaxInflated = 1 << 30

// NewCodec uses the fastest level, since files are written within a step; other
// levels have not been measured. Equal input gives equal bytes: PutLayout relies
// on it.
func NewCodec() (*Codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(MaxInflated), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return &Codec{enc: enc, dec: dec}, nil
}

// Deflate compresses bytes.
func (c *Codec) Deflate(b []byte) []byte { return c.enc.EncodeAll(b, nil) }

// DeflateBlock is the stored form of a block of EncodeBlock.
func (c *Codec) DeflateBlock(block []byte) []byte { return c.enc.EncodeAll(block, []byte{Version}) }

// Inflate decompresses what Deflate made.
func (c *Codec) Inflate(b []byte) ([]byte, error) { return c.InflateAfter(nil, b) }

// InflateAfter appends what Deflate was given to out.
func (c *Codec) InflateAfter(out, b []byte) ([]byte, error) { return c.dec.DecodeAll(b, out) }

// Block decompresses and decodes one layout block.
func (c *Codec) Block(data []byte) ([]catalog.UnitPosition, error) {
	return c.BlockRange(data, 0, BlockUnits)
}

// BlockRange is Block for the units [from, to) of it.
func (c *Codec) BlockRange(data []byte, from, to int) ([]catalog.UnitPosition, error) {
	raw, err := c.inflateBlock(data)
	if err != nil {
		return nil, err
	}
	return decodeRange(raw, from, to)
}

// EachID calls fn for the ids of a block.
func (c *Codec) EachID(data []byte, fn func(id int64)) error {
	raw, err := c.inflateBlock(data)
	if err != nil {
		return err
	}
	return decodeIDs(raw, fn)
}

func (c *Codec) inflateBlock(data []byte) (raw []byte, err error) {
	if data, err = Unversioned(data, errLayout); err != nil {
		return nil, err
	}
	if raw, err = c.Inflate(data); err != nil {
		return nil, fmt.Errorf("%w (%w)", errLayout, err)
	}
	return raw, nil
}

// Version is the first byte of the blobs that have a form of ours: layouts, stat_days
// and shared_strings. A version that changes one of them takes the next number for it and
// goes on reading the forms before; one that does not know a form refuses the blob.
const Version = 1

// Unversioned returns a blob without its version. The error wraps damaged.
func Unversioned(blob []byte, damaged error) ([]byte, error) {
	switch {
	case len(blob) == 0:
		return nil, damaged
	case blob[0] != Version:
		return nil, fmt.Errorf("%w; or a newer repoglot wrote it (form %d), then use that", damaged, blob[0])
	}
	return blob[1:], nil
}
