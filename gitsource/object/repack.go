package object

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"
)

// repacker copies all objects that the refs of a git directory reach into one pack
// of another, without the git program. Packed objects are copied as they are,
// deltas included; loose objects are compressed again.
type repacker struct {
	from    *objects
	packs   []*packMarks // as in from.packs
	loose   map[Hash]struct{}
	shallow bool // parents may be missing
	x       *packIndexer
	out     *bufio.Writer
	at      int64
}

// packMarks is a pack and which of its objects are wanted.
type packMarks struct {
	*pack
	wanted []bool
	moved  []int64 // by position in the index: the new offset; 0: not copied yet
	order  []int32 // positions by offset
}

// Repack copies all objects that the refs of old reach, and these refs, into
// gitDir, which is empty. The error satisfies [Damaged] if old is damaged.
func Repack(ctx context.Context, old, gitDir string) error {
	refs, err := allRefs(old)
	if err != nil {
		return fmt.Errorf("repack: %w", err)
	}
	r := &repacker{from: openObjects(old), loose: map[Hash]struct{}{}}
	defer r.from.close()
	if err := r.from.list(); err != nil {
		return fmt.Errorf("repack: %w", err)
	}
	if r.shallow, err = copyShallow(old, gitDir); err != nil {
		return fmt.Errorf("repack: %w", err)
	}
	for _, p := range r.from.packs {
		r.packs = append(r.packs, &packMarks{pack: p, wanted: make([]bool, p.index.n), moved: make([]int64, p.index.n)})
	}
	if err := r.mark(ctx, refs); err != nil {
		return fmt.Errorf("repack: %w", err)
	}
	if err := r.write(ctx, filepath.Join(gitDir, "objects", "pack")); err != nil {
		return fmt.Errorf("repack: %w", err)
	}
	for name, h := range refs {
		if err := WriteText(filepath.Join(gitDir, filepath.FromSlash(name)), h.String()+"\n"); err != nil {
			return fmt.Errorf("repack: %w", err)
		}
	}
	head, err := ReadText(old, "HEAD")
	if err != nil {
		return fmt.Errorf("repack: %w", err)
	}
	return WriteText(filepath.Join(gitDir, "HEAD"), head+"\n")
}

