package object

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// sealed makes a pack of entries, with the count and the sum that belong to it.
func sealed(entries ...[]byte) []byte {
	return sealedAs(uint32(len(entries)), entries...)
}

// bare is an empty repository.
func bare(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "bare.git")
	gittest.Must(tb, Init(dir))
	return dir
}

var testLimits = Limits{Bytes: 1 << 30, Objects: 1 << 20, Whole: 8 << 20}

// store is Receive within testLimits; it must leave no temporary file.
func store(tb testing.TB, dir string, pack []byte) error {
	tb.Helper()
	err := Receive(context.Background(), dir, bytes.NewReader(pack), testLimits)
	if left, _ := filepath.Glob(filepath.Join(dir, "objects", "pack", "tmp_*")); len(left) > 0 {
		tb.Errorf("left over: %v", left)
	}
	return err
}

// TestReceiveAgainstGit: the index of a real pack is git's, byte for byte.
func TestReceiveAgainstGit(t *testing.T) {
	gittest.NeedGit(t)
	for _, name := range []string{"dnf-plugins-core"} {
		for _, args := range [][]string{{"--delta-base-offset"}, nil} { // offset deltas, deltas by name
			up := gittest.Bundle(t, name)
			base := filepath.Join(t.TempDir(), "p")
			gittest.RunGit(t, up, append([]string{"pack-objects", "-q", "--all", base}, args...)...)
			packs, _ := filepath.Glob(base + "-*.pack")
			if len(packs) != 1 {
				t.Fatalf("packs %v", packs)
			}
			data, err := os.ReadFile(packs[0])
			gittest.Must(t, err)
			want, err := os.ReadFile(strings.TrimSuffix(packs[0], ".pack") + ".idx")
			gittest.Must(t, err)
			dir := bare(t)
			gittest.Must(t, Receive(context.Background(), dir, bytes.NewReader(data), NewLimits(0)))
			got, err := os.ReadFile(filepath.Join(dir, "objects", "pack", "pack-"+fmt.Sprintf("%x", data[len(data)-20:])+".idx"))
			gittest.Must(t, err)
			if !bytes.Equal(got, want) {
				t.Errorf("%s %v: index of %d bytes, git's has %d; or they differ", name, args, len(got), len(want))
			}
		}
	}
}

// TestReceiveThinPack: a pack has the bases of its deltas; another is not asked for, and not
// taken.
func TestReceiveThinPack(t *testing.T) {
	dir := bare(t)
	base := []byte("text")
	gittest.Must(t, writeLoose(dir, addedObject{kind: plumbing.BlobObject, hash: Hash(plumbing.ComputeHash(plumbing.BlobObject, base)), data: base}))
	thin := sealed(packEntry(plumbing.REFDeltaObject, 4, sum(base), []byte{4, 2, 0x90, 2}))
	if err := store(t, dir, thin); err == nil || !strings.Contains(err.Error(), "delta not found") {
		t.Errorf("%v", err)
	}
}

