package store

import "github.com/klauspost/compress/zstd"

// codec compresses what is kept as bytes. It is safe for concurrent use.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// maxInflated bounds what a corrupt or hostile database can make us allocate.
// No PO file that max_file_size lets through comes near it.
const maxInflated = 1 << 30

// newCodec takes the fastest level, since files are written within a step; other
// levels have not been measured. The same input gives the same bytes, which PutLayout relies on.
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

func (c *codec) inflate(b []byte) ([]byte, error) { return c.dec.DecodeAll(b, nil) }