// allRefs returns the refs of a git directory, and HEAD if it is a commit.
func allRefs(gitDir string) (map[string]Hash, error) {
	refs := map[string]Hash{}
	var first error
	take := func(name, id string) {
		h, err := ParseHash(id)
		if err != nil {
			first = cmp.Or(first, err)
			return
		}
		refs[name] = h
	}
	err := PackedRefs(gitDir, func(name, id string) bool {
		if !strings.HasPrefix(name, "^") {
			take(name, id)
		}
		return true
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	err = filepath.WalkDir(filepath.Join(gitDir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".tmp-") {
			return err
		}
		name, err := filepath.Rel(gitDir, path)
		if err != nil {
			return err
		}
		switch h, err := ReadRef(gitDir, filepath.ToSlash(name)); {
		case err == nil:
			refs[filepath.ToSlash(name)] = h
		case !errors.Is(err, fs.ErrNotExist): // it names another ref, which is not there
			first = cmp.Or(first, err)
		}
		return nil
	})
	if _, h, herr := ReadHEAD(gitDir); herr == nil && !h.IsZero() {
		refs["HEAD"] = h
	}
	return refs, cmp.Or(err, first)
}

// mark marks the objects that the refs reach.
func (r *repacker) mark(ctx context.Context, refs map[string]Hash) error {
	commits := slices.Collect(maps.Values(refs))
	for len(commits) > 0 {
		h := commits[len(commits)-1]
		commits = commits[:len(commits)-1]
		fresh, err := r.add(h)
		if err != nil {
			return fmt.Errorf("commit %s: %w", h, err)
		}
		if !fresh {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := r.from.read(h, plumbing.CommitObject, commitLimit)
		if err != nil {
			return objectError("commit", h, err)
		}
		tree, parents := commitLinks(data, func(h Hash) bool { return !r.shallow || r.from.has(h) })
		commits = append(commits, parents...)
		if err := r.tree(ctx, tree, 0); err != nil {
			return err
		}
	}
	return r.bases(ctx)
}

// tree marks a tree and all its entries, also the kinds that are never read.
func (r *repacker) tree(ctx context.Context, h Hash, depth int) error {
	fresh, err := r.add(h)
	if err != nil || !fresh {
		return objectError("directory", h, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > maxChain {
		return fmt.Errorf("directories within directories: %w", ErrTooLarge)
	}
	data, err := r.from.read(h, plumbing.TreeObject, treeLimit)
	if err != nil {
		return objectError("directory", h, err)
	}
	for len(data) > 0 {
		space, end := bytes.IndexByte(data, ' '), bytes.IndexByte(data, 0)
		if space < 0 || end < space || len(data) < end+1+len(Hash{}) {
			return objectError("directory", h, ErrCorrupt)
		}
		id := Hash(data[end+1:])
		switch mode := string(bytes.TrimLeft(data[:space], "0")); mode {
		case "160000": // a commit of another repository
		case "40000":
			err = r.tree(ctx, id, depth+1)
		default:
			_, err = r.add(id)
			err = objectError("file", id, err)
		}
		if err != nil {
			return err
		}
		data = data[end+1+len(id):]
	}
	return nil
}

// add marks an object; fresh is false if it was marked before.
func (r *repacker) add(h Hash) (fresh bool, err error) {
	for _, p := range r.packs {
		if i, ok := p.index.position(h); ok {
			fresh = !p.wanted[i]
			p.wanted[i] = true
			return fresh, nil
		}
	}
	if _, ok := r.from.loose[h]; !ok {
		return false, ErrUnknownObject
	}
	_, have := r.loose[h]
	r.loose[h] = struct{}{}
	return !have, nil
}

// bases marks the bases of the marked deltas.
func (r *repacker) bases(ctx context.Context) error {
	for _, p := range r.packs {
		p.order = make([]int32, p.index.n)
		for i := range p.order {
			p.order[i] = int32(i)
		}
		slices.SortFunc(p.order, func(a, b int32) int { return cmp.Compare(p.offsetOf(a), p.offsetOf(b)) })
		for i := len(p.order) - 1; i >= 0; i-- {
			if err := ctx.Err(); err != nil {
				return err
			}
			if at := p.order[i]; p.wanted[at] {
				if err := p.markBases(at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (p *packMarks) offsetOf(position int32) int64 {
	offset, _ := p.index.offset(int(position))
	return offset
}

// byOffset returns the index in order of the object at an offset.
func (p *packMarks) byOffset(offset int64) (place int, ok bool) {
	return slices.BinarySearchFunc(p.order, offset, func(i int32, o int64) int { return cmp.Compare(p.offsetOf(i), o) })
}

func (p *packMarks) markBases(at int32) error {
	for range maxChain {
		e, err := p.header(p.offsetOf(at))
		if err != nil || !e.delta() {
			return err
		}
		place, ok := p.byOffset(e.base)
		if !ok {
			return p.corrupt(p.offsetOf(at), "its base is in no index")
		}
		if at = p.order[place]; p.wanted[at] {
			return nil // bases marks its own base later, which comes before it
		}
		p.wanted[at] = true
	}
	return p.corrupt(p.offsetOf(at), "more than %d deltas upon each other", maxChain)
}

// write writes the pack and its index.
func (r *repacker) write(ctx context.Context, dir string) error {
	file, err := os.CreateTemp(dir, "tmp_pack_*")
	if err != nil {
		return err
	}
	defer func() { _ = file.Close(); _ = os.Remove(file.Name()) }()
	r.x = &packIndexer{file: file, completed: true}
	r.out = bufio.NewWriterSize(file, 256<<10)
	r.at = packHeader
	if _, err := r.out.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x00"); err != nil {
		return err
	}
	for _, p := range r.packs {
		for i, at := range p.order {
			if !p.wanted[at] || r.moved(p.hashOf(at)) != 0 {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := r.copyEntry(p, i); err != nil {
				return err
			}
		}
	}
	for h := range r.loose {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.copyLoose(h); err != nil {
			return objectError("loose object", h, err)
		}
	}
	if err := r.out.Flush(); err != nil {
		return err
	}
	r.x.end = r.at
	sum, err := r.x.checksums()
	if err != nil {
		return err
	}
	return r.x.publish(dir, sum)
}

func (p *packMarks) hashOf(position int32) Hash {
	return Hash(p.index.data[namesAt+20*int(position):])
}

// moved returns the new offset of an object; 0 if it is not copied yet.
func (r *repacker) moved(h Hash) int64 {
	for _, p := range r.packs {
		if i, ok := p.index.position(h); ok && p.moved[i] != 0 {
			return p.moved[i]
		}
	}
	return 0
}

// copyEntry copies one object of a pack as it is. An offset delta gets the new
// distance to its base.
func (r *repacker) copyEntry(p *packMarks, place int) error {
	at := p.order[place]
	offset := p.offsetOf(at)
	e, err := p.header(offset)
	if err != nil {
		return err
	}
	head := entryHeader(e.kind, e.size)
	switch e.kind {
	case plumbing.OFSDeltaObject:
		i, _ := p.byOffset(e.base)
		back := r.at - r.moved(p.hashOf(p.order[i]))
		if back <= 0 || back >= r.at {
			return p.corrupt(offset, "its base is not there")
		}
		head = appendBack(head, back)
	case plumbing.REFDeltaObject:
		head = append(head, e.ref[:]...)
	}
	size := p.dataEnd(place) - p.offset()
	if size <= 0 {
		return p.corrupt(offset, "it overlaps another")
	}
	r.x.objects = append(r.x.objects, packObject{offset: r.at, hash: p.hashOf(at), base: none, known: true})
	p.moved[at] = r.at
	if _, err := r.out.Write(head); err != nil {
		return err
	}
	if _, err := io.CopyN(r.out, p.in, size); err != nil {
		return p.corrupt(offset, "%w", unexpectedEOF(err))
	}
	r.at += int64(len(head)) + size
	return nil
}

// dataEnd returns the offset after the data of an object.
func (p *packMarks) dataEnd(place int) int64 {
	if place+1 < len(p.order) {
		return p.offsetOf(p.order[place+1])
	}
	info, err := p.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size() - packTrailer
}

// appendBack encodes the distance to a base (gitformat-pack(5)).
func appendBack(b []byte, back int64) []byte {
	var tmp [10]byte
	i := len(tmp) - 1
	tmp[i] = byte(back & 0x7f)
	for back >>= 7; back > 0; back >>= 7 {
		back--
		i--
		tmp[i] = byte(back&0x7f) | 0x80
	}
	return append(b, tmp[i:]...)
}

func (r *repacker) copyLoose(h Hash) error {
	loose, err := r.from.findLoose(h)
	if err != nil {
		return err
	}
	if loose == nil {
		return ErrUnknownObject
	}
	defer loose.close()
	counted := &countingWriter{w: r.out}
	if err := writeStream(counted, loose, h); err != nil {
		return err
	}
	r.x.objects = append(r.x.objects, packObject{offset: r.at, hash: h, base: none, known: true})
	r.at += counted.n
	return nil
}

// writeStream compresses a loose object into a pack and checks its id.
func writeStream(w io.Writer, o *looseObject, h Hash) error {
	if _, err := w.Write(entryHeader(o.kind, o.size)); err != nil {
		return err
	}
	sum := sha1.New()
	objectSum(sum, o.kind, o.size)
	z := zlib.NewWriter(w)
	n, err := io.Copy(io.MultiWriter(z, sum), io.LimitReader(o.in, o.size+1))
	if err != nil {
		return err
	}
	var is Hash
	if sum.Sum(is[:0]); n != o.size || is != h {
		return fmt.Errorf("%w: it has the contents of %s", ErrCorrupt, is)
	}
	return z.Close()
}