func TestReceiveRefuses(t *testing.T) {
	blob := packEntry(plumbing.BlobObject, 4, nil, []byte("text"))
	bomb := packEntry(plumbing.BlobObject, 9<<20, nil, make([]byte, 9<<20))
	// A delta that copies its base, which is 4 bytes, over and over.
	grow := func(result int) []byte {
		d := []byte{4}
		for n := uint64(result); ; n >>= 7 {
			if n < 0x80 {
				d = append(d, byte(n))
				break
			}
			d = append(d, byte(n)|0x80)
		}
		for i := 0; i < result; i += 4 {
			d = append(d, 0x90, 4)
		}
		return d
	}
	big := grow(9 << 20)
	id := Hash(plumbing.ComputeHash(plumbing.BlobObject, []byte("text")))
	for name, c := range map[string]struct {
		pack  []byte
		limit bool
		says  string
	}{
		"empty":                 {nil, false, "EOF"},
		"no pack":               {[]byte("<html>not found</html>"), false, "no pack"},
		"version 7":             {[]byte("PACK\x00\x00\x00\x07\x00\x00\x00\x01xxxxxxxxxxxxxxxxxxxxxxxxxxx"), false, "no pack"},
		"four billion":          {append([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"), blob...), true, "4294967295 objects"},
		"fewer than it says":    {sealedAs(3, blob, blob), false, "malformed"},
		"more than it says":     {sealedAs(1, blob, blob), false, "checksum"},
		"more after its sum":    {append(sealed(blob), 1), false, "more follows"},
		"wrong sum, unpacked":   {append(sealed(blob)[:len(sealed(blob))-1], 1), false, "checksum"},
		"too short":             {sealed(packEntry(plumbing.BlobObject, 9, nil, []byte("text"))), false, "long as its header"},
		"too long":              {sealed(packEntry(plumbing.BlobObject, 2, nil, []byte("text"))), false, "exceeds declared size"},
		"unknown type":          {sealed(packEntry(5, 4, nil, []byte("text"))), false, "type 5"},
		"base before the pack":  {sealed(blob, packEntry(plumbing.OFSDeltaObject, 4, []byte{0x7f}, []byte{4, 4, 0x90, 4})), false, "offset"},
		"base within an object": {sealed(blob, packEntry(plumbing.OFSDeltaObject, 4, []byte{5}, []byte{4, 4, 0x90, 4})), false, "no object begins"},
		"base nowhere":          {sealed(packEntry(plumbing.REFDeltaObject, 4, make([]byte, 20), []byte{4, 4, 0x90, 4})), false, "not found"},
		"large result":          {sealed(blob, packEntry(plumbing.OFSDeltaObject, int64(len(big)), []byte{byte(len(blob))}, big)), true, "at most"},
		"large delta":           {sealed(blob, packEntry(plumbing.OFSDeltaObject, 9<<20, []byte{byte(len(blob))}, make([]byte, 9<<20))), true, "at most"},
		"large base":            {sealed(packEntry(plumbing.REFDeltaObject, 4, sum(make([]byte, 9<<20)), []byte{4, 4, 0x90, 4}), bomb), true, "at most"},
		"broken delta":          {sealed(blob, packEntry(plumbing.REFDeltaObject, 3, id[:], []byte{4, 4, 0x7f})), false, "delta"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := bare(t)
			err := store(t, dir, c.pack)
			var limit LimitError
			if err == nil || !strings.Contains(err.Error(), c.says) || errors.As(err, &limit) != c.limit {
				t.Errorf("%v; want %q, limit %v", err, c.says, c.limit)
			}
		})
	}
	t.Run("too many bytes", func(t *testing.T) {
		lim := testLimits
		lim.Bytes = 1000
		err := Receive(context.Background(), bare(t), io.MultiReader(bytes.NewReader(sealed(blob)), zeros{}), lim)
		if limit := LimitError(""); !errors.As(err, &limit) {
			t.Errorf("%v", err)
		}
	})
}

func sealedAs(n uint32, entries ...[]byte) []byte {
	b := append([]byte("PACK\x00\x00\x00\x02"), binary.BigEndian.AppendUint32(nil, n)...)
	b = append(b, bytes.Join(entries, nil)...)
	s := sha1.Sum(b)
	return append(b, s[:]...)
}

func sum(data []byte) []byte {
	h := plumbing.ComputeHash(plumbing.BlobObject, data)
	return h[:]
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestReceiveMemory: a pack of 80 KB that inflates to 80 MB takes a few times its largest
// object.
func TestReceiveMemory(t *testing.T) {
	var entries [][]byte
	one := packEntry(plumbing.BlobObject, 16<<20, nil, make([]byte, 16<<20))
	for range 5 {
		entries = append(entries, one)
	}
	lim := testLimits
	lim.Whole = 16 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	gittest.Must(t, Receive(t.Context(), bare(t), bytes.NewReader(sealed(entries...)), lim))
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 4*16<<20 {
		t.Errorf("allocated %d bytes", got)
	}
	runtime.ReadMemStats(&before)
	lim.Whole--
	if limit := LimitError(""); !errors.As(Receive(t.Context(), bare(t), bytes.NewReader(sealed(entries...)), lim), &limit) {
		t.Error("a larger object was taken")
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("allocated %d bytes for what is refused", got)
	}
}

// TestHostileCosts measures what packs cost that are made to cost much: a chain of large
// objects, of which go-git may hold all, and many objects.
func TestHostileCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it takes long")
	}
	const size = 8 << 20
	base := make([]byte, size)
	sizes := binary.AppendUvarint(binary.AppendUvarint(nil, size), size)
	chain := func(n int) []byte {
		entries := [][]byte{packEntry(plumbing.BlobObject, size, nil, base)}
		for i := range n {
			d := append(bytes.Clone(sizes), 0xf0, (size-1)&0xff, (size-1)>>8&0xff, (size-1)>>16, 1, byte(i)) // all but the last byte
			entries = append(entries, packEntry(plumbing.OFSDeltaObject, int64(len(d)), appendBack(nil, int64(len(entries[i]))), d))
		}
		return sealed(entries...)
	}
	many := func(n int) []byte {
		entries := make([][]byte, n)
		for i := range entries {
			text := fmt.Appendf(nil, "%d", i)
			entries[i] = packEntry(plumbing.BlobObject, int64(len(text)), nil, text)
		}
		return sealed(entries...)
	}
	for _, c := range []struct {
		name    string
		pack    []byte
		refused bool
		most    uint64 // MiB on the heap
	}{
		{"chain", chain(chainRoom/size - 1), false, 3 * chainRoom >> 20},
		{"longer chain", chain(chainRoom / size), true, 64},
		{"200,000 objects", many(200_000), false, 300},
	} {
		var peak, before runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		dir, done, sampled := bare(t), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(sampled)
			for tick := time.NewTicker(10 * time.Millisecond); ; {
				select {
				case <-done:
					tick.Stop()
					return
				case <-tick.C:
					var now runtime.MemStats
					if runtime.ReadMemStats(&now); now.HeapAlloc > peak.HeapAlloc {
						peak = now
					}
				}
			}
		}()
		began := time.Now()
		err := Receive(t.Context(), dir, bytes.NewReader(c.pack), NewLimits(0))
		took := time.Since(began)
		close(done)
		<-sampled
		limit := LimitError("")
		if (err != nil) != c.refused || err != nil && !errors.As(err, &limit) {
			t.Errorf("%s: %v", c.name, err)
		}
		heap := (max(peak.HeapAlloc, before.HeapAlloc) - before.HeapAlloc) >> 20
		t.Logf("%s: %d KiB in %s, up to %d MiB on the heap", c.name, len(c.pack)>>10, took.Round(time.Millisecond), heap)
		if heap > c.most {
			t.Errorf("%s: %d MiB, of %d at most", c.name, heap, c.most)
		}
	}
}

