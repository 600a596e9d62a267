package resource

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// Turn waits until a client may write bytes more, which it counts; 0 if it is not known how
// many. Its turn ends when free is called.
type Turn func(ctx context.Context, bytes int) (free func(), err error)

// wait calls fn when it is the client's turn.
func (t Turn) wait(ctx context.Context, bytes int, fn func() error) error {
	free, err := t(ctx, bytes)
	if err != nil {
		return err
	}
	defer free()
	return fn()
}

// inTurn is wait for a function with a result.
func inTurn[T any](ctx context.Context, turn Turn, bytes int, fn func() (T, error)) (result T, err error) {
	err = turn.wait(ctx, bytes, func() (err error) {
		result, err = fn()
		return err
	})
	return result, err
}

// editBytes is what an edit takes in the journal and in the history beside its text.
const editBytes = 500

// sizeOf are the bytes that edits store.
func sizeOf(edits ...edit.Request) (bytes int) {
	for i := range edits {
		bytes += editBytes
		for _, text := range edits[i].Target {
			bytes += len(text)
		}
	}
	return bytes
}

// EditsInTurn stores edits in turn.
func EditsInTurn(edits Edits, turn Turn) Edits { return editsInTurn{edits, turn} }

type editsInTurn struct {
	to   Edits
	turn Turn
}

func (e editsInTurn) Edit(ctx context.Context, component, translation int64, by edit.Author, edits []edit.Request) (int, error) {
	return inTurn(ctx, e.turn, sizeOf(edits...), func() (int, error) { return e.to.Edit(ctx, component, translation, by, edits) })
}

func (e editsInTurn) Upload(ctx context.Context, component, translation int64, by edit.Author, data []byte, o edit.UploadOptions) (edit.Counts, error) {
	return inTurn(ctx, e.turn, len(data), func() (edit.Counts, error) { return e.to.Upload(ctx, component, translation, by, data, o) })
}

func (e editsInTurn) Suggest(ctx context.Context, component, translation int64, by edit.Author, want edit.Request) (int64, error) {
	return inTurn(ctx, e.turn, sizeOf(want), func() (int64, error) { return e.to.Suggest(ctx, component, translation, by, want) })
}

func (e editsInTurn) AnswerSuggestion(ctx context.Context, component, translation int64, by edit.Author, of *store.Edit, accept bool) error {
	return e.turn.wait(ctx, 0, func() error { return e.to.AnswerSuggestion(ctx, component, translation, by, of, accept) })
}

func (e editsInTurn) Lock(ctx context.Context, component int64, by edit.Author, locked bool) (bool, error) {
	return inTurn(ctx, e.turn, 0, func() (bool, error) { return e.to.Lock(ctx, component, by, locked) })
}

func (e editsInTurn) Discard(ctx context.Context, component int64, by edit.Author, reason string, suggest bool, choose func(*store.Edit) bool) (edit.Discarded, error) {
	return inTurn(ctx, e.turn, 0, func() (edit.Discarded, error) { return e.to.Discard(ctx, component, by, reason, suggest, choose) })
}

func (e editsInTurn) AddTranslation(ctx context.Context, component int64, code string, by edit.Author) error {
	return e.turn.wait(ctx, 0, func() error { return e.to.AddTranslation(ctx, component, code, by) })
}

func (e editsInTurn) RemoveTranslation(ctx context.Context, component int64, t *catalog.Translation, by edit.Author) error {
	return e.turn.wait(ctx, 0, func() error { return e.to.RemoveTranslation(ctx, component, t, by) })
}

func (e editsInTurn) AddString(ctx context.Context, component int64, t *catalog.Translation, n edit.NewString) error {
	bytes := editBytes + len(n.Context) + len(n.Source) + len(n.Text.Target)
	return e.turn.wait(ctx, bytes, func() error { return e.to.AddString(ctx, component, t, n) })
}

// OperationsInTurn commits, pulls and pushes in turn.
func OperationsInTurn(operations Operations, turn Turn) Operations {
	return operationsInTurn{operations, turn}
}

type operationsInTurn struct {
	to   Operations
	turn Turn
}

func (o operationsInTurn) Push(ctx context.Context, component int64, by *catalog.Token) (bool, error) {
	return inTurn(ctx, o.turn, 0, func() (bool, error) { return o.to.Push(ctx, component, by) })
}

func (o operationsInTurn) Commit(ctx context.Context, component int64, translations []int64) (bool, error) {
	return inTurn(ctx, o.turn, 0, func() (bool, error) { return o.to.Commit(ctx, component, translations) })
}

func (o operationsInTurn) Pull(ctx context.Context, component int64) (bool, error) {
	return inTurn(ctx, o.turn, 0, func() (bool, error) { return o.to.Pull(ctx, component) })
}

func (o operationsInTurn) Reclone(ctx context.Context, component int64) (bool, error) {
	return inTurn(ctx, o.turn, 0, func() (bool, error) { return o.to.Reclone(ctx, component) })
}
