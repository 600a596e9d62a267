package files

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

// File is the current content of a translation's file, stored so that any server
// can serve it without a mirror.
type File struct {
	// TranslationID is the owner.
	TranslationID int64
	// Blob is the git blob id, 40 hexadecimal digits.
	Blob string
	// Modified is the time of the commit that changed it last; zero if unknown.
	Modified time.Time
	// Data is the content as in the repository. It is stored compressed.
	Data []byte
	// Plain says that differences from this version may be read alone (unit.Edited).
	// It matters for files in pieces only.
	Plain bool
	// Pieces are by Cut of Data; nil if it was not called.
	Pieces *Pieces
	// Later says that Data follows by a later Put, before the component counts as
	// imported. Until then there is no file.
	Later bool
}

// Reader reads the stored files in one transaction.
type Reader struct {
	s     *sqldb.Session
	codec *stored.Codec
}

// NewReader makes a reader of the files that a session sees.
func NewReader(s *sqldb.Session, codec *stored.Codec) *Reader { return &Reader{s, codec} }

// Writer also stores files.
type Writer struct{ Reader }

// NewWriter makes a writer of files in a session.
func NewWriter(s *sqldb.Session, codec *stored.Codec) *Writer { return &Writer{Reader{s, codec}} }

// Put replaces the stored file of a translation. It writes nothing if Blob and
// Modified are unchanged and Data is there.
func (b *Writer) Put(ctx context.Context, f *File) (changed bool, err error) {
	if len(f.Data) > stored.MaxInflated {
		return false, sqldb.Invalid("%d bytes: no more than %d can be stored, lower max_file_size", len(f.Data), stored.MaxInflated)
	}
	var blob string
	var modified sql.NullInt64
	var list []byte
	found, err := b.s.First(ctx, `SELECT blob, modified, pieces FROM files WHERE translation_id = $1`, []any{f.TranslationID}, &blob, &modified, &list)
	if err != nil {
		return false, err
	}
	var old *Pieces
	if list != nil {
		if old, err = Decode(list); err != nil {
			return false, damagedFile(err)
		}
	}
	if found && blob == f.Blob && sqldb.Nullable(modified) == sqldb.Micros(f.Modified) && (f.Later || old == nil || !old.later) {
		return false, nil
	}
	return true, b.putData(ctx, f, old)
}

// putData stores the bytes of a file in place of a version in pieces, or none.
func (b *Writer) putData(ctx context.Context, f *File, old *Pieces) error {
	next := f.Pieces
	switch {
	case f.Later:
		next = &Pieces{later: true}
	case next == nil:
		next = Cut(f.Data)
	}
	if err := b.putPieces(ctx, f.Data, next, old); err != nil {
		return err
	}
	var data, pieces any = []byte{}, nil
	if next == nil {
		data = b.codec.Deflate(f.Data)
	} else {
		next.plain = f.Plain && !next.split
		pieces = next.encode()
	}
	return b.s.Do(ctx, `INSERT INTO files (translation_id, blob, modified, data, pieces) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (translation_id) DO UPDATE SET blob = excluded.blob, modified = excluded.modified, data = excluded.data, pieces = excluded.pieces`,
		f.TranslationID, f.Blob, sqldb.Micros(f.Modified), data, pieces)
}

// Later returns the files of a component whose Data are to follow, by translation.
func (b *Writer) Later(ctx context.Context, component int64) ([]File, error) {
	var files []File
	err := b.s.Query(ctx, `SELECT f.translation_id, f.blob, f.modified, f.pieces FROM translations t JOIN files f ON f.translation_id = t.id
		WHERE t.component_id = $1 AND f.pieces IS NOT NULL ORDER BY t.id`, []any{component}, func(scan sqldb.Scan) error {
		var f File
		var list []byte
		if err := scan(&f.TranslationID, &f.Blob, &f.Modified, &list); err != nil {
			return err
		}
		pieces, err := Decode(list)
		if err != nil {
			return damagedFile(err)
		}
		if f.Plain = pieces.plain; pieces.later {
			files = append(files, f)
		}
		return nil
	})
	return files, b.s.Fail(ctx, fmt.Sprintf("look for files of component %d that are not there yet", component), err)
}

// Owner is the translation under which the file of a translation t is stored:
// a source translation without a file of its own uses the file of another live
// translation, which is stored once (docs/compatibility.md#source-translation).
const Owner = `COALESCE((SELECT o.id FROM translations o WHERE t.is_source = 1 AND o.component_id = t.component_id
	AND o.filename = t.filename AND o.is_source = 0 AND o.removed = 0 ORDER BY o.id LIMIT 1), t.id)`