// TestReceiveDamaged flips and cuts a real pack: what is taken is what was
// sent, and nothing panics.
func TestReceiveDamaged(t *testing.T) {
	blob := packEntry(plumbing.BlobObject, 4, nil, []byte("text"))
	id := Hash(plumbing.ComputeHash(plumbing.BlobObject, []byte("text")))
	pack := sealed(
		packEntry(plumbing.REFDeltaObject, 6, id[:], []byte{4, 8, 0x90, 4, 0x90, 4}), blob,
		packEntry(plumbing.OFSDeltaObject, 4, []byte{byte(len(blob))}, []byte{4, 2, 0x90, 2}),
	)
	dir := bare(t)
	gittest.Must(t, store(t, dir, pack))
	o := openObjects(dir)
	for _, text := range []string{"text", "texttext", "te"} {
		data, err := o.read(Hash(plumbing.ComputeHash(plumbing.BlobObject, []byte(text))), plumbing.BlobObject, 100)
		if err != nil || string(data) != text {
			t.Errorf("%q: %q, %v", text, data, err)
		}
	}
	gittest.Must(t, o.close())
	dir = bare(t)
	for i := range pack {
		if err := store(t, dir, pack[:i]); err == nil {
			t.Errorf("taken when cut after %d of %d bytes", i, len(pack))
		}
		for bit := range 8 {
			bad := bytes.Clone(pack)
			bad[i] ^= 1 << bit
			if err := store(t, dir, bad); err == nil {
				t.Errorf("taken with bit %d of byte %d flipped", bit, i)
			}
		}
	}
}

