package resource

import (
	"context"
	"errors"
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
	// Logger is told of files that the store should have and does not; it must be set.
	Logger *slog.Logger
	// Note logs some lines a minute of what people can cause any number of; it must be set.
	Note func(message string, about ...any)
	// Store is read and written by requests that write; nil: none does.
	Store *store.DB
	// Edits stores edits; nil: nothing can be edited, and what follows is nil, too.
	Edits InTurn[Edits]
	// Operations commit, pull and push.
	Operations InTurn[Operations]
	// Errands run what goes on without its client.
	Errands *Errands
	// Commits compares commits; nil: there are none.
	Commits Commits
	// Progress returns how much of a component's first import is done, from 0 to 100,
	// and whether one is running. It must be set.
	Progress func(c *store.ComponentRow) (percent int, running bool)
	// WithoutGitExport: no repositories can be cloned from this server; git_export is "".
	WithoutGitExport bool
	// Now is the clock; it must be set.
	Now func() time.Time
	// Version is the program's; "" is shown as 0. The ETags of exports depend
	// on it, since a new version may write other bytes.
	Version string
}

// Edits stores edits: of strings, and of which translation files and strings there are.
type Edits interface {
	// Edit stores new texts for strings of one translation of a component, all or none,
	// and returns the number of strings that changed. The error wraps one of package
	// edit's, or catalog.ErrNotFound.
	Edit(ctx context.Context, component, translation int64, by edit.Author, edits []edit.Request) (changed int, err error)
	// Upload makes edits or suggestions of a PO file. Errors are like those of Edit.
	Upload(ctx context.Context, component, translation int64, by edit.Author, data []byte, o edit.UploadOptions) (edit.Counts, error)
	// Suggest makes a text a suggestion for a string and returns its id. Errors are Edit's.
	Suggest(ctx context.Context, component, translation int64, by edit.Author, want edit.Request) (id int64, err error)
	// AnswerSuggestion accepts such a suggestion, or rejects it.
	AnswerSuggestion(ctx context.Context, component, translation int64, by edit.Author, a edit.Answer) error
	// RejectOf rejects suggestions of somebody that wait, some at a call.
	RejectOf(ctx context.Context, person int64, by edit.Author, why string) (n int, err error)
	// Lock locks a component, or unlocks it.
	Lock(ctx context.Context, component int64, by edit.Author, locked bool) (changed bool, err error)
	// NoteTemplate has the files of a component compared with its template, and updated.
	NoteTemplate(ctx context.Context, component int64, how string, by edit.Author) error
	// Discard ends pending edits of a component that choose selects, with or without files.
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

// InTurn calls fn with what a client may use only in its turn, and counts bytes.
type InTurn[To any] func(ctx context.Context, bytes int, fn func(To) error) error

// NewInTurn has to used in turn.
func NewInTurn[To any](to To, turn Turn) InTurn[To] {
	return func(ctx context.Context, bytes int, fn func(To) error) error {
		free, err := turn(ctx, bytes)
		if err != nil {
			return err
		}
		defer free()
		return fn(to)
	}
}

// Take calls a function with a result in turn.
func Take[To, T any](ctx context.Context, in InTurn[To], bytes int, fn func(To) (T, error)) (result T, err error) {
	err = in(ctx, bytes, func(to To) (err error) {
		result, err = fn(to)
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

// Edit is Edits.Edit in turn.
func (e *Env) Edit(ctx context.Context, component, translation int64, by edit.Author, edits ...edit.Request) error {
	return e.Edits(ctx, sizeOf(edits...), func(to Edits) error {
		_, err := to.Edit(ctx, component, translation, by, edits)
		return err
	})
}

// Suggest is Edits.Suggest in turn.
func (e *Env) Suggest(ctx context.Context, component, translation int64, by edit.Author, want edit.Request) (id int64, err error) {
	id, err = Take(ctx, e.Edits, sizeOf(want), func(to Edits) (int64, error) { return to.Suggest(ctx, component, translation, by, want) })
	if bound, ok := errors.AsType[*edit.BoundError](err); ok {
		e.Note("suggestion refused", "account", by.Person, "problem", bound.Message)
	}
	return id, err
}

// AnswerSuggestion is Edits.AnswerSuggestion in turn, by whoever sent the request.
func (e *Env) AnswerSuggestion(ctx context.Context, component, translation int64, a edit.Answer) error {
	return e.Edits(ctx, 0, func(to Edits) error { return to.AnswerSuggestion(ctx, component, translation, AuthorOf(ctx), a) })
}
