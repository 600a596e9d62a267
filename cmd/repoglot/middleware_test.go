package main

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPanic: a panic of a handler ends only its own answer.
func TestPanic(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	h := protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"x"`)
		if r.URL.Path == "/late" {
			_, _ = io.WriteString(w, "half")
		}
		panic("at " + r.URL.Path)
	}), slog.New(slog.NewTextHandler(&said, nil)))
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/early", http.NoBody))
	if rec.Code != 500 || strings.TrimSpace(rec.Body.String()) != `{"detail":"Internal server error."}` || rec.Header().Get("ETag") != "" || rec.Header().Get("X-Content-Type-Options") != "nosniff" || rec.Header().Get("Content-Security-Policy") != policy {
		t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
	}
	if !strings.Contains(said.String(), `level=ERROR msg="panic while answering" method=GET path=/early panic="at /early"`) {
		t.Errorf("the log says %s", &said)
	}
	address := serveTest(t, h, defaultTimeouts())
	for range 2 { // the server lives on
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/late", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		if err == nil || isTimeout(err) {
			t.Errorf("half an answer looks whole: %v", err)
		}
	}
}
