package api

import (
	"log/slog"
	"testing"

	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// serve makes a Server of a store whose answers are compared with openapi.yaml;
// opts may leave DB and Languages away.
func serve(w *catalogtest.Writer, opts Options) *Server {
	w.TB.Helper()
	s := bare(w, opts)
	if t, ok := w.TB.(*testing.T); ok { // a fuzz test may not report from here
		Validated(t, s)
	}
	return s
}

// bare makes a Server whose answers are not validated.
func bare(w *catalogtest.Writer, opts Options) *Server {
	w.TB.Helper()
	opts.DB, opts.Languages = w.DB, w.Languages
	if opts.Logger == nil {
		opts.Logger = catalogtest.Logger(w.TB, slog.LevelError)
	}
	if opts.Now == nil {
		opts.Now = catalogtest.Now
	}
	return New(opts)
}
