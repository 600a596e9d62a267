package api

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/repoglot/repoglot/api/rest"
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

// suffix tells the ETags of an answer's encodings apart.
func (e encoding) suffix() string {
	return [...]string{"", "-gzip", "-zstd"}[e]
}

// minEncoded is the size below which compression gains nothing.
const minEncoded = 1 << 10

// chooseEncoding returns the encoding that a client likes best, and the one
// with the smallest result of several; identity if the client says nothing (RFC
// 9110 §12.5.3).
func chooseEncoding(header string, size int) encoding {
	if header == "" || size < minEncoded {
		return identity
	}
	best, bestQuality := identity, 0.0
	other, named := -1.0, [encodings]bool{}
	var quality [encodings]float64
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
				quality[e], named[e] = q, true
			}
		}
	}
	for _, e := range []encoding{zstandard, gzipped, identity} {
		if !named[e] {
			quality[e] = max(other, 0)
		}
		if e == identity && !named[e] && other < 0 {
			quality[e] = 0.0001 // acceptable if nothing else is
		}
		if quality[e] > bestQuality {
			best, bestQuality = e, quality[e]
		}
	}
	return best
}

// compressors are idle *gzip.Writer and *zstd.Encoder: making one takes longer
// than compressing a page.
var compressors [encodings]sync.Pool

// compress never fails: it writes to memory with valid options.
func compress(e encoding, body []byte) []byte {
	kept := buffers.Get().(*[]byte)
	defer buffers.Put(kept)
	if e == gzipped {
		out := bytes.NewBuffer((*kept)[:0])
		w, ok := compressors[e].Get().(*gzip.Writer)
		if !ok {
			w = gzip.NewWriter(out)
		} else {
			w.Reset(out)
		}
		_, _ = w.Write(body)
		_ = w.Close()
		compressors[e].Put(w)
		return exactly(kept, out.Bytes())
	}
	w, ok := compressors[e].Get().(*zstd.Encoder)
	if !ok {
		var err error
		if w, err = newZstd(nil); err != nil {
			panic(err) // the options are constant
		}
	}
	out := w.EncodeAll(body, (*kept)[:0])
	compressors[e].Put(w)
	return exactly(kept, out)
}

// encoder returns a writer that encodes what is written to it. It must be
// closed, which does not close w.
func encoder(e encoding, w io.Writer) (io.WriteCloser, error) {
	switch e {
	case gzipped:
		return gzip.NewWriter(w), nil
	case zstandard:
		return newZstd(w)
	}
	return plainWriter{w}, nil
}

// zstdWindow is how far back an encoder finds repetitions. With the default of 8 MiB
// each encoder of a long list took 9 MiB.
const zstdWindow = 512 << 10

func newZstd(w io.Writer) (*zstd.Encoder, error) {
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(zstdWindow))
}

type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }

// compressible reports whether compression makes a type of content smaller.
func compressible(contentType string) bool {
	return contentType != rest.TypeZip && !strings.Contains(contentType, "officedocument")
}

// buffers are *[]byte in which answers are written, before they are copied to
// their exact size.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is the largest capacity of a buffer that is kept.
const maxBuffer = 1 << 20

// exactly copies b, which was written to the buffer kept, to its exact size,
// and leaves the buffer to the next answer.
func exactly(kept *[]byte, b []byte) []byte {
	out := append(make([]byte, 0, len(b)), b...)
	if cap(b) <= maxBuffer {
		*kept = b
	}
	return out
}
