package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog/store/internal/files"
)

// File is the current content of a translation's file.
type File = files.File

// StoredFile describes a translation's stored file, without its bytes.
type StoredFile = files.Stored

// Pieces is how a file is cut into pieces.
type Pieces = files.Pieces

// FileDifference is a part of a file that differs from the stored version.
type FileDifference = files.Difference

// CutFile returns the pieces of a file, nil if it is stored whole.
func CutFile(data []byte) *Pieces { return files.Cut(data) }

func (s *Snapshot) files() *files.Files { return files.New(s.s, s.db.codec) }

// File returns the stored file of a translation, served or not, or ErrNotFound. Its
// TranslationID is the given one. If Data are to follow, the error is ErrNotFound, and
// Later and Blob are set.
func (s *Snapshot) File(ctx context.Context, translationID int64) (File, error) {
	return s.files().File(ctx, translationID)
}

// StoredFiles returns the stored files of translations, by translation.
// Translations without a file are absent. It reads no content.
func (s *Snapshot) StoredFiles(ctx context.Context, translations []int64) (map[int64]StoredFile, error) {
	return s.files().Stored(ctx, translations)
}

// FileDifferences compares a new version of a file with the stored one, of the live
// translation of a component that was made of the blob at the path. found is false if
// there is no such translation, if differences of its file may not be read alone, or
// if more than three quarters of the file are in pieces that differ.
func (s *Snapshot) FileDifferences(ctx context.Context, component int64, path, blob string, next *Pieces) (list []FileDifference, found bool, err error) {
	return s.files().Differences(ctx, component, path, blob, next)
}

func (tx *StepTx) files() *files.Files { return files.New(tx.s, tx.db.codec) }

// PutFile replaces the stored file of a translation. It writes nothing if Blob and
// Modified are unchanged and Data is there.
func (tx *StepTx) PutFile(ctx context.Context, f File) error {
	changed := false
	_, err := tx.componentOf(ctx, f.TranslationID)
	if err == nil {
		changed, err = tx.files().Put(ctx, &f)
	}
	if err == nil && changed {
		err = tx.markChanged(ctx, f.TranslationID)
	}
	return tx.fail(ctx, fmt.Sprintf("store file of translation %d", f.TranslationID), err)
}

// LaterFiles returns the files of a component whose Data are to follow, by translation.
func (tx *StepTx) LaterFiles(ctx context.Context, component int64) ([]File, error) {
	return tx.files().Later(ctx, component)
}

// File returns the stored file of a translation, or ErrNotFound.
func (tx *StepTx) File(ctx context.Context, translationID int64) (File, error) {
	f, err := tx.files().Read(ctx, translationID)
	return f, tx.fail(ctx, fmt.Sprintf("read file of translation %d", translationID), err)
}
