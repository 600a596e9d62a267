package api

import (
	"net/http"
	"testing"

	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// TestNewTemplate: the bytes of the POT, as an attachment; 404 without new_base
// or before the first import.
func TestNewTemplate(t *testing.T) {
	t.Parallel()
	w := catalogtest.Demo(t)
	s := serve(w, Options{})
	rec := call(t, s, http.MethodGet, "/api/components/demo/app/new_template/?format=api")
	if rec.Code != 200 || rec.Body.String() != "# po/app.pot\n" || rec.Header().Get("Content-Type") != "application/binary" ||
		rec.Header().Get("Content-Disposition") != `attachment; filename="app.pot"` {
		t.Errorf("%d %v %q", rec.Code, rec.Header(), rec.Body)
	}
	const template = "/api/components/demo/app/new_template/"
	modified := rec.Header().Get("Last-Modified")
	if rec := call(t, s, http.MethodGet, template, "If-Modified-Since", modified); rec.Code != 304 || modified == "" {
		t.Errorf("since %q: %d", modified, rec.Code)
	}
	if rec := call(t, s, http.MethodGet, template, "Range", "bytes=2-3"); rec.Code != 206 || rec.Body.String() != "po" {
		t.Errorf("a part: %d %q", rec.Code, rec.Body)
	}
	if rec := call(t, s, http.MethodGet, template, "Range", "bytes=99-"); rec.Code != 416 {
		t.Errorf("a part after the end: %d %q", rec.Code, rec.Body)
	}
	w.Import("demo/docs", catalogtest.RepoDocs, "", catalogtest.SourceFile(nil)) // without new_base
	rec = call(t, s, http.MethodGet, "/api/components/demo/docs/new_template/")
	if rec.Code != 404 || rec.Body.String() != `{"detail":"No template found!"}` || rec.Header().Get("Content-Disposition") != "" {
		t.Errorf("%d %v %q", rec.Code, rec.Header(), rec.Body)
	}
}
