package store

import (
	"context"
	"database/sql"
	"fmt"
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
	// Pieces are by CutFile of Data; nil if it was not called.
	Pieces *Pieces
	// Later says that Data follows by a later PutFile, before the component counts as
	// imported. Until then there is no file.
	Later bool
}

// PutFile replaces the stored file of a translation. It writes nothing if Blob and
// Modified are unchanged and Data is there.
func (tx *StepTx) PutFile(ctx context.Context, f File) error {
	return tx.fail(ctx, fmt.Sprintf("store file of translation %d", f.TranslationID), tx.putFile(ctx, &f))
}

func (tx *StepTx) putFile(ctx context.Context, f *File) error {
	if len(f.Data) > stored.MaxInflated {
		return sqldb.Invalid("%d bytes: no more than %d can be stored, lower max_file_size", len(f.Data), stored.MaxInflated)
	}
	if _, err := tx.componentOf(ctx, f.TranslationID); err != nil {
		return err
	}
	var blob string
	var modified sql.NullInt64
	var list []byte
	found, err := tx.s.First(ctx, `SELECT blob, modified, pieces FROM files WHERE translation_id = $1`, []any{f.TranslationID}, &blob, &modified, &list)
	if err != nil {
		return err
	}
	var old *Pieces
	if list != nil {
		if old, err = decodePieces(list); err != nil {
			return damagedFile(err)
		}
	}
	if found && blob == f.Blob && nullable(modified) == sqldb.Micros(f.Modified) && (f.Later || old == nil || !old.later) {
		return nil
	}
	if err := tx.putFileData(ctx, f, old); err != nil {
		return err
	}
	return tx.markChanged(ctx, f.TranslationID)
}

// putFileData stores the bytes of a file in place of a version in pieces, or none.
func (tx *StepTx) putFileData(ctx context.Context, f *File, old *Pieces) error {
	next := f.Pieces
	switch {
	case f.Later:
		next = &Pieces{later: true}
	case next == nil:
		next = CutFile(f.Data)
	}
	if err := tx.putPieces(ctx, f.Data, next, old); err != nil {
		return err
	}
	var data, pieces any = []byte{}, nil
	if next == nil {
		data = tx.db.codec.Deflate(f.Data)
	} else {
		next.plain = f.Plain && !next.split
		pieces = next.encode()
	}
	err := tx.s.Do(ctx, `INSERT INTO files (translation_id, blob, modified, data, pieces) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (translation_id) DO UPDATE SET blob = excluded.blob, modified = excluded.modified, data = excluded.data, pieces = excluded.pieces`,
		f.TranslationID, f.Blob, sqldb.Micros(f.Modified), data, pieces)
	return err
}

// LaterFiles returns the files of a component whose Data are to follow, by translation.
func (tx *StepTx) LaterFiles(ctx context.Context, component int64) ([]File, error) {
	var files []File
	err := tx.s.Query(ctx, `SELECT f.translation_id, f.blob, f.modified, f.pieces FROM translations t JOIN files f ON f.translation_id = t.id
		WHERE t.component_id = $1 AND f.pieces IS NOT NULL ORDER BY t.id`, []any{component}, func(scan sqldb.Scan) error {
		var f File
		var modified sql.NullInt64
		var list []byte
		if err := scan(&f.TranslationID, &f.Blob, &modified, &list); err != nil {
			return err
		}
		pieces, err := decodePieces(list)
		if err != nil {
			return damagedFile(err)
		}
		if pieces.later {
			f.Modified, f.Plain = sqldb.FromMicros(modified), pieces.plain
			files = append(files, f)
		}
		return nil
	})
	return files, tx.fail(ctx, fmt.Sprintf("look for files of component %d that are not there yet", component), err)
}

