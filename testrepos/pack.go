package testrepos

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/klauspost/compress/zlib"
)

// maxChain is the number of deltas that lead to an object, as in git's packs.
const maxChain = 50

// packWriter writes a pack like one that git made of a repository: the versions of
// a path stand together, the newest first and whole, older ones as deltas of the
// next newer. Loose objects would take a hundred times as long.
type packWriter struct {
	dir    string
	file   *os.File
	out    *bufio.Writer
	offset int64
	index  idxfile.Writer
	seen   map[plumbing.Hash]bool
	kept   []packed // commits, written at the end
	zlib   *zlib.Writer
	sum    hash.Hash
	buffer []byte // segments, joined: a hash would copy each of them
}

// packed is a compressed object without its header.
type packed struct {
	hash plumbing.Hash
	size int // before it was compressed
	data []byte
}

// chain has the versions of one path that were not written yet.
type chain struct {
	kind   plumbing.ObjectType
	hash   plumbing.Hash // of the newest version
	newest []string      // its segments; nil before the first version
	stored bool          // the newest version was written
	older  []packed      // deltas, the oldest first; each is made of the next, the last of the newest
}

// newPackWriter makes a pack in a bare repository.
func newPackWriter(repo string) (*packWriter, error) {
	dir := filepath.Join(repo, "objects", "pack")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	file, err := os.CreateTemp(dir, "tmp_pack_")
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	z, err := zlib.NewWriterLevel(io.Discard, zlib.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	w := &packWriter{dir: dir, file: file, out: bufio.NewWriterSize(file, 1<<20), seen: map[plumbing.Hash]bool{}, zlib: z, sum: sha1.New()}
	return w, w.write([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x00")) // the number of objects comes later
}

func (w *packWriter) write(b []byte) error {
	n, err := w.out.Write(b)
	w.offset += int64(n)
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return nil
}

// identify returns the id of an object. An object that was added before is an error,
// since a pack has each only once.
func (w *packWriter) identify(kind plumbing.ObjectType, segments []string) (h plumbing.Hash, err error) {
	w.sum.Reset()
	fmt.Fprintf(w.sum, "%s %d\x00", kind, size(segments))
	_, _ = w.sum.Write(w.join(segments)) // a hash returns no error
	w.sum.Sum(h[:0])
	if w.seen[h] {
		return h, fmt.Errorf("pack: the %s %s is added twice", kind, h)
	}
	w.seen[h] = true
	return h, nil
}

// join returns the segments as one text, until the next call.
func (w *packWriter) join(segments []string) []byte {
	w.buffer = w.buffer[:0]
	for _, s := range segments {
		w.buffer = append(w.buffer, s...)
	}
	return w.buffer
}

func (w *packWriter) compress(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w.zlib.Reset(&b)
	_, err := w.zlib.Write(text)
	if err = errors.Join(err, w.zlib.Close()); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return b.Bytes(), nil
}

// add adds the next version of a path. It keeps the segments.
func (w *packWriter) add(c *chain, segments []string) (plumbing.Hash, error) {
	hash, err := w.identify(c.kind, segments)
	if err != nil {
		return hash, err
	}
	if c.newest != nil && !c.stored {
		delta := appendDelta(nil, segments, c.newest)
		data, err := w.compress(delta)
		if err != nil {
			return hash, err
		}
		c.older = append(c.older, packed{c.hash, len(delta), data})
	}
	c.hash, c.newest, c.stored = hash, segments, false
	if len(c.older) < maxChain {
		return hash, nil
	}
	return hash, w.flush(c)
}

// flush writes the versions of a path that were not written yet.
func (w *packWriter) flush(c *chain) error {
	if c.stored || c.newest == nil {
		return nil
	}
	data, err := w.compress(w.join(c.newest))
	if err != nil {
		return err
	}
	base := w.offset
	if err := w.object(c.kind, packed{c.hash, size(c.newest), data}, 0); err != nil {
		return err
	}
	for _, p := range slices.Backward(c.older) {
		at := w.offset
		if err := w.object(plumbing.OFSDeltaObject, p, at-base); err != nil {
			return err
		}
		base = at
	}
	c.older, c.stored = c.older[:0], true
	return nil
}

// commit adds a commit.
func (w *packWriter) commit(text string) (plumbing.Hash, error) {
	hash, err := w.identify(plumbing.CommitObject, []string{text})
	if err != nil {
		return hash, err
	}
	data, err := w.compress([]byte(text))
	w.kept = append(w.kept, packed{hash, len(text), data})
	return hash, err
}

// object writes one object; of a delta, back is the distance to its base.
func (w *packWriter) object(kind plumbing.ObjectType, p packed, back int64) error {
	head := []byte{byte(kind)<<4 | byte(p.size&15)}
	for n := p.size >> 4; n > 0; n >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(n&0x7f))
	}
	if kind == plumbing.OFSDeltaObject {
		var b []byte // the most significant bits first
		for b = append(b, byte(back&0x7f)); back > 0x7f; {
			back = back>>7 - 1
			b = append(b, byte(back&0x7f)|0x80)
		}
		slices.Reverse(b)
		head = append(head, b...)
	}
	crc := crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, p.data)
	w.index.Add(p.hash, uint64(w.offset), crc)
	return errors.Join(w.write(head), w.write(p.data))
}

// close ends the pack, gives it its name and writes its index.
func (w *packWriter) close() error {
	for _, p := range w.kept {
		if err := w.object(plumbing.CommitObject, p, 0); err != nil {
			return err
		}
	}
	sum, err := w.sign()
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	if err := w.index.OnFooter(sum); err != nil {
		return fmt.Errorf("pack index: %w", err)
	}
	index, err := w.index.Index()
	if err != nil {
		return fmt.Errorf("pack index: %w", err)
	}
	name := filepath.Join(w.dir, "pack-"+sum.String())
	file, err := os.Create(name + ".idx")
	if err != nil {
		return fmt.Errorf("pack index: %w", err)
	}
	out := bufio.NewWriterSize(file, 1<<20)
	_, err = idxfile.NewEncoder(out).Encode(index)
	if err = errors.Join(err, out.Flush(), file.Close(), os.Rename(w.file.Name(), name+".pack")); err != nil {
		return fmt.Errorf("pack index: %w", err)
	}
	return nil
}

// sign writes the number of objects and the pack's checksum, and closes the file.
func (w *packWriter) sign() (sum plumbing.Hash, err error) {
	if err := w.out.Flush(); err != nil {
		return sum, err
	}
	if _, err := w.file.WriteAt(binary.BigEndian.AppendUint32(nil, uint32(len(w.seen))), 8); err != nil {
		return sum, err
	}
	if _, err := w.file.Seek(0, io.SeekStart); err != nil {
		return sum, err
	}
	h := sha1.New()
	if _, err := io.Copy(h, w.file); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	_, err = w.file.Write(sum[:])
	return sum, errors.Join(err, w.file.Close())
}

// abandon removes an unfinished pack.
func (w *packWriter) abandon() {
	_ = w.file.Close() // the pack is of no use
	_ = os.Remove(w.file.Name())
}
