package main

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
)

// policy is the Content-Security-Policy of answers without one of their own: in a
// browser they load nothing, run nothing and are in no frame.
const policy = "default-src 'none'; frame-ancestors 'none'"

// protect sets the headers that keep browsers from guessing the type of an answer
// and from running it, and logs a panic of any handler: it answers 500 if nothing
// was sent yet, else it cuts the connection, so that no client takes half an answer
// for a whole one. The API handles its own panics, with its metrics.
func protect(h http.Handler, log *slog.Logger) http.Handler {
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

// watchedWriter records whether an answer began.
type watchedWriter struct {
	http.ResponseWriter
	began bool
}

// WriteHeader begins the answer, unless it is an interim one.
func (w *watchedWriter) WriteHeader(status int) {
	w.began = w.began || status >= http.StatusOK || status == http.StatusSwitchingProtocols
	w.ResponseWriter.WriteHeader(status)
}

// Write begins the answer, if it has not begun.
func (w *watchedWriter) Write(b []byte) (int, error) {
	w.began = true
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach deadlines and Flush.
func (w *watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
