package main

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
)

// policy is the Content-Security-Policy of whatever has none of its own: opened
// in a browser it loads nothing, runs nothing and stands in no frame.
const policy = "default-src 'none'; frame-ancestors 'none'"

// guarded gives every answer the headers that keep browsers from guessing its
// type and from running it, and turns a panic of any handler into an error that is logged: 500 if
// nothing was sent yet, else the connection is cut, so that nobody takes half an
// answer for a whole one. The API does the same for its own, with its metrics.
func guarded(h http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		out := &watchedWriter{ResponseWriter: w}
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			log.Error("panic while answering", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			if out.began {
				panic(http.ErrAbortHandler)
			}
			clear(w.Header())
			secure(w.Header())
			writeJSON(w, http.StatusInternalServerError, map[string]any{"detail": "Internal server error."})
		}()
		h.ServeHTTP(out, r)
	})
}

func secure(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", policy)
}

// watchedWriter knows whether an answer began.
type watchedWriter struct {
	http.ResponseWriter
	began bool
}

// WriteHeader begins the answer, unless it is an interim one.
func (w *watchedWriter) WriteHeader(status int) {
	w.began = w.began || status >= http.StatusOK || status == http.StatusSwitchingProtocols
	w.ResponseWriter.WriteHeader(status)
}

// Write begins the answer, if nothing did.
func (w *watchedWriter) Write(b []byte) (int, error) {
	w.began = true
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach deadlines and Flush.
func (w *watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
