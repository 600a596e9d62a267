package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
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

// CutFile returns the pieces of a file, nil if it is stored whole.
func CutFile(data []byte) *Pieces {
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
		hash := uint32(2166136261) // FNV-1a
		for _, c := range data[at-pieceContext : at] {
			hash = (hash ^ uint32(c)) * 16777619
		}
		if hash>>8%pieceEvery == 0 {
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

// decodePieces reads what encode wrote. On damaged bytes it does not panic, and it
// allocates in proportion to their length.
func decodePieces(b []byte) (*Pieces, error) {
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

func (p *Pieces) stored() (n int64) {
	for i := range p.list {
		n += int64(p.list[i].stored)
	}
	return n
}

// putPieces stores the pieces of a file that the version before does not have, and
// deletes those that only that one has. Either may be nil.
func (tx *StepTx) putPieces(ctx context.Context, data []byte, next, old *Pieces) error {
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
				if err := tx.putPiece(ctx, f, piece); err != nil {
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
	return sqldb.Chunks(slices.Compact(gone), func(chunk []any) error {
		err := tx.s.Do(ctx, `DELETE FROM file_pieces WHERE id IN `+sqldb.List(1, len(chunk)), chunk...)
		return err
	})
}

func (tx *StepTx) putPiece(ctx context.Context, f *filePiece, piece []byte) error {
	packed := tx.db.codec.Deflate(piece)
	f.stored = len(packed)
	if err := tx.s.WillTakeIDs(ctx); err != nil {
		return err
	}
	_, err := tx.s.First(ctx, `INSERT INTO file_pieces (data) VALUES ($1) RETURNING id`, []any{packed}, &f.id)
	return err
}

// joinPieces reads pieces in a row, from the first on until size bytes are there.
func (db *DB) joinPieces(ctx context.Context, s *sqldb.Session, pieces []filePiece) ([]byte, error) {
	size := 0
	ids := make([]int64, len(pieces))
	for i := range pieces {
		ids[i] = pieces[i].id
		size += pieces[i].size
	}
	packed := make(map[int64][]byte, len(pieces))
	if err := sqldb.Chunks(ids, func(chunk []any) error {
		return s.Query(ctx, `SELECT id, data FROM file_pieces WHERE id IN `+sqldb.List(1, len(chunk)), chunk, func(scan sqldb.Scan) error {
			var id int64
			var data []byte
			err := scan(&id, &data)
			packed[id] = data
			return err
		})
	}); err != nil {
		return nil, err
	}
	out := make([]byte, 0, size)
	for i := range pieces {
		before := len(out)
		var err error
		if out, err = db.codec.InflateAfter(out, packed[pieces[i].id]); err != nil {
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

// FileDifference is a part of a file that differs from the stored version. In both it
// begins with the file or with a paragraph (poparse.NextParagraph), and ends so.
type FileDifference struct {
	// From and To are where it is in the new version.
	From, To int
	// Old is what the stored version has in its place.
	Old []byte
}

// FileDifferences compares a new version of a file with the stored one, of the live
// translation of a component that was made of the blob at the path. found is false if
// there is no such translation, if differences of its file may not be read alone, or
// if more than three quarters of the file are in pieces that differ.
func (s *Snapshot) FileDifferences(ctx context.Context, component int64, path, blob string, next *Pieces) (list []FileDifference, found bool, err error) {
	var text []byte
	found, err = s.s.First(ctx, `SELECT f.pieces FROM translations t JOIN files f ON f.translation_id = t.id
		WHERE t.component_id = $1 AND t.removed = 0 AND t.is_source = 0 AND t.filename = $2 AND t.revision = $3 AND f.blob = $3 AND f.pieces IS NOT NULL`,
		[]any{component, path, blob}, &text)
	if err == nil && found {
		list, found, err = s.differences(ctx, text, next)
	}
	return list, found, s.s.Fail(ctx, fmt.Sprintf("compare %s of component %d", path, component), err)
}

func (s *Snapshot) differences(ctx context.Context, text []byte, next *Pieces) (list []FileDifference, ok bool, err error) {
	old, err := decodePieces(text)
	if err != nil || !old.plain || old.later || next.split {
		return nil, false, err
	}
	gaps := alignPieces(old.list, next.list)
	differs := 0
	for _, g := range gaps {
		differs += max(g.to-g.from, pieceBytes(old.list[g.oldFrom:g.oldTo]))
	}
	if 4*differs > 3*max(pieceBytes(next.list), pieceBytes(old.list)) {
		return nil, false, nil
	}
	for _, g := range gaps {
		before, err := s.db.joinPieces(ctx, s.s, old.list[g.oldFrom:g.oldTo])
		if err != nil {
			return nil, false, err
		}
		list = append(list, FileDifference{From: g.from, To: g.to, Old: before})
	}
	return list, true, nil
}

func pieceBytes(list []filePiece) (n int) {
	for i := range list {
		n += list[i].size
	}
	return n
}

// pieceGap is a row of pieces of an older version, and the bytes of the newer version in
// their place.
type pieceGap struct{ oldFrom, oldTo, from, to int }

// alignPieces returns where two versions differ. Where they do, it goes on at the next
// piece of the newer one that the older one has further on.
func alignPieces(old, next []filePiece) (gaps []pieceGap) {
	places := make(map[[16]byte][]int, len(old)) // in old, ascending
	for i := range old {
		places[old[i].sum] = append(places[old[i].sum], i)
	}
	at, offset := 0, 0 // in old, in bytes of the newer version
	open := false      // the last gap is not closed
	for i := range next {
		n := slices.IndexFunc(places[next[i].sum], func(place int) bool { return place >= at })
		switch {
		case n >= 0:
			place := places[next[i].sum][n]
			if open || place > at {
				if !open {
					gaps = append(gaps, pieceGap{oldFrom: at, from: offset})
				}
				g := &gaps[len(gaps)-1]
				g.oldTo, g.to, open = place, offset, false
			}
			at = place + 1
		case !open:
			gaps, open = append(gaps, pieceGap{oldFrom: at, from: offset}), true
		}
		offset += next[i].size
	}
	if !open && at < len(old) {
		gaps, open = append(gaps, pieceGap{oldFrom: at, from: offset}), true
	}
	if open {
		g := &gaps[len(gaps)-1]
		g.oldTo, g.to = len(old), offset
	}
	return gaps
}
