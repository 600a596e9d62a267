package files

import (
	"context"
	"fmt"
	"slices"
)

// Difference is a part of a file that differs from the stored version. In both it
// begins with the file or with a paragraph (poparse.NextParagraph), and ends so.
type Difference struct {
	// From and To are where it is in the new version.
	From, To int
	// Old is what the stored version has in its place.
	Old []byte
}

// Differences compares a new version of a file with the stored one, of the live
// translation of a component that was made of the blob at the path. found is false if
// there is no such translation, if differences of its file may not be read alone, or
// if more than three quarters of the file are in pieces that differ.
func (b *Files) Differences(ctx context.Context, component int64, path, blob string, next *Pieces) (list []Difference, found bool, err error) {
	var text []byte
	found, err = b.s.First(ctx, `SELECT f.pieces FROM translations t JOIN files f ON f.translation_id = t.id
		WHERE t.component_id = $1 AND t.removed = 0 AND t.is_source = 0 AND t.filename = $2 AND t.revision = $3 AND f.blob = $3 AND f.pieces IS NOT NULL`,
		[]any{component, path, blob}, &text)
	if err == nil && found {
		list, found, err = b.differences(ctx, text, next)
	}
	return list, found, b.s.Fail(ctx, fmt.Sprintf("compare %s of component %d", path, component), err)
}

func (b *Files) differences(ctx context.Context, text []byte, next *Pieces) (list []Difference, ok bool, err error) {
	old, err := Decode(text)
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
		before, err := b.join(ctx, old.list[g.oldFrom:g.oldTo])
		if err != nil {
			return nil, false, err
		}
		list = append(list, Difference{From: g.from, To: g.to, Old: before})
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