// File returns the stored file of a translation, or ErrNotFound.
func (tx *StepTx) File(ctx context.Context, translationID int64) (File, error) {
	f, err := tx.db.file(ctx, tx.s, translationID)
	return f, tx.fail(ctx, fmt.Sprintf("read file of translation %d", translationID), err)
}

// fileOwner is the translation under which the file of a translation t is stored:
// a source translation without a file of its own uses the file of another live
// translation, which is stored once (docs/compatibility.md#source-translation).
const fileOwner = `COALESCE((SELECT o.id FROM translations o WHERE t.is_source = 1 AND o.component_id = t.component_id
	AND o.filename = t.filename AND o.is_source = 0 AND o.removed = 0 ORDER BY o.id LIMIT 1), t.id)`

// File returns the stored file of a translation, served or not, or ErrNotFound. Its
// TranslationID is the given one. If Data are to follow, the error is ErrNotFound, and
// Later and Blob are set.
func (s *Snapshot) File(ctx context.Context, translationID int64) (File, error) {
	defer s.s.AboutTranslation(ctx, translationID).End()
	f, err := s.file(ctx, translationID)
	f.TranslationID = translationID
	return f, s.s.Fail(ctx, fmt.Sprintf("read file of translation %d", translationID), err)
}

func (s *Snapshot) file(ctx context.Context, translation int64) (File, error) {
	if _, err := s.s.First(ctx, `SELECT `+fileOwner+` FROM translations t WHERE t.id = $1`, []any{translation}, &translation); err != nil {
		return File{}, err
	}
	return s.db.file(ctx, s.s, translation)
}

func (db *DB) file(ctx context.Context, s *sqldb.Session, translation int64) (File, error) {
	f := File{TranslationID: translation}
	var modified sql.NullInt64
	var data, list []byte
	found, err := s.First(ctx, `SELECT blob, modified, data, pieces FROM files WHERE translation_id = $1`, []any{translation}, &f.Blob, &modified, &data, &list)
	if err == nil && !found {
		err = sqldb.NotFound("file")
	}
	if err != nil {
		return File{}, err
	}
	f.Modified = sqldb.FromMicros(modified)
	if list == nil {
		if f.Data, err = db.codec.Inflate(data); err != nil {
			return File{}, damagedFile(err)
		}
		return f, nil
	}
	pieces, err := decodePieces(list)
	if err != nil {
		return File{}, damagedFile(err)
	}
	if pieces.later {
		f.Later = true
		return f, sqldb.NotFound("file: its bytes are stored at the end of the import")
	}
	if f.Data, err = db.joinPieces(ctx, s, pieces.list); err != nil {
		return File{}, err
	}
	return f, nil
}

// StoredFile describes a translation's stored file, without its bytes.
type StoredFile struct {
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
func (s *Snapshot) StoredFiles(ctx context.Context, translations []int64) (map[int64]StoredFile, error) {
	if len(translations) == 1 {
		defer s.s.AboutTranslation(ctx, translations[0]).End()
	}
	files := make(map[int64]StoredFile, len(translations))
	err := sqldb.Chunks(translations, func(chunk []any) error {
		return s.s.Query(ctx, `SELECT t.id, f.blob, f.modified, LENGTH(f.data), f.pieces
			FROM translations t JOIN files f ON f.translation_id = `+fileOwner+` WHERE t.id IN `+sqldb.List(1, len(chunk)), chunk, func(scan sqldb.Scan) error {
			var f StoredFile
			var modified sql.NullInt64
			var list []byte
			err := scan(&f.TranslationID, &f.Blob, &modified, &f.Stored, &list)
			if err == nil && list != nil {
				var pieces *Pieces
				if pieces, err = decodePieces(list); err == nil {
					f.Stored = pieces.stored()
				}
				if err == nil && pieces.later {
					return nil
				}
			}
			f.Modified = sqldb.FromMicros(modified)
			files[f.TranslationID] = f
			return err
		})
	})
	return files, s.s.Fail(ctx, "look for stored files", err)
}
