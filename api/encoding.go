package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// encoding is a content coding (RFC 9110 §8.4).
type encoding int

const (
	identity encoding = iota
	gzipped
	zstandard
	encodings
)

// token is the name in Accept-Encoding and Content-Encoding.
func (e encoding) token() string {
	return [...]string{"identity", "gzip", "zstd"}[e]
}

// contentEncoding is the value of Content-Encoding; "" for none.
func (e encoding) contentEncoding() string {
	if e == identity {
		return ""
	}
	return e.token()
}

// minEncoded is the size below which compression gains nothing.
const minEncoded = 1 << 10

// chooseEncoding returns the encoding that a client likes best, and the one with the smallest
// result of several; identity if the client says nothing (RFC 9110 §12.5.3).
func chooseEncoding(header string, size int) encoding {
	if header == "" || size < minEncoded {
		return identity
	}
	other, quality := -1.0, [encodings]float64{-1, -1, -1} // below 0: not named
	for item := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(item, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		q := 1.0
		if value, ok := strings.CutPrefix(strings.TrimSpace(params), "q="); ok {
			parsed, err := strconv.ParseFloat(value, 64)
			if err != nil || parsed < 0 || parsed > 1 {
				continue
			}
			q = parsed
		}
		if name == "*" {
			other = q
		}
		for e := range encodings {
			if name == e.token() || e == gzipped && name == "x-gzip" {
				quality[e] = q
			}
		}
	}
	best, bestQuality := identity, 0.0
	for _, e := range []encoding{zstandard, gzipped, identity} {
		if quality[e] < 0 {
			quality[e] = other
		}
		if quality[e] > bestQuality {
			best, bestQuality = e, quality[e]
		}
	}
	return best
}

// Idle compressors: making one takes longer than compressing a page.
var (
	gzips = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	zstds = sync.Pool{New: func() any {
		w, err := newZstd(nil)
		if err != nil {
			panic(err) // the options are constant
		}
		return w
	}}
)

// compress never fails: it writes to memory.
func compress(e encoding, body []byte) []byte {
	kept := buffers.Get().(*[]byte)
	defer buffers.Put(kept)
	if e == zstandard {
		w := zstds.Get().(*zstd.Encoder)
		defer zstds.Put(w)
		return exactly(kept, w.EncodeAll(body, (*kept)[:0]))
	}
	w := gzips.Get().(*gzip.Writer)
	defer gzips.Put(w)
	out := bytes.NewBuffer((*kept)[:0])
	w.Reset(out)
	_, _ = w.Write(body)
	_ = w.Close()
	return exactly(kept, out.Bytes())
}

// encoder returns a writer that encodes what is written. Closing it, a must, does not close w.
func encoder(e encoding, w io.Writer) (io.WriteCloser, error) {
	switch e {
	case gzipped:
		return gzip.NewWriter(w), nil
	case zstandard:
		return newZstd(w)
	}
	return plainWriter{w}, nil
}

// zstdWindow is how far back repetitions are found: of 8 MiB an encoder of lists took 9 MiB.
const zstdWindow = 512 << 10

func newZstd(w io.Writer) (*zstd.Encoder, error) {
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(zstdWindow))
}

type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }

// buffers are *[]byte in which answers are written, before they are copied to their exact size.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is the largest capacity of a buffer that is kept.
const maxBuffer = 1 << 20

// exactly copies b, written to the buffer kept, to its exact size; the next answer takes that.
func exactly(kept *[]byte, b []byte) []byte {
	out := append(make([]byte, 0, len(b)), b...)
	if cap(b) <= maxBuffer {
		*kept = b
	}
	return out
}

// variants are an answer whose body is in memory, in the encodings that were asked for so far.
type variants struct {
	// header is the same for all encodings.
	header
	plain []byte
	tags  [encodings]string

	once   [encodings]sync.Once
	bodies [encodings]body
}

// newVariants returns the variants of an answer; nil without success or a body in memory.
func newVariants(a answer) *variants {
	plain, ok := a.body.(content)
	if !ok || a.status != http.StatusOK {
		return nil
	}
	v := &variants{header: a.header, plain: plain}
	v.bodies[identity] = a.body
	sum := sha256.Sum256(v.plain)
	v.tags = etags(base64.RawURLEncoding.EncodeToString(sum[:15]))
	return v
}

// etags are the strong validators of the encodings of the content that tag stands for.
func etags(tag string) (all [encodings]string) {
	for e, suffix := range [encodings]string{"", "-gzip", "-zstd"} {
		all[e] = `"` + tag + suffix + `"`
	}
	return all
}

// in returns the body in an encoding. grown is its size in bytes if it was made now.
func (v *variants) in(e encoding) (b body, grown int) {
	if e == identity {
		return v.bodies[identity], 0
	}
	v.once[e].Do(func() {
		made := compress(e, v.plain)
		grown = len(made)
		v.bodies[e] = content(made)
	})
	return v.bodies[e], grown
}
