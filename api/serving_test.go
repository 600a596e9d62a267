package api

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

// TestInternalError: the log gets the error, the client does not.
func TestInternalError(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "db.sqlite"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := lang.New()
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{DB: db, Languages: table, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	rec := call(t, s, http.MethodGet, "/api/projects/")
	if rec.Code != 500 || rec.Body.String() != `{"detail":"Internal server error."}` || rec.Header().Get("Allow") != "GET, POST, HEAD, OPTIONS" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "closed") {
		t.Errorf("log: %s", log.String())
	}
}

// TestPanic: 500 and a log line with a stack, and the server lives on.
func TestPanic(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := serve(catalogtest.Demo(t), Options{
		Logger:   slog.New(slog.NewTextHandler(&log, nil)),
		Progress: func(int64) (resource.Progress, bool) { panic("at /secret/path") },
	})
	rec := call(t, s, http.MethodGet, "/api/translations/demo/docs/cs/")
	if rec.Code != 500 || rec.Body.String() != `{"detail":"Internal server error."}` {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if !strings.Contains(log.String(), "visible.go") || !strings.Contains(log.String(), "/secret/path") {
		t.Errorf("log: %s", log.String())
	}
	for range 40 { // more than there are readers: the snapshots were given back
		call(t, s, http.MethodGet, "/api/translations/demo/docs/cs/")
	}
	get(t, s, "/api/projects/")
}

// TestCancelled: a client that went away is no error of ours.
func TestCancelled(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := serve(catalogtest.Demo(t), Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/translations/demo/app/cs/units/", nil))
	if rec.Code != 503 || rec.Header().Get("Retry-After") != "1" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	if log.Len() > 0 {
		t.Errorf("log: %s", log.String())
	}
}

// TestLongQuery: links repeat the query, so it is bounded.
func TestLongQuery(t *testing.T) {
	t.Parallel()
	s := serve(catalogtest.Demo(t), Options{})
	for n, want := range map[int]int{maxQuery: 200, maxQuery + 1: 414} {
		query := "?a=" + strings.Repeat("%", n-2)
		if rec := call(t, s, http.MethodGet, "/api/changes/"+query); rec.Code != want || rec.Body.Len() > 200_000 {
			t.Errorf("%d bytes: %d, %d bytes of answer", n, rec.Code, rec.Body.Len())
		}
	}
}

// TestVersion: the description names it, in both languages.
func TestVersion(t *testing.T) {
	t.Parallel()
	s := serve(catalogtest.Demo(t), Options{Version: "1.2.3"})
	rec := call(t, s, http.MethodGet, "/api/schema/", "Accept", "application/json")
	doc := decode[map[string]any](t, rec.Body.String())
	info, _ := doc["info"].(map[string]any)
	if info["version"] != "1.2.3" {
		t.Errorf("%v %v", rec.Header(), info)
	}
	rec = call(t, s, http.MethodGet, "/api/schema/", "Accept", "application/yaml")
	if rec.Header().Get("Content-Type") != "application/yaml" || !strings.HasPrefix(rec.Body.String(), "openapi: 3.1.0\n") {
		t.Errorf("%v %.40s", rec.Header(), rec.Body)
	}
}
