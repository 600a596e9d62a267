package api

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestZstdWindow: neither an encoder of a long answer nor its reader needs the memory
// of a window of 8 MiB.
func TestZstdWindow(t *testing.T) {
	body := bytes.Repeat([]byte("{\"unit\": 1}\n"), 1<<18)
	var streamed bytes.Buffer
	w, err := encoder(zstandard, &streamed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"whole": compress(zstandard, body), "streamed": streamed.Bytes()} {
		var h zstd.Header
		if err := h.Decode(data); err != nil || h.SingleSegment || h.WindowSize != zstdWindow {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}
