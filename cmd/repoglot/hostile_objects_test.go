package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/klauspost/compress/zlib"
)

// hostileObjects are commits and packs.
func hostileObjects() []hostileKind {
	commit := func(name, fails, text string) hostileKind {
		return hostileKind{Name: name, Fails: fails, make: func(w *hostileWriter) {
			tree := w.tree(treeLine{modeDir, "po", w.tree(treeLine{modeFile, "cs.po", w.blob(smallPO)})})
			w.head(w.object(plumbing.CommitObject, strings.ReplaceAll(text, "TREE", tree.String())))
		}}
	}
	const who = " A <a@example.org> 1700000000 +0000\n"
	return []hostileKind{
		commit("long-message", "", "tree TREE\nauthor"+who+"committer"+who+"\n"+strings.Repeat("m", 8<<20)),
		commit("long-author", "", "tree TREE\nauthor "+strings.Repeat("A", 4<<20)+" <a@example.org> 1700000000 +0000\ncommitter"+who+"\nx\n"),
		commit("odd-author", "", "tree TREE\nauthor =HYPERLINK(1)<img src=x onerror=alert(1)>\x1b[2J <a> 99999999999999999999 +9999\ncommitter <> -1 -0000\n\nx\n"),
		commit("no-author", "", "tree TREE\n\nx\n"),
		commit("many-parents", "run git fsck", "tree TREE\n"+strings.Repeat("parent "+strings.Repeat("1", 40)+"\n", 50_000)+"author"+who+"committer"+who+"\nx\n"),
		commit("no-tree", "run git fsck", "tree "+strings.Repeat("2", 40)+"\nauthor"+who+"committer"+who+"\nx\n"),
		commit("empty-commit", "run git fsck", ""),
		{Name: "head-is-a-file", Fails: "run git fsck", make: func(w *hostileWriter) { w.sound(); w.head(w.blob("not a commit")) }},
		{Name: "mailmap", make: func(w *hostileWriter) {
			w.commit(w.tree(treeLine{modeFile, ".mailmap", w.blob(strings.Repeat("A <a@example.org> <b@example.org>\n", 1<<20))},
				treeLine{modeDir, "po", w.tree(treeLine{modeFile, "cs.po", w.blob(smallPO)})}))
		}},
		{Name: "long-history", make: func(w *hostileWriter) {
			var last []plumbing.Hash
			tree := w.tree(treeLine{modeDir, "po", w.tree(treeLine{modeFile, "cs.po", w.blob(smallPO)})})
			for range 400 {
				last = []plumbing.Hash{w.commit(tree, last...)}
			}
		}},
		{Name: "wide-history", make: func(w *hostileWriter) { // every commit merges the two before it
			tree := w.tree(treeLine{modeDir, "po", w.tree(treeLine{modeFile, "cs.po", w.blob(smallPO)})})
			a := w.commit(tree)
			b := w.commit(tree, a)
			for range 200 {
				a, b = b, w.commit(tree, b, a)
			}
		}},
		{Name: "delta-bomb", make: func(w *hostileWriter) { // 64 KiB, doubled 24 times
			base := strings.Repeat("#\n", 32<<10)
			p := &hostilePack{}
			size := len(base)
			at := p.object(3, []byte(base))
			for range 24 {
				at = p.delta(at, size, 2*size, [][2]int{{0, size}, {0, size}})
				size *= 2
			}
			w.pack(p, plumbing.Hash{0xbb})
			w.served(treeLine{modeFile, "cs.po", plumbing.Hash{0xbb}}, treeLine{modeFile, "de.po", w.blob(smallPO)})
		}},
		{Name: "delta-chain", make: func(w *hostileWriter) { // longer than git makes
			p := &hostilePack{}
			at := p.object(3, []byte(smallPO))
			for range 20_000 {
				at = p.delta(at, len(smallPO), len(smallPO), [][2]int{{0, len(smallPO)}})
			}
			w.pack(p, plumbing.Hash{0xbb})
			w.served(treeLine{modeFile, "cs.po", plumbing.Hash{0xbb}}, treeLine{modeFile, "de.po", w.blob(smallPO)})
		}},
		{Name: "size-lie", make: func(w *hostileWriter) {
			p := &hostilePack{}
			p.header(3, 1<<40)
			p.data(bytes.Repeat([]byte("x"), 1000))
			w.pack(p, plumbing.Hash{0xbb})
			w.served(treeLine{modeFile, "cs.po", plumbing.Hash{0xbb}}, treeLine{modeFile, "de.po", w.blob(smallPO)})
		}},
		{Name: "broken-pack", Fails: "run git fsck there", make: func(w *hostileWriter) {
			w.sound()
			w.write("objects/pack/pack-"+strings.Repeat("3", 40)+".pack", "PACK\x00\x00\x00\x02\xff\xff\xff\xff")
			w.write("objects/pack/pack-"+strings.Repeat("3", 40)+".idx", "\xfftOc\x00\x00\x00\x02"+strings.Repeat("\xff", 1024))
		}},
		{Name: "empty-pack", Fails: "run git fsck there", make: func(w *hostileWriter) {
			w.sound()
			w.write("objects/pack/pack-"+strings.Repeat("4", 40)+".pack", "")
			w.write("objects/pack/pack-"+strings.Repeat("4", 40)+".idx", "")
		}},
		{Name: "loose-lie", Fails: "run git fsck", make: func(w *hostileWriter) { // an object under another id
			w.sound()
			id := plumbing.Hash{0xcc}
			var b bytes.Buffer
			z := zlib.NewWriter(&b)
			_, err := fmt.Fprintf(z, "commit 10\x00%s", strings.Repeat("x", 1<<20))
			w.fail(err)
			w.fail(z.Close())
			w.write("objects/cc/"+id.String()[2:], b.String())
			w.head(id)
		}},
	}
}

