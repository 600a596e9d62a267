package api

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestEncodings: the body is the same in every encoding.
func TestEncodings(t *testing.T) {
	t.Parallel()
	s := serve(cacheWorld(t), Options{CacheBytes: 1 << 20})
	plain := ask(s, http.MethodGet, cacheTarget).Body.Bytes()
	zipped, err := gzip.NewReader(ask(s, http.MethodGet, cacheTarget, "Accept-Encoding", "gzip").Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(zipped); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("gzip: %v, %d bytes, want %d", err, len(got), len(plain))
	}
	reader, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if got, err := reader.DecodeAll(ask(s, http.MethodGet, cacheTarget, "Accept-Encoding", "zstd").Body.Bytes(), nil); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("zstd: %v, %d bytes, want %d", err, len(got), len(plain))
	}
}

// TestCompressTogether: compressors are used again, by one answer at a time, and
// what they made stays as it is.
func TestCompressTogether(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			type made struct{ body, gzip, zstd []byte }
			var list []made
			for i := range 50 {
				body := bytes.Repeat(fmt.Appendf(nil, "%d of %d. ", i, worker), 1+i*i)
				list = append(list, made{body, compress(gzipped, body), compress(zstandard, body)})
			}
			for _, m := range list {
				for encoding, data := range map[string][]byte{"gzip": m.gzip, "zstd": m.zstd} {
					got, err := decompress(encoding, data)
					if err != nil || !bytes.Equal(got, m.body) || cap(data) > len(data)+len(data)/4+32 {
						t.Errorf("%s: %d of %d bytes, %d kept for %d: %v", encoding, len(got), len(m.body), cap(data), len(data), err)
					}
				}
			}
		})
	}
	all.Wait()
}

func decompress(encoding string, data []byte) ([]byte, error) {
	var r io.Reader
	var err error
	if encoding == "gzip" {
		r, err = gzip.NewReader(bytes.NewReader(data))
	} else {
		r, err = zstd.NewReader(bytes.NewReader(data))
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// TestChooseEncoding: RFC 9110 §12.5.3.
func TestChooseEncoding(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]encoding{
		"": identity, "gzip": gzipped, "gzip, zstd": zstandard, "zstd;q=0.5, gzip": gzipped, "x-gzip": gzipped,
		"br": identity, "*": zstandard, "*;q=0": identity, "gzip;q=0": identity, "gzip;q=0, *": zstandard,
		"identity, gzip;q=0.5": identity, "gzip;q=0.5": gzipped, "GZIP": gzipped, "gzip;q=x": identity,
		"gzip;q=2": identity, "zstd;q=0, gzip;q=0.001": gzipped, ",,;": identity,
	} {
		if got := chooseEncoding(header, minEncoded); got != want {
			t.Errorf("%q: %s, want %s", header, got.token(), want.token())
		}
	}
	if got := chooseEncoding("gzip", minEncoded-1); got != identity {
		t.Errorf("a small answer: %s", got.token())
	}
}
