package object

import (
	"bytes"
	"crypto/sha1" // git ids objects with it
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

func looseBytes(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// inflateLoose stores a loose object and reads it.
func inflateLoose(t testing.TB, raw []byte, h Hash) ([]byte, error) {
	t.Helper()
	dir := t.TempDir()
	gittest.Must(t, os.Mkdir(filepath.Join(dir, h.String()[:2]), 0o700))
	gittest.Must(t, os.WriteFile(filepath.Join(dir, looseName(h)), raw, 0o600))
	var data []byte
	var errs [2]error
	for i, keep := range []bool{true, false} {
		o, err := openLoose(dir, h)
		if err != nil {
			return nil, err
		}
		kept, err := o.check(h, keep)
		if errs[i] = errors.Join(err, o.close()); keep {
			data = kept
		}
	}
	if (errs[0] == nil) != (errs[1] == nil) {
		t.Errorf("%v in memory, %v as a stream", errs[0], errs[1])
	}
	return data, errs[0]
}

// TestInflateLoose: what a loose object holds is returned only if its length and id
// are those that it claims.
func TestInflateLoose(t *testing.T) {
	for _, size := range []int{0, 1, 20, 30, 100, 1 << 20, 2<<20 + 7} {
		body := strings.Repeat("some text ", size/10+1)[:size]
		text := fmt.Sprintf("blob %d\x00%s", size, body)
		h := Hash(sha1.Sum([]byte(text)))
		raw := looseBytes(t, text)
		data, err := inflateLoose(t, raw, h)
		if err != nil || string(data) != body {
			t.Errorf("%d bytes: %d bytes, %v", size, len(data), err)
		}
		flipped := bytes.Clone(raw)
		flipped[len(flipped)-1] ^= 1 // of the checksum
		for name, bad := range map[string][]byte{
			"longer":    looseBytes(t, text+"x"),
			"shorter":   looseBytes(t, fmt.Sprintf("blob %d\x00%s", size+1, body)),
			"other":     looseBytes(t, fmt.Sprintf("blob %d\x00%sy", size+1, body)),
			"huge":      looseBytes(t, fmt.Sprintf("blob %d\x00%s", int64(1)<<50, body)),
			"negative":  looseBytes(t, "blob -1\x00"+body),
			"no header": looseBytes(t, strings.Repeat("blob", 20)),
			"cut":       raw[:len(raw)-1],
			"checksum":  flipped,
			"empty":     nil,
		} {
			if _, err := inflateLoose(t, bad, h); err == nil {
				t.Errorf("%d bytes, %s: no error", size, name)
			}
		}
	}
}

// FuzzInflateLoose: no bytes make it panic, or take memory that they cannot fill.
func FuzzInflateLoose(f *testing.F) {
	f.Add(looseBytes(f, "blob 3\x00abc"))
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		data, err := inflateLoose(t, raw, Hash{})
		if err == nil || cap(data) > 2<<20+len(raw)*2*usualRatio {
			t.Errorf("%d bytes of %d: %v", len(data), len(raw), err)
		}
	})
}

// TestSharedIndex: Stores that are lent one Fresh have one copy of a pack's index, and
// it is freed with the last of them.
func TestSharedIndex(t *testing.T) {
	dir := gittest.Bundle(t, "dnf-plugins-core")
	var fresh Fresh
	open := func() *Store {
		s, err := Open(dir)
		gittest.Must(t, err)
		s.Lend(&fresh)
		gittest.Must(t, s.objects.list())
		return s
	}
	a, b := open(), open()
	if len(a.objects.packs) == 0 || a.objects.packs[0].index != b.objects.packs[0].index {
		t.Error("each store has an index of its own")
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	a, b = nil, nil
	for range 3 { // finalizers of files first
		runtime.GC()
	}
	for path, x := range fresh.indexes {
		if x.Value() != nil {
			t.Errorf("%s is still in memory", path)
		}
	}
}
