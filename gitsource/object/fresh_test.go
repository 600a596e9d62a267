package object

import (
	"bytes"
	"crypto/sha1" // git ids objects with it
	"fmt"
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

// TestInflateLoose: what a loose object holds is returned only if its length and id
// are those that it claims.
func TestInflateLoose(t *testing.T) {
	for _, size := range []int{0, 1, 20, 30, 100, inflateChunk - 1, inflateChunk, 3*inflateChunk + 7} {
		body := strings.Repeat("some text ", size/10+1)[:size]
		text := fmt.Sprintf("blob %d\x00%s", size, body)
		h := Hash(sha1.Sum([]byte(text)))
		raw := looseBytes(t, text)
		kind, data, err := inflateLoose(raw, h)
		if err != nil || string(data) != body || kind.String() != "blob" {
			t.Errorf("%d bytes: %s of %d bytes, %v", size, kind, len(data), err)
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
			if _, _, err := inflateLoose(bad, h); err == nil {
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
		_, data, err := inflateLoose(raw, Hash{})
		if err == nil || len(data) > len(raw)*maxRatio {
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
