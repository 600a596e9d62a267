package store

import "github.com/klauspost/compress/zstd"

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

func (c *codec) inflate(b []byte) ([]byte, error) { return c.dec.DecodeAll(b, nil) }
