package api

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
)

// TestInternalError: the log gets the error, the client does not.
func TestInternalError(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := catalogtest.Open(t)
	s := New(Options{DB: w.DB, Languages: w.Languages, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, w.DB.Close())
	rec := call(t, s, http.MethodGet, "/api/projects/")
	if rec.Code != 500 || oldForm(rec.Body.String()) != `{"detail":"Internal server error."}` || rec.Header().Get("Allow") != "GET, POST, HEAD, OPTIONS" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "closed") {
		t.Errorf("log: %s", log.String())
	}
}

// TestPanic: 500 and a log line with a stack, and the server keeps running.
func TestPanic(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := serve(demoWorld(t), Options{
		Logger:   slog.New(slog.NewTextHandler(&log, nil)),
		Progress: func(*store.ComponentRow) (int, bool) { panic("at /secret/path") },
	})
	rec := call(t, s, http.MethodGet, "/api/translations/demo/docs/cs/")
	if rec.Code != 500 || oldForm(rec.Body.String()) != `{"detail":"Internal server error."}` {
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
	s := serve(demoWorld(t), Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
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
	s := serve(demoWorld(t), Options{})
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
	s := serve(demoWorld(t), Options{Version: "1.2.3"})
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

// TestMetrics: requests are counted by route, not by path.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for _, target := range []string{"/api/units/268435457/", "/api/units/268435458/", "/api/units/1/", "/api/nope/1/", "/nope/2/"} {
		call(t, s, http.MethodGet, target)
	}
	call(t, s, "BREW", "/api/units/1/")
	for labels, want := range map[[3]string]float64{
		{"/api/units/:id/", "GET", "200"}:   2,
		{"/api/units/:id/", "GET", "404"}:   1,
		{"/api/units/:id/", "other", "405"}: 1,
		{"unknown", "GET", "404"}:           2,
	} {
		if got := testutil.ToFloat64(s.metrics.requests.WithLabelValues(labels[0], labels[1], labels[2])); got != want {
			t.Errorf("%v: %v, want %v", labels, got, want)
		}
	}
	if n := len(s.Metrics()); n != 9 {
		t.Errorf("%d collectors", n)
	}
}

// TestLiveRoutes finds routes that answer differently while a first import goes
// on, which the store does not know of: their kind must be resource.KindLive, or
// an old answer would be kept.
func TestLiveRoutes(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	at := func(percent int) *Server {
		return bare(w, Options{Progress: func(*store.ComponentRow) (int, bool) { return percent, true }})
	}
	before, after := at(10), at(20)
	fill := strings.NewReplacer(":project", "demo", ":component", "app", ":language", "cs", ":username", "karel", ":code", "cs",
		":uuid", resource.TaskID("demo", "docs"), ":slug", "x", ":linked", "x", ":widget", "svg-badge.svg", "/units/:id", "/units/268435458",
		"/changes/:id", "/changes/1", "/addons/:id", "/addons/6")
	found := 0
	for _, rt := range resource.Routes(&before.env) {
		if rt.Kind == resource.KindEvents {
			continue
		}
		for _, target := range []string{fill.Replace(rt.Path), strings.ReplaceAll(fill.Replace(rt.Path), "demo/app/", "demo/docs/")} {
			_, first := send(before, http.MethodGet, target)
			_, second := send(after, http.MethodGet, target)
			if first.Code != http.StatusOK || first.Body.String() == second.Body.String() {
				continue
			}
			found++
			if rt.Kind != resource.KindLive {
				t.Errorf("%s depends on the progress of imports: its kind must be KindLive", rt.Path)
			}
		}
	}
	if found == 0 {
		t.Error("no answer depends on the progress of imports")
	}
}