// hostilePack is a pack whose objects need not be sound.
type hostilePack struct {
	b  bytes.Buffer
	at []int // offsets of the objects in the pack
}

const packHeader = 12

// header writes the head of an object.
func (p *hostilePack) header(kind, size int) int {
	at := packHeader + p.b.Len()
	p.at = append(p.at, at)
	c := byte(kind<<4 | size&15)
	for size >>= 4; size > 0; size >>= 7 {
		p.b.WriteByte(c | 0x80)
		c = byte(size & 0x7f)
	}
	p.b.WriteByte(c)
	return at
}

func (p *hostilePack) data(data []byte) {
	z := zlib.NewWriter(&p.b)
	_, _ = z.Write(data) // to memory
	_ = z.Close()
}

// object adds a whole object and returns its offset.
func (p *hostilePack) object(kind int, data []byte) int {
	at := p.header(kind, len(data))
	p.data(data)
	return at
}

// delta adds a delta upon the object at an offset that copies parts (offset and
// length) of it.
func (p *hostilePack) delta(base, from, to int, copies [][2]int) int {
	d := sizes(from, to)
	for _, c := range copies {
		d = appendCopy(d, c[0], c[1])
	}
	return p.deltaOf(base, d)
}

// sizes begins a delta.
func sizes(from, to int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(from)), uint64(to))
}

// appendCopy adds a part of the base to a delta.
func appendCopy(d []byte, off, left int) []byte {
	for left > 0 {
		n := min(left, 0xffffff)
		d = append(d, 0xff, byte(off), byte(off>>8), byte(off>>16), byte(off>>24), byte(n), byte(n>>8), byte(n>>16))
		off, left = off+n, left-n
	}
	return d
}

// deltaOf adds a delta upon the object at an offset.
func (p *hostilePack) deltaOf(base int, d []byte) int {
	at := p.header(6, len(d))
	back := at - base
	text := []byte{byte(back & 0x7f)}
	for back >>= 7; back > 0; back >>= 7 {
		back--
		text = append([]byte{byte(0x80 | back&0x7f)}, text...)
	}
	p.b.Write(text)
	p.data(d)
	return at
}

// pack stores a pack with an index in which the last objects have ids.
func (w *hostileWriter) pack(p *hostilePack, ids ...plumbing.Hash) {
	data := append([]byte("PACK\x00\x00\x00\x02"), binary.BigEndian.AppendUint32(nil, uint32(len(p.at)))...)
	data = append(data, p.b.Bytes()...)
	sum := sha1.Sum(data)
	var idx idxfile.Writer
	ends := append(p.at[1:], len(data))
	for i, id := range ids {
		n := len(p.at) - len(ids) + i
		idx.Add(id, uint64(p.at[n]), crc32.ChecksumIEEE(data[p.at[n]:ends[n]]))
	}
	w.fail(idx.OnFooter(sum))
	index, err := idx.Index()
	w.fail(err)
	var b bytes.Buffer
	_, err = idxfile.NewEncoder(&b).Encode(index)
	w.fail(err)
	name := fmt.Sprintf("objects/pack/pack-%x", sum)
	w.write(name+".idx", b.String())
	w.write(name+".pack", string(data)+string(sum[:]))
}
