package files

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
	"github.com/repoglot/repoglot/poparse"
)

// The sizes of pieces, in bytes. With entries of 130 bytes a piece has 32 KiB; with
// 1 KiB of them it has the most.
const (
	wholeFile    = 256 << 10 // a longer file is stored in pieces
	minPiece     = 16 << 10
	maxPiece     = 128 << 10
	pieceEvery   = 128 // of so many paragraphs after minPiece, one ends a piece
	pieceContext = 64  // bytes before a paragraph that decide
)

// Pieces is how a file is cut into pieces: by its own text, so that versions have the
// pieces in common that do not differ.
type Pieces struct {
	list  []filePiece
	split bool // not all pieces begin with a paragraph
	plain bool // File.Plain, and not split
	later bool // File.Later: the list is empty
}

type filePiece struct {
	id     int64 // 0: not stored
	size   int
	stored int      // compressed size
	sum    [16]byte // of SHA-256, by which pieces are equal
}

// Cut returns the pieces of a file, nil if it is stored whole.
func Cut(data []byte) *Pieces {
	if len(data) <= wholeFile {
		return nil
	}
	p := &Pieces{list: make([]filePiece, 0, len(data)/minPiece)}
	for len(data) > 0 {
		n, whole := pieceEnd(data)
		piece := data[:n]
		data, p.split = data[n:], p.split || !whole
		sum := sha256.Sum256(piece)
		p.list = append(p.list, filePiece{size: len(piece), sum: [16]byte(sum[:])})
	}
	return p
}

// pieceEnd returns the length of the first piece of a text, and whether it ends before a
// paragraph or with the text.
func pieceEnd(data []byte) (n int, whole bool) {
	most := min(len(data), maxPiece)
	for at := minPiece; at < most; at++ {
		if at = poparse.NextParagraph(data[:most], at); at < 0 {
			break
		}
		if crc32.ChecksumIEEE(data[at-pieceContext:at])%pieceEvery == 0 {
			return at, true
		}
	}
	return most, most == len(data)
}

// The bits of the first byte of an encoded list.
const (
	plainFile = 1 << iota
	laterFile
)

func (p *Pieces) encode() []byte {
	flags := byte(0)
	if p.plain {
		flags |= plainFile
	}
	if p.later {
		flags |= laterFile
	}
	b := binary.AppendUvarint([]byte{flags}, uint64(len(p.list)))
	for i := range p.list {
		f := &p.list[i]
		b = binary.AppendUvarint(b, uint64(f.id))
		b = binary.AppendUvarint(b, uint64(f.size))
		b = binary.AppendUvarint(b, uint64(f.stored))
		b = append(b, f.sum[:]...)
	}
	return b
}

var errPieces = errors.New("the list of pieces is damaged")

// Decode reads what encode wrote. On damaged bytes it does not panic, and it
// allocates in proportion to their length.
func Decode(b []byte) (*Pieces, error) {
	if len(b) == 0 {
		return nil, errPieces
	}
	p := &Pieces{plain: b[0]&plainFile != 0, later: b[0]&laterFile != 0}
	r := stored.Reader{B: b[1:]}
	total := uint64(0)
	for n := r.Uvarint(); n > 0 && !r.Bad; n-- {
		id, size, packed, sum := r.Uvarint(), r.Uvarint(), r.Uvarint(), r.Bytes(16)
		if total += size; r.Bad || id > 1<<62 || packed > stored.MaxInflated || size > stored.MaxInflated || total > stored.MaxInflated {
			return nil, errPieces
		}
		p.list = append(p.list, filePiece{id: int64(id), size: int(size), stored: int(packed), sum: [16]byte(sum)})
	}
	if r.Bad || len(r.B) > 0 {
		return nil, errPieces
	}
	return p, nil
}

// IDs are the ids of the pieces that are stored.
func (p *Pieces) IDs() (ids []int64) {
	for i := range p.list {
		ids = append(ids, p.list[i].id)
	}
	return ids
}

// Sums are the hashes by which pieces are equal.
func (p *Pieces) Sums() (sums [][16]byte) {
	for i := range p.list {
		sums = append(sums, p.list[i].sum)
	}
	return sums
}

func (p *Pieces) stored() (n int64) {
	for i := range p.list {
		n += int64(p.list[i].stored)
	}
	return n
}

// putPieces stores the pieces of a file that the version before does not have, and
// deletes those that only that one has. Either may be nil.
func (b *Writer) putPieces(ctx context.Context, data []byte, next, old *Pieces) error {
	have := map[[16]byte]*filePiece{}
	if old != nil {
		for i := range old.list {
			have[old.list[i].sum] = &old.list[i]
		}
	}
	kept := map[int64]bool{}
	if next != nil {
		for i := range next.list {
			f := &next.list[i]
			piece := data[:f.size]
			data = data[f.size:]
			same, ok := have[f.sum]
			if !ok {
				if err := b.putPiece(ctx, f, piece); err != nil {
					return err
				}
				same = f
				have[f.sum] = same
			}
			f.id, f.stored = same.id, same.stored
			kept[f.id] = true
		}
	}
	if old == nil {
		return nil
	}
	gone := make([]int64, 0, len(old.list))
	for i := range old.list {
		if !kept[old.list[i].id] {
			gone = append(gone, old.list[i].id)
		}
	}
	slices.Sort(gone)
	return b.s.DoIn(ctx, `DELETE FROM file_pieces WHERE id IN $ids`, nil, slices.Compact(gone))
}

func (b *Writer) putPiece(ctx context.Context, f *filePiece, piece []byte) error {
	packed := b.codec.Deflate(piece)
	f.stored = len(packed)
	if err := b.s.WillTakeIDs(ctx); err != nil {
		return err
	}
	_, err := b.s.First(ctx, `INSERT INTO file_pieces (data) VALUES ($1) RETURNING id`, []any{packed}, &f.id)
	return err
}

// join reads pieces in a row, from the first on until size bytes are there.
func (b *Reader) join(ctx context.Context, pieces []filePiece) ([]byte, error) {
	size := 0
	ids := make([]int64, len(pieces))
	for i := range pieces {
		ids[i] = pieces[i].id
		size += pieces[i].size
	}
	packed, err := sqldb.MapIn(ctx, b.s, `SELECT id, data FROM file_pieces WHERE id IN $ids`, nil, ids, func(data *[]byte) []any { return []any{data} })
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, size)
	for i := range pieces {
		before := len(out)
		var err error
		if out, err = b.codec.InflateAfter(out, packed[pieces[i].id]); err != nil {
			return nil, damagedFile(err)
		}
		if len(out)-before != pieces[i].size {
			return nil, damagedFile(errPieces)
		}
	}
	return out, nil
}

func damagedFile(err error) error {
	return fmt.Errorf("the stored bytes are damaged: restore a backup, or move the database away and import anew (%w)", err)
}
