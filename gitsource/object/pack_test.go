package object

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/klauspost/compress/zlib"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// TestPackAgainstGoGit reads objects of a real pack, with their chains of
// deltas, and compares them with their ids; and asks go-git for a part of them.
func TestPackAgainstGoGit(t *testing.T) {
	dir := gittest.Bundle(t, "dnf-plugins-core")
	st := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())
	defer st.Close()
	o := openObjects(dir)
	defer o.close()
	gittest.Must(t, o.list())
	if len(o.packs) != 1 {
		t.Fatalf("%d packs", len(o.packs))
	}
	p := o.packs[0]
	kinds := map[plumbing.ObjectType]int{}
	for i := 0; i < p.index.n; i += 3 {
		h := Hash(p.index.data[namesAt+20*i:])
		offset, ok := p.index.find(h)
		if !ok {
			t.Fatalf("%s is not found in its own index", h)
		}
		size, err := p.size(offset)
		gittest.Must(t, err)
		kind, data, err := p.object(offset, 64<<20)
		gittest.Must(t, err)
		if int64(len(data)) != size {
			t.Fatalf("%s has %d bytes, said %d", h, len(data), size)
		}
		sum := sha1.New()
		fmt.Fprintf(sum, "%s %d\x00", kind, len(data))
		sum.Write(data)
		gittest.Must(t, sameID(sum, h))
		kinds[kind]++
		if i%50 == 0 {
			obj, err := st.EncodedObject(plumbing.AnyObject, plumbing.Hash(h))
			gittest.Must(t, err)
			if obj.Type() != kind || obj.Size() != size {
				t.Fatalf("%s: go-git says %s of %d bytes", h, obj.Type(), obj.Size())
			}
		}
	}
	if kinds[plumbing.CommitObject] == 0 || kinds[plumbing.BlobObject] == 0 || kinds[plumbing.TreeObject] == 0 {
		t.Errorf("objects %v", kinds)
	}
	if _, ok := p.index.find(Hash{0xff, 0xff}); ok {
		t.Error("found an object that is not there")
	}
}

// deflaters take a megabyte each to make.
var deflaters = sync.Pool{New: func() any { return zlib.NewWriter(io.Discard) }}

// packEntry makes one object of a pack.
func packEntry(kind plumbing.ObjectType, size int64, base []byte, contents []byte) []byte {
	var b bytes.Buffer
	first := byte(kind)<<4 | byte(size&15)
	size >>= 4
	for size > 0 {
		b.WriteByte(first | 0x80)
		first = byte(size & 0x7f)
		size >>= 7
	}
	b.WriteByte(first)
	b.Write(base)
	z, _ := deflaters.Get().(*zlib.Writer)
	defer deflaters.Put(z)
	z.Reset(&b)
	_, _ = z.Write(contents)
	_ = z.Close()
	return b.Bytes()
}

// craft writes a pack of entries with an index that names the last one.
func craft(t testing.TB, entries ...[]byte) (p *pack, last int64) {
	t.Helper()
	dir := t.TempDir()
	data := append([]byte("PACK\x00\x00\x00\x02"), binary.BigEndian.AppendUint32(nil, uint32(len(entries)))...)
	for _, e := range entries {
		last = int64(len(data))
		data = append(data, e...)
	}
	data = append(data, make([]byte, 20)...)
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "pack-1.pack"), data, 0o600))
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "pack-1.idx"), index(Hash{7}, last), 0o600))
	p, err := openPack(dir, "pack-1.pack", &blobCache{}, nil)
	gittest.Must(t, err)
	t.Cleanup(func() { _ = p.close() })
	return p, last
}

// index is a pack index of one object.
func index(h Hash, offset int64) []byte {
	x := bytes.Clone(indexMagic)
	for i := range 256 {
		n := uint32(0)
		if i >= int(h[0]) {
			n = 1
		}
		x = binary.BigEndian.AppendUint32(x, n)
	}
	x = append(x, h[:]...)
	x = append(x, 0, 0, 0, 0)
	x = binary.BigEndian.AppendUint32(x, uint32(offset))
	return append(x, make([]byte, 40)...)
}