// TestReceiveDeep: a chain that is as long as git makes them, and longer.
func TestReceiveDeep(t *testing.T) {
	for _, depth := range []int{maxChain - 100, maxChain + 10} {
		entries := [][]byte{packEntry(plumbing.BlobObject, 4, nil, []byte("text"))}
		for i := range depth {
			var delta bytes.Buffer
			delta.Write([]byte{4, 4, 0x90, 2, 2, byte(i), byte(i >> 8)})
			back := len(entries[i])
			entries = append(entries, packEntry(plumbing.OFSDeltaObject, int64(delta.Len()), appendBack(nil, int64(back)), delta.Bytes()))
		}
		err := store(t, bare(t), sealed(entries...))
		if (err != nil) != (depth > maxChain) {
			t.Errorf("%d deltas upon each other: %v", depth, err)
		}
	}
}

// TestReceiveDropsBases: chains whose objects together are more than is kept.
func TestReceiveDropsBases(t *testing.T) {
	lim := testLimits
	lim.Whole = 32 << 20
	rnd := rand.New(rand.NewPCG(1, 2))
	base := make([]byte, 5<<20)
	for i := range base {
		base[i] = byte(rnd.Uint32())
	}
	entries := [][]byte{packEntry(plumbing.BlobObject, int64(len(base)), nil, base)}
	want := []Hash{Hash(plumbing.ComputeHash(plumbing.BlobObject, base))}
	texts := [][]byte{base}
	size := func(n int) []byte {
		return []byte{byte(n) | 0x80, byte(n>>7) | 0x80, byte(n>>14) | 0x80, byte(n >> 21)}
	}
	at := []int{0}
	for i := 1; i < 12; i++ {
		parent := i - 1
		if i%4 == 0 {
			parent = i / 2
		}
		n := len(texts[parent])
		delta := append(size(n), size(n+1)...)
		delta = append(delta, 0xf0, byte(n), byte(n>>8), byte(n>>16), 1, byte(i))
		text := append(bytes.Clone(texts[parent]), byte(i))
		texts, want = append(texts, text), append(want, Hash(plumbing.ComputeHash(plumbing.BlobObject, text)))
		pos := at[i-1] + len(entries[i-1])
		at = append(at, pos)
		entries = append(entries, packEntry(plumbing.OFSDeltaObject, int64(len(delta)), appendBack(nil, int64(pos-at[parent])), delta))
	}
	for len(entries) <= UnpackLimit {
		text := fmt.Appendf(nil, "%d", len(entries))
		entries = append(entries, packEntry(plumbing.BlobObject, int64(len(text)), nil, text))
	}
	dir := bare(t)
	gittest.Must(t, Receive(context.Background(), dir, bytes.NewReader(sealed(entries...)), lim))
	o := openObjects(dir)
	defer o.close()
	for i, h := range want {
		if data, err := o.read(h, plumbing.BlobObject, lim.Whole); err != nil || !bytes.Equal(data, texts[i]) {
			t.Errorf("object %d: %v", i, err)
		}
	}
}

func FuzzReceive(f *testing.F) {
	blob := packEntry(plumbing.BlobObject, 4, nil, []byte("text"))
	f.Add(sealed(blob)[12:])
	f.Add(sealed(blob, packEntry(plumbing.OFSDeltaObject, 4, []byte{byte(len(blob))}, []byte{4, 2, 0x90, 2}))[12:])
	f.Add(sealed(packEntry(plumbing.REFDeltaObject, 4, sum([]byte("text")), []byte{4, 2, 0x90, 2}), blob)[12:])
	lim := Limits{Bytes: 1 << 20, Objects: 100, Whole: 1 << 16}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) < 20 {
			return
		}
		for n := range 4 {
			pack := sealedAs(uint32(n), body[:len(body)-20])
			dir := bare(t)
			if err := Receive(context.Background(), dir, bytes.NewReader(pack), lim); err != nil {
				continue
			}
			o := openObjects(dir)
			gittest.Must(t, o.list())
			for _, p := range o.packs {
				for _, at := range p.offsets() {
					if _, _, err := p.object(at, lim.Whole); err != nil {
						t.Errorf("the object at %d was stored, but cannot be read: %v", at, err)
					}
				}
			}
			gittest.Must(t, o.close())
		}
	})
}
