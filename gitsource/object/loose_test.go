package object

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

// TestLooseBomb: an object that goes on behind the length of its header is not read on.
func TestLooseBomb(t *testing.T) {
	path := filepath.Join(t.TempDir(), "object")
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err := z.Write(append([]byte("blob 10\x00"), make([]byte, 8<<20)...))
	gittest.Must(t, errors.Join(err, z.Close(), os.WriteFile(path, packed.Bytes(), 0o600)))
	f, err := os.Open(path)
	gittest.Must(t, err)
	defer f.Close()
	o := looseObject{file: f}
	gittest.Must(t, o.header(f))
	if _, err := o.check(Hash{}, false); !errors.Is(err, errLooseLength) {
		t.Errorf("%v", err)
	}
	if rest, _ := io.Copy(io.Discard, o.in); rest == 0 {
		t.Error("it was read to its end")
	}
}
