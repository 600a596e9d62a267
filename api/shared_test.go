package api

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// The helpers of others by short names.
var (
	must    = gittest.Must
	request = catalogtest.Request
	send    = catalogtest.Send
)

// bigWorld has n strings in the translation big/big/cs.
func bigWorld(tb testing.TB, n int) *writer {
	tb.Helper()
	w := newWriter(tb)
	importBig(w, n)
	return w
}

// call sends a request and validates the answer to a GET with openapi.yaml.
func call(tb testing.TB, h http.Handler, method, target string, header ...string) *httptest.ResponseRecorder {
	tb.Helper()
	r, rec := send(h, method, target, header...)
	if method == http.MethodGet && rec.Header().Get("Content-Type") == rest.TypeJSON {
		path := withFormat(r).URL.Path
		if !strings.HasSuffix(path, "/") {
			path += "/"
		}
		validate(tb, path, rec.Code, rec.Body.Bytes())
	}
	return rec
}

// wantStatus sends a GET and compares the status.
func wantStatus(tb testing.TB, h http.Handler, status int, target string, header ...string) {
	tb.Helper()
	if rec := call(tb, h, http.MethodGet, target, header...); rec.Code != status {
		tb.Errorf("%s %q: %d %.300s, want %d", target, header, rec.Code, rec.Body, status)
	}
}

// wantAnswer sends a GET and compares the status and the body.
func wantAnswer(tb testing.TB, h http.Handler, status int, body, target string, header ...string) {
	tb.Helper()
	if rec := call(tb, h, http.MethodGet, target, header...); rec.Code != status || oldForm(rec.Body.String()) != body {
		tb.Errorf("%s %q: %d %.1000s, want %d %.1000s", target, header, rec.Code, rec.Body, status, body)
	}
}

// oldForm is the body of an error without the keys that Weblate has since 5.10.
func oldForm(body string) string { return newForm.ReplaceAllString(body, "}") }

var newForm = regexp.MustCompile(`(?s),"errors":\[\{"code":.*\}\],"type":"[a-z_]+"\}$`)

// get wants 200 and returns the body.
func get(tb testing.TB, h http.Handler, target string, header ...string) string {
	tb.Helper()
	rec := call(tb, h, http.MethodGet, target, header...)
	if rec.Code != http.StatusOK {
		tb.Fatalf("GET %s: %d %s", target, rec.Code, rec.Body)
	}
	return rec.Body.String()
}

// decode reads JSON into T.
func decode[T any](tb testing.TB, body string) T {
	tb.Helper()
	var v T
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		tb.Fatalf("%v in %s", err, body)
	}
	return v
}

// envelope is a page of any list.
type envelope struct {
	Count    int64            `json:"count"`
	Next     *string          `json:"next"`
	Previous *string          `json:"previous"`
	Results  []map[string]any `json:"results"`
}

func getList(tb testing.TB, h http.Handler, target string, header ...string) envelope {
	tb.Helper()
	return decode[envelope](tb, get(tb, h, target, header...))
}

// sendList is getList without validation, which many requests would take long
// for.
func sendList(tb testing.TB, h http.Handler, target string) envelope {
	tb.Helper()
	_, rec := send(h, http.MethodGet, target)
	if rec.Code != http.StatusOK {
		tb.Fatalf("GET %s: %d %s", target, rec.Code, rec.Body)
	}
	return decode[envelope](tb, rec.Body.String())
}

// text is *s, or "null".
func text(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// serve makes a Server of a store whose answers are compared with openapi.yaml;
// it sets DB and Languages.
func serve(w *writer, opts Options) *Server {
	w.TB.Helper()
	s := bare(w, opts)
	if t, ok := w.TB.(*testing.T); ok { // a fuzz test may not report from here
		Validated(t, s)
	}
	return s
}

// bare makes a Server whose answers are not validated.
func bare(w *writer, opts Options) *Server {
	w.TB.Helper()
	opts.DB, opts.Languages = w.DB, w.Languages
	if opts.Commits == nil {
		opts.Commits = &twoCommits{}
	}
	if opts.Logger == nil {
		opts.Logger = catalogtest.Logger(w.TB, slog.LevelError)
	}
	if opts.Now == nil {
		opts.Now = catalogtest.Now
	}
	return New(opts)
}
