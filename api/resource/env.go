package resource

import (
	"log/slog"

	"github.com/repoglot/repoglot/catalog/lang"
)

// Env is what handlers need beside a request and a snapshot. It does not change
// while a server runs, and is safe for concurrent use.
type Env struct {
	// Languages is the language table.
	Languages *lang.Table
	// Logger gets what the store should have and has not; it must be set.
	Logger *slog.Logger
	// Progress tells how far a component's first import is; ok is false if none is
	// running. It must be set.
	Progress func(componentID int64) (p Progress, ok bool)
	// WithoutGitExport says that repositories cannot be cloned from this server:
	// git_export is "" then.
	WithoutGitExport bool
	// Version is the program's; "" is shown as 0. It is part of the ETags of
	// exports, whose bytes may change with it.
	Version string
}

// Progress is how far a first import is (decision 22).
type Progress struct {
	// Percent is 0 to 100; other values are shown as the nearest of these.
	Percent int
	// Stage says in a few words what is being done, such as "cloning"; "" says
	// nothing. It is shown to clients: no paths, no credentials.
	Stage string
}

// Language returns the language that a translation's code names: one of the
// table, else what a file of that code matches, and for a second file of a
// language a variant under its own code (decision 13).
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
