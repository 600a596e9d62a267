package resource

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// Turn waits until a client may write. Its turn ends when free is called.
type Turn func(ctx context.Context) (free func(), err error)

func inTurn[T any](ctx context.Context, turn Turn, fn func() (T, error)) (result T, err error) {
	free, err := turn(ctx)
	if err != nil {
		return result, err
	}
	defer free()
	return fn()
}

// EditsInTurn stores edits in turn.
type EditsInTurn struct {
	// Edits stores them.
	Edits Edits
	// Turn is waited for.
	Turn Turn
	// Count counts the bytes that the client is about to store, before its turn. Its
	// error is returned.
	Count func(ctx context.Context, bytes int) error
}

// editBytes is what an edit takes in the journal and in the history beside its text.
const editBytes = 500

// count counts the bytes of edits.
func (e *EditsInTurn) count(ctx context.Context, edits ...edit.Request) error {
	n := 0
	for i := range edits {
		n += editBytes
		for _, text := range edits[i].Target {
			n += len(text)
		}
	}
	return e.Count(ctx, n)
}

// Edit stores new texts in turn.
func (e *EditsInTurn) Edit(ctx context.Context, component, translation int64, by edit.Author, edits []edit.Request) (int, error) {
	if err := e.count(ctx, edits...); err != nil {
		return 0, err
	}
	return inTurn(ctx, e.Turn, func() (int, error) { return e.Edits.Edit(ctx, component, translation, by, edits) })
}

// Upload makes edits of a file in turn.
func (e *EditsInTurn) Upload(ctx context.Context, component, translation int64, by edit.Author, data []byte, o edit.UploadOptions) (edit.Counts, error) {
	if err := e.Count(ctx, len(data)); err != nil {
		return edit.Counts{}, err
	}
	return inTurn(ctx, e.Turn, func() (edit.Counts, error) { return e.Edits.Upload(ctx, component, translation, by, data, o) })
}

// Suggest makes a suggestion in turn.
func (e *EditsInTurn) Suggest(ctx context.Context, component, translation int64, by edit.Author, want edit.Request) (int64, error) {
	if err := e.count(ctx, want); err != nil {
		return 0, err
	}
	return inTurn(ctx, e.Turn, func() (int64, error) { return e.Edits.Suggest(ctx, component, translation, by, want) })
}

// AnswerSuggestion accepts or rejects a suggestion in turn.
func (e *EditsInTurn) AnswerSuggestion(ctx context.Context, component, translation int64, by edit.Author, of *store.Edit, accept bool) error {
	_, err := inTurn(ctx, e.Turn, func() (bool, error) {
		return accept, e.Edits.AnswerSuggestion(ctx, component, translation, by, of, accept)
	})
	return err
}

// Lock locks or unlocks in turn.
func (e *EditsInTurn) Lock(ctx context.Context, component int64, by edit.Author, locked bool) (bool, error) {
	return inTurn(ctx, e.Turn, func() (bool, error) { return e.Edits.Lock(ctx, component, by, locked) })
}

// Discard ends edits in turn.
func (e *EditsInTurn) Discard(ctx context.Context, component int64, by edit.Author, reason string, suggest bool, choose func(*store.Edit) bool) (edit.Discarded, error) {
	return inTurn(ctx, e.Turn, func() (edit.Discarded, error) {
		return e.Edits.Discard(ctx, component, by, reason, suggest, choose)
	})
}

// OperationsInTurn commits, pulls and pushes in turn.
type OperationsInTurn struct {
	// Operations does it.
	Operations Operations
	// Turn is waited for.
	Turn Turn
}

// Push pushes in turn.
func (o *OperationsInTurn) Push(ctx context.Context, component int64, by *catalog.Token) (bool, error) {
	return inTurn(ctx, o.Turn, func() (bool, error) { return o.Operations.Push(ctx, component, by) })
}

// Commit makes commits in turn.
func (o *OperationsInTurn) Commit(ctx context.Context, component int64, translations []int64) (bool, error) {
	return inTurn(ctx, o.Turn, func() (bool, error) { return o.Operations.Commit(ctx, component, translations) })
}

// Pull pulls in turn.
func (o *OperationsInTurn) Pull(ctx context.Context, component int64) (bool, error) {
	return inTurn(ctx, o.Turn, func() (bool, error) { return o.Operations.Pull(ctx, component) })
}

// Reclone clones the mirror anew in turn.
func (o *OperationsInTurn) Reclone(ctx context.Context, component int64) (bool, error) {
	return inTurn(ctx, o.Turn, func() (bool, error) { return o.Operations.Reclone(ctx, component) })
}

// FilesInTurn stores edits of files in turn.
type FilesInTurn struct {
	// Files does it.
	Files Files
	// Turn is waited for.
	Turn Turn
	// Count counts as EditsInTurn.Count does.
	Count func(ctx context.Context, bytes int) error
}

// AddTranslation adds a language in turn.
func (f *FilesInTurn) AddTranslation(ctx context.Context, component int64, code string, by edit.Author) error {
	_, err := inTurn(ctx, f.Turn, func() (bool, error) { return true, f.Files.AddTranslation(ctx, component, code, by) })
	return err
}

// RemoveTranslation removes a translation in turn.
func (f *FilesInTurn) RemoveTranslation(ctx context.Context, component int64, t *catalog.Translation, by edit.Author) error {
	_, err := inTurn(ctx, f.Turn, func() (bool, error) { return true, f.Files.RemoveTranslation(ctx, component, t, by) })
	return err
}

// AddString adds a string in turn.
func (f *FilesInTurn) AddString(ctx context.Context, component int64, t *catalog.Translation, n edit.NewString) error {
	if err := f.Count(ctx, editBytes+len(n.Context)+len(n.Source)+len(n.Text.Target)); err != nil {
		return err
	}
	_, err := inTurn(ctx, f.Turn, func() (bool, error) { return true, f.Files.AddString(ctx, component, t, n) })
	return err
}
