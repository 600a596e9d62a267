package stored

import (
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/repoglot/repoglot/catalog"
)

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

// FirstVersion is the form of the blobs of exports that have none of these bytes.
const FirstVersion = 1

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
