package resource

import (
	"context"
	"log/slog"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

// Bounds of answers and of what clients send.
const (
	feedEntries    = 10
	matrixDays     = 30        // how long ago the earlier percentage of a matrix is
	maxFound       = 5         // results of each category of the search
	maxOccurrences = 1000      // components that are searched for the same string
	exportChunk    = 1000      // units of a search that are read at once
	longFile       = 256 << 10 // stored bytes above which a file is a download, which is not held, compressed and cached
	maxUpload      = 32 << 20  // bytes of an uploaded file with its form
	maxAuthorName  = 200       // characters of author_name, as in Weblate
	maxWhy         = 300       // characters of the word with which a suggestion is answered
	editBytes      = 500       // what an edit takes in the journal and in the history beside its text
)

// Env is what handlers need besides a request and a snapshot. It does not
// change while a server runs, and is safe for concurrent use.
type Env struct {
	// Languages is the language table.
	Languages *lang.Table
	// Logger is told of files that the store should have and does not; it must
	// be set.
	Logger *slog.Logger
	// Store is read and written by requests that write; nil: none does.
	Store *store.DB
	// Edits stores edits; nil: nothing can be edited, and what follows is nil, too.
	Edits Edits
	// Operations commit, pull and push.
	Operations Operations
	// Errands run what goes on without its client.
	Errands *Errands
	// Commits compares commits; nil: there are none.
	Commits Commits
	// Progress returns how far a component's first import is; ok is false if
	// none is running. It must be set.
	Progress func(c *store.ComponentRow) (p Progress, ok bool)
	// WithoutGitExport says that repositories cannot be cloned from this
	// server: git_export is "" then.
	WithoutGitExport bool
	// Now is the clock; it must be set.
	Now func() time.Time
	// Version is the program's; "" is shown as 0. The ETags of exports depend
	// on it, since a new version may write other bytes.
	Version string
}

// Edits stores edits: of strings, which translation files are added and removed, and which
// strings are added.
type Edits interface {
	// Edit stores new texts for strings of one translation of a component, all or none,
	// and returns the number of strings that changed. The error wraps one of package
	// edit's, or catalog.ErrNotFound.
	Edit(ctx context.Context, component, translation int64, by edit.Author, edits []edit.Request) (changed int, err error)
	// Upload makes edits or suggestions of a PO file. Errors are like those of Edit.
	Upload(ctx context.Context, component, translation int64, by edit.Author, data []byte, o edit.UploadOptions) (edit.Counts, error)
	// Suggest makes a text a suggestion for a string and returns its id. Errors are like
	// those of Edit.
	Suggest(ctx context.Context, component, translation int64, by edit.Author, want edit.Request) (id int64, err error)
	// AnswerSuggestion accepts such a suggestion, or rejects it.
	AnswerSuggestion(ctx context.Context, component, translation int64, by edit.Author, a edit.Answer) error
	// RejectOf rejects suggestions of somebody that wait, some at a call.
	RejectOf(ctx context.Context, person int64, by edit.Author, why string) (n int, err error)
	// Lock locks a component, or unlocks it.
	Lock(ctx context.Context, component int64, by edit.Author, locked bool) (changed bool, err error)
	// NoteTemplate has the files of a component compared with its template, and updated.
	NoteTemplate(ctx context.Context, component int64, how string, by edit.Author) error
	// Discard ends pending edits of a component that choose selects, whether their files are
	// there or not.
	Discard(ctx context.Context, component int64, by edit.Author, reason string, suggest bool, choose func(*store.Edit) bool) (edit.Discarded, error)
	// AddTranslation adds a language to a component. The error wraps one of package edit's.
	AddTranslation(ctx context.Context, component int64, code string, by edit.Author) error
	// RemoveTranslation removes a translation. Errors are like those of AddTranslation.
	RemoveTranslation(ctx context.Context, component int64, t *catalog.Translation, by edit.Author) error
	// AddString adds a string to the file of a translation. Errors are like those of
	// AddTranslation, or an [*edit.InvalidError].
	AddString(ctx context.Context, component int64, t *catalog.Translation, n edit.NewString) error
}

// Operations commit, pull and push the branch of a component.
type Operations interface {
	// Push makes commits of the pending edits of the branch of a component, and pushes
	// them: those of the projects that the token names. waits says whether that is done when
	// it returns, or only asked for.
	Push(ctx context.Context, component int64, by *catalog.Token) (waits bool, err error)
	// Commit has clones of the branch see the pending edits of translations of the
	// component, as commits, which are pushed if push_on_commit is set. Those that were
	// committed earlier stay; without translations it only looks which are pending still.
	Commit(ctx context.Context, component int64, translations []int64) (waits bool, err error)
	// Reclone clones the mirror of the branch anew, and pulls.
	Reclone(ctx context.Context, component int64) (waits bool, err error)
	// Pull pulls it.
	Pull(ctx context.Context, component int64) (waits bool, err error)
	// Merge merges a request of somebody by meaning into its own branch, if its head is still
	// the one that was shown; else the error wraps catalog.ErrConflict. What became of it is
	// in the component's requests.
	Merge(ctx context.Context, component int64, number int, head string, by edit.Author) (waits bool, err error)
}

// Progress is how far a first import is (docs/compatibility.md#first-import).
type Progress struct {
	// Percent is from 0 to 100.
	Percent int
	// Stage describes the current work in a few words, such as "cloning".
	// Clients see it: no paths, no credentials.
	Stage string
}

// Language returns the language of a translation's code: the one in the table,
// otherwise the one that a file of that code matches. A second file of a
// language gets a variant under its own code (docs/compatibility.md#languages).
func (e *Env) Language(code string) lang.Language {
	if l, ok := e.Languages.ByCode(code); ok {
		return l
	}
	l := e.Languages.Match(code)
	if l.Code != code {
		l = e.Languages.Variant(code, l)
	}
	return l
}

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

func (e editsInTurn) NoteTemplate(ctx context.Context, component int64, how string, by edit.Author) error {
	return e.turn.wait(ctx, 0, func() error { return e.to.NoteTemplate(ctx, component, how, by) })
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

func (e editsInTurn) RejectOf(ctx context.Context, person int64, by edit.Author, why string) (int, error) {
	return inTurn(ctx, e.turn, 0, func() (int, error) { return e.to.RejectOf(ctx, person, by, why) })
}

func (e editsInTurn) AnswerSuggestion(ctx context.Context, component, translation int64, by edit.Author, a edit.Answer) error {
	return e.turn.wait(ctx, 0, func() error { return e.to.AnswerSuggestion(ctx, component, translation, by, a) })
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

func (o operationsInTurn) Merge(ctx context.Context, component int64, number int, head string, by edit.Author) (bool, error) {
	return inTurn(ctx, o.turn, 0, func() (bool, error) { return o.to.Merge(ctx, component, number, head, by) })
}

func (o operationsInTurn) Pull(ctx context.Context, component int64) (bool, error) {
	return inTurn(ctx, o.turn, 0, func() (bool, error) { return o.to.Pull(ctx, component) })
}

func (o operationsInTurn) Reclone(ctx context.Context, component int64) (bool, error) {
	return inTurn(ctx, o.turn, 0, func() (bool, error) { return o.to.Reclone(ctx, component) })
}
