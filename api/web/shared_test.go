package web_test

import (
	"log/slog"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// The helpers of others by short names.
var (
	must    = gittest.Must
	request = catalogtest.Request
	send    = catalogtest.Send
)

const browser = catalogtest.Browser

// bare makes a server of a store.
func bare(w *catalogtest.Writer, opts api.Options) *api.Server {
	opts.DB, opts.Languages, opts.Logger = w.DB, w.Languages, catalogtest.Logger(w.TB, slog.LevelError)
	if opts.Now == nil {
		opts.Now = catalogtest.Now
	}
	return api.New(opts)
}
