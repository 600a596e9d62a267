package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/rest"
)

// TestFormat: the parameter format, and how it shapes links
// (docs/compatibility.md#format-parameter).
func TestFormat(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	const one, many = "/api/translations/demo/app/cs/", "/api/translations/demo/app/cs/units/"
	for _, tc := range []struct {
		target, accept string
		status         int
		contentType    string
		contains       string
	}{
		{one, "", 200, rest.TypeJSON, `/api/languages/cs/?format=api"`},
		{one + "?format=api", "", 200, rest.TypeJSON, `/api/languages/cs/?format=api"`},
		{one + "?format=json", "", 200, rest.TypeJSON, `/api/languages/cs/?format=json"`},
		{one + "?format=api?format=json", "", 200, rest.TypeJSON, `/api/languages/cs/?format=json"`},
		{one + "?format=xml2&format=json", "", 200, rest.TypeJSON, `/api/languages/cs/?format=json"`},
		{one + "?format=json&format=api", "", 200, rest.TypeJSON, `/api/languages/cs/?format=api"`},
		{one + "?format=api?format=po", "", 404, rest.TypeJSON, `{"detail":"Not found."}`},
		{one + "?format=json%3Fformat=api", "", 200, rest.TypeJSON, `/api/languages/cs/?format=api"`},
		{one + "?format=", "", 404, rest.TypeJSON, `{"detail":"Not found."}`},
		{one + "?format=API", "", 404, rest.TypeJSON, `{"detail":"Not found."}`},
		{one + "?format=xml2", "", 404, rest.TypeJSON, `{"detail":"Not found."}`},
		{one + "?format=csv", "", 404, rest.TypeJSON, `{"detail":"Not found."}`},
		{many + "?format=csv", "", 200, rest.TypeCSV, "translation,source.0,"},
		{many + "?format=csv", "application/json", 200, rest.TypeCSV, "translation,source.0,"},
		{many, "text/csv", 200, rest.TypeCSV, "translation,source.0,"},
		{many + "?format=api", "text/csv, application/json;q=0.9", 200, rest.TypeCSV, "translation,source.0,"},
		{many, "text/csv;q=0.9, application/json", 200, rest.TypeJSON, `"count":44`},
		{many, "text/csv;q=0", 406, rest.TypeJSON, `{"detail":"Could not satisfy the request Accept header."}`},
		{many + "?format=json", "text/csv", 200, rest.TypeJSON, `"count":44`},
		{many + "?page=99", "text/csv", 404, rest.TypeJSON, `{"detail":"Invalid page."}`},
		{one, "text/csv", 406, rest.TypeJSON, `{"detail":"Could not satisfy the request Accept header."}`},
		{many + "?format=csv&page=99", "", 404, rest.TypeJSON, `{"detail":"Invalid page."}`},
		{many + "?format=json", "application/xml", 200, rest.TypeJSON, `"count":44`},

		{"/api/translations/demo/app/cs.json", "", 200, rest.TypeJSON, `/api/languages/cs/?format=json"`},
		{"/api/translations/demo/app/cs.json/", "text/html", 200, rest.TypeJSON, `/api/languages/cs/?format=json"`},
		{"/api/translations/demo/app/cs.json?format=csv", "", 200, rest.TypeJSON, `/api/languages/cs/?format=json"`},
		{"/api/translations/demo/app/sr%40latin.json", "", 200, rest.TypeJSON, `/api/languages/sr@latin/?format=json"`},
		{"/api/translations/demo/app/cs.api", "", 200, rest.TypeJSON, `/api/languages/cs/?format=api"`},
		{"/api/translations/demo/app/cs.csv", "", 404, rest.TypeJSON, `{"detail":"Not found."}`},
		{"/api/translations/demo/app/cs.xml2", "", 404, rest.TypeJSON, `{"detail":"Not found."}`},
		{"/api/translations/demo/app/cs/.json", "", 404, rest.TypeJSON, `{"detail":"Not found."}`},
		{"/api/translations/demo/app/cs.json/units/", "", 404, rest.TypeJSON, `{"detail":"Not found."}`},
		{"/api/translations/demo/app/cs/units.json?page=2", "", 200, rest.TypeJSON, `/units/?format=json&page=3"`},
		{"/api/translations/demo/app/cs/units.csv", "", 200, rest.TypeCSV, "translation,source.0,"},
		{"/api/projects.json", "", 200, rest.TypeJSON, `/api/projects/demo/?format=json"`},

		{one, "application/json", 200, rest.TypeJSON, `"language"`},
		{one, "*/*", 200, rest.TypeJSON, `"language"`},
		{one, "application/*;q=0.3", 200, rest.TypeJSON, `"language"`},
		{one, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", 200, rest.TypeHTML, `<h1>Translation</h1>`},
		{one, "text/html", 200, rest.TypeHTML, `<h1>Translation</h1>`},
		{one, "application/json, text/javascript", 200, rest.TypeJSON, `"language"`},
		{one, "text/html, application/json;q=0.1", 200, rest.TypeHTML, `<h1>Translation</h1>`},
		{one + "?format=api", "text/html", 200, rest.TypeHTML, `/api/languages/cs/?format=api</a>`},
		{one + "?format=json", "text/html", 200, rest.TypeJSON, `"language"`},
		{many + "?format=csv", "text/html", 200, rest.TypeCSV, "translation,source.0,"},
		{one, "text/html, */*", 200, rest.TypeHTML, `<h1>Translation</h1>`},
		{one, "text/html;q=0.5, */*", 200, rest.TypeJSON, `"language"`},
		{one, "text/html, application/json", 200, rest.TypeJSON, `"language"`},
		{one, "text/html;q=0, */*;q=0.1", 200, rest.TypeJSON, `"language"`},
		{one, "text/*", 200, rest.TypeJSON, `"language"`},
		{"/api/translations/demo/app/zz/", "text/html", 404, rest.TypeHTML, `<b>HTTP 404 Not Found</b>`},
		{"/api/nothing/", "text/html", 404, rest.TypeHTML, `<h1>Not Found</h1>`},
		{many + "?page=99", "text/html", 404, rest.TypeHTML, `Invalid page.`},
		{one, "garbage", 406, rest.TypeJSON, `{"detail":"Could not satisfy the request Accept header."}`},
		{one, "application/xml", 406, rest.TypeJSON, `{"detail":"Could not satisfy the request Accept header."}`},
		{one, "application/json;q=0", 406, rest.TypeJSON, `{"detail":"Could not satisfy the request Accept header."}`},
		{"/api/translations/demo/app/zz/", "image/png", 406, rest.TypeJSON, `{"detail":"Could not satisfy the request Accept header."}`},
	} {
		rec := call(t, s, http.MethodGet, tc.target, "Accept", tc.accept)
		if rec.Code != tc.status || rec.Header().Get("Content-Type") != tc.contentType || !strings.Contains(oldForm(rec.Body.String()), tc.contains) {
			t.Errorf("%s, Accept %q: %d %s %.120s", tc.target, tc.accept, rec.Code, rec.Header().Get("Content-Type"), rec.Body)
		}
		if got := rec.Header().Get("Vary"); got != "Accept" {
			t.Errorf("%s: Vary %q", tc.target, got)
		}
	}
}

// TestLinkEndings: links to API resources end with the format, links to pages do
// not (docs/compatibility.md#format-parameter).
func TestLinkEndings(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for _, format := range []string{"api", "json"} {
		for _, target := range []string{
			"/api/translations/demo/app/cs/", "/api/translations/demo/app/cs/units/", "/api/changes/", "/api/components/", "/api/users/karel/",
		} {
			body := get(t, s, target+"?format="+format)
			for _, link := range strings.Split(body, `"http://l10n.example.org/`)[1:] {
				link, _, _ = strings.Cut(link, `"`)
				isAPI := strings.HasPrefix(link, "api/")
				switch {
				case isAPI && strings.Contains(link, "page="):
				case isAPI != strings.HasSuffix(link, "/?format="+format):
					t.Errorf("%s: link %s", target, link)
				case !isAPI && strings.Contains(link, "format="):
					t.Errorf("%s: page link %s", target, link)
				}
			}
		}
	}
}