func TestHostilePacks(t *testing.T) {
	base := packEntry(plumbing.BlobObject, 5, nil, []byte("hello"))
	delta := func(contents ...byte) []byte {
		return packEntry(plumbing.OFSDeltaObject, int64(len(contents)), []byte{byte(len(base))}, contents)
	}
	good, at := craft(t, base, delta(5, 7, 0x90, 5, 2, 'x', 'y'))
	if kind, data, err := good.object(at, 100); err != nil || kind != plumbing.BlobObject || string(data) != "helloxy" {
		t.Fatalf("a good delta: %q, %v", data, err)
	}
	if n, err := good.size(at); err != nil || n != 7 {
		t.Errorf("size %d, %v", n, err)
	}
	zeros := make([]byte, 8<<20)
	self := packEntry(plumbing.REFDeltaObject, 3, append([]byte{7}, make([]byte, 19)...), []byte{5, 5, 0x90})
	huge := []byte{5, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x90, 5}
	for name, entries := range map[string][][]byte{
		"longer than it says":   {packEntry(plumbing.BlobObject, 10, nil, zeros)},
		"shorter than it says":  {packEntry(plumbing.BlobObject, 6, nil, []byte("hello"))},
		"says a petabyte":       {packEntry(plumbing.BlobObject, 1<<50, nil, []byte("hello"))},
		"no such type":          {packEntry(5, 5, nil, []byte("hello"))},
		"not compressed":        {[]byte("\x35hello hello hello")},
		"cut":                   {base[:3]},
		"a delta of itself":     {self},
		"base before the pack":  {packEntry(plumbing.OFSDeltaObject, 3, []byte{0xff, 0x7f}, []byte{5, 5, 0x90})},
		"base at itself":        {packEntry(plumbing.OFSDeltaObject, 3, []byte{0}, []byte{5, 5, 0x90})},
		"base is missing":       {packEntry(plumbing.REFDeltaObject, 3, make([]byte, 20), []byte{5, 5, 0x90})},
		"delta for other size":  {base, delta(6, 5, 0x90, 5)},
		"delta copies too much": {base, delta(5, 9, 0x90, 9)},
		"delta without sizes":   {base, delta(0xff)},
		"delta to a huge file":  {base, delta(huge...)},
		"empty delta":           {base, delta()},
	} {
		t.Run(name, func(t *testing.T) {
			p, at := craft(t, entries...)
			kind, data, err := p.object(at, 1<<20)
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s of %d bytes, %v; want ErrCorrupt", kind, len(data), err)
			}
			_, _ = p.size(at) // must end
		})
	}
}

func FuzzPack(f *testing.F) {
	base := packEntry(plumbing.BlobObject, 5, nil, []byte("hello"))
	f.Add(base, uint16(0))
	f.Add(append(bytes.Clone(base), packEntry(plumbing.OFSDeltaObject, 4, []byte{byte(len(base))}, []byte{5, 5, 0x90, 5})...), uint16(len(base)))
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		p, first := craft(t, data)
		kind, got, err := p.object(first+int64(at), 1<<20)
		if err == nil && kind == 0 {
			t.Fatalf("%d bytes of no type", len(got))
		}
		if _, err := p.size(first + int64(at)); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

func FuzzPackIndex(f *testing.F) {
	f.Add(index(Hash{7}, 12))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := parsePackIndex(data)
		if err != nil {
			return
		}
		for i := range 256 {
			x.find(Hash{byte(i)})
		}
	})
}

// TestWalkKeepsBases: objects that are asked for from the oldest to the newest, each
// made from the next one, are made from a base near them that was kept. So are those that
// are made from older ones. Of large objects only few are kept.
func TestWalkKeepsBases(t *testing.T) {
	walkKeepsBases(t, 20_000, 5) // longer than smallBase
	walkKeepsBases(t, largeBase+1, 14)
}

// walkKeepsBases is TestWalkKeepsBases for objects of a size, of which two take so many deltas.
func walkKeepsBases(t *testing.T, size, deltas int) {
	t.Helper()
	const chain = 40
	large := size > largeBase
	root := bytes.Repeat([]byte("a line of a file\n"), size/17+1)[:size]
	entries := [][]byte{packEntry(plumbing.BlobObject, int64(size), nil, root)}
	for i := range chain {
		from := binary.AppendUvarint(nil, uint64(size+i))
		delta := append(binary.AppendUvarint(from, uint64(size+i+1)), 0xf0, byte(size+i), byte((size+i)>>8), byte((size+i)>>16), 1, 'x')
		back, n := []byte(nil), len(entries[i])
		for back = []byte{byte(n & 0x7f)}; n > 0x7f; {
			n = n>>7 - 1
			back = append([]byte{byte(n&0x7f) | 0x80}, back...)
		}
		entries = append(entries, packEntry(plumbing.OFSDeltaObject, int64(len(delta)), back, delta))
	}
	p, at := craft(t, entries...)
	offsets := make([]int64, len(entries))
	for i := chain; i >= 0; i-- {
		offsets[i] = at
		if i > 0 {
			at -= int64(len(entries[i-1]))
		}
	}
	kept := func(i int) bool {
		_, young := p.cache.young[packed{p, offsets[i]}]
		return young
	}
	read := func(i int) {
		t.Helper()
		_, data, err := p.object(offsets[i], 1<<20)
		if err != nil || len(data) != size+i || !bytes.HasPrefix(data, root) {
			t.Fatalf("object %d: %d bytes, %v", i, len(data), err)
		}
	}
	p.cache.setLimit(0)
	patches := 0
	for i := chain; i > 0; i-- {
		for base := i; base > 0 && !kept(base); base-- {
			patches++
		}
		if read(i); large && len(p.cache.young) > 4 {
			t.Fatalf("%d large objects are kept", len(p.cache.young))
		}
	}
	if patches > deltas*chain/2 {
		t.Errorf("%d deltas are applied for %d objects", patches, chain)
	}
	p.cache.setLimit(0)
	for i := range chain + 1 {
		if read(i); !kept(i) && !(large && kept(i-1)) {
			t.Errorf("object %d, the base of the next one, is not kept, nor that of large ones", i)
		}
	}
}
