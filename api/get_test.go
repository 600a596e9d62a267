package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/rest"
)

// send sends a request to the handler; target is a path with a query.
func send(h http.Handler, method, target string, header ...string) (*http.Request, *httptest.ResponseRecorder) {
	r := httptest.NewRequest(method, "http://l10n.example.org"+target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return r, rec
}

// call sends a request and compares the answer to a GET with openapi.yaml.
func call(tb testing.TB, h http.Handler, method, target string, header ...string) *httptest.ResponseRecorder {
	tb.Helper()
	r, rec := send(h, method, target, header...)
	if method == http.MethodGet && rec.Header().Get("Content-Type") == rest.TypeJSON {
		path := r.URL.Path
		if !strings.HasSuffix(path, "/") {
			path += "/"
		}
		validate(tb, path, rec.Code, rec.Body.Bytes())
	}
	return rec
}

// get wants 200 and returns the body.
func get(tb testing.TB, h http.Handler, target string) string {
	tb.Helper()
	rec := call(tb, h, http.MethodGet, target)
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

func getList(tb testing.TB, h http.Handler, target string) envelope {
	tb.Helper()
	return decode[envelope](tb, get(tb, h, target))
}

// sendList is getList for the many: without validation.
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