// File returns the stored file of a translation, served or not, or ErrNotFound. Its
// TranslationID is the given one. If Data are to follow, the error is ErrNotFound, and
// Later and Blob are set.
func (b *Reader) File(ctx context.Context, translationID int64) (File, error) {
	defer b.s.AboutTranslation(ctx, translationID).End()
	owner := translationID
	_, err := b.s.First(ctx, `SELECT `+Owner+` FROM translations t WHERE t.id = $1`, []any{translationID}, &owner)
	var f File
	if err == nil {
		f, err = b.StoredUnder(ctx, owner)
	}
	f.TranslationID = translationID
	return f, b.s.Fail(ctx, fmt.Sprintf("read file of translation %d", translationID), err)
}

// StoredUnder returns what is stored under a translation (Owner), or ErrNotFound. If Data are to
// follow, the error is ErrNotFound, and Later and Blob are set.
func (b *Reader) StoredUnder(ctx context.Context, translation int64) (File, error) {
	f := File{TranslationID: translation}
	var data, list []byte
	found, err := b.s.First(ctx, `SELECT blob, modified, data, pieces FROM files WHERE translation_id = $1`, []any{translation}, &f.Blob, &f.Modified, &data, &list)
	if err == nil && !found {
		err = sqldb.NotFound("file")
	}
	if err != nil {
		return File{}, err
	}
	if list == nil {
		if f.Data, err = b.codec.Inflate(data); err != nil {
			return File{}, damagedFile(err)
		}
		return f, nil
	}
	pieces, err := Decode(list)
	if err != nil {
		return File{}, damagedFile(err)
	}
	if pieces.later {
		f.Later = true
		return f, sqldb.NotFound("file: its bytes are stored at the end of the import")
	}
	if f.Data, err = b.join(ctx, pieces.list); err != nil {
		return File{}, err
	}
	return f, nil
}

// Stored describes a translation's stored file, without its bytes.
type Stored struct {
	// TranslationID is the owner.
	TranslationID int64
	// Blob is the git blob id, 40 hexadecimal digits.
	Blob string
	// Modified is the time of the commit that changed it last; zero if unknown.
	Modified time.Time
	// Stored is its compressed size in bytes.
	Stored int64
}

// StoredFiles returns the stored files of translations, by translation.
// Translations without a file are absent. It reads no content.
func (b *Reader) StoredFiles(ctx context.Context, translations []int64) (map[int64]Stored, error) {
	if len(translations) == 1 {
		defer b.s.AboutTranslation(ctx, translations[0]).End()
	}
	files := make(map[int64]Stored, len(translations))
	err := b.s.QueryIn(ctx, `SELECT t.id, f.blob, f.modified, LENGTH(f.data), f.pieces
		FROM translations t JOIN files f ON f.translation_id = `+Owner+` WHERE t.id IN $ids`, nil, translations, func(scan sqldb.Scan) error {
		var f Stored
		var list []byte
		err := scan(&f.TranslationID, &f.Blob, &f.Modified, &f.Stored, &list)
		if err == nil && list != nil {
			var pieces *Pieces
			if pieces, err = Decode(list); err != nil || pieces.later {
				return err
			}
			f.Stored = pieces.stored()
		}
		files[f.TranslationID] = f
		return err
	})
	return files, b.s.Fail(ctx, "look for stored files", err)
}

// Difference is a part of a file that differs from the stored version. In both it
// begins with the file or with a paragraph (poparse.NextParagraph), and ends so.
type Difference struct {
	// From and To are where it is in the new version.
	From, To int
	// Old is what the stored version has in its place.
	Old []byte
}

// FileDifferences compares a new version of a file with the stored one, of the live
// translation of a component that was made of the blob at the path. found is false if
// there is no such translation, if differences of its file may not be read alone, or
// if more than three quarters of the file are in pieces that differ.
func (b *Reader) FileDifferences(ctx context.Context, component int64, path, blob string, next *Pieces) (list []Difference, found bool, err error) {
	var text []byte
	found, err = b.s.First(ctx, `SELECT f.pieces FROM translations t JOIN files f ON f.translation_id = t.id
		WHERE t.component_id = $1 AND t.removed = 0 AND t.is_source = 0 AND t.filename = $2 AND t.revision = $3 AND f.blob = $3 AND f.pieces IS NOT NULL`,
		[]any{component, path, blob}, &text)
	if err == nil && found {
		list, found, err = b.differences(ctx, text, next)
	}
	return list, found, b.s.Fail(ctx, fmt.Sprintf("compare %s of component %d", path, component), err)
}

func (b *Reader) differences(ctx context.Context, text []byte, next *Pieces) (list []Difference, ok bool, err error) {
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
