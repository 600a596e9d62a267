package api

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
)

// resources are one path of every route with its Allow.
var resources = map[string]string{
	"/api/translations/demo/app/cs/":                    "GET, DELETE, HEAD, OPTIONS",
	"/api/translations/demo/app/cs/units/":              "GET, POST, HEAD, OPTIONS",
	"/api/translations/demo/app/cs/missing/":            "GET, HEAD, OPTIONS",
	"/api/translations/demo/app/cs/changes/":            "GET, HEAD, OPTIONS",
	"/api/translations/demo/app/cs/changes/stream/":     "GET, HEAD, OPTIONS",
	"/api/translations/demo/app/cs/statistics/history/": "GET, HEAD, OPTIONS",
	"/api/components/demo/app/statistics/history/":      "GET, HEAD, OPTIONS",
	"/api/projects/demo/statistics/history/":            "GET, HEAD, OPTIONS",
	"/api/languages/cs/statistics/history/":             "GET, HEAD, OPTIONS",
	"/api/units/268435457/":                             "GET, PUT, PATCH, DELETE, HEAD, OPTIONS",
	"/api/changes/1/":                                   "GET, HEAD, OPTIONS",
	"/api/":                                             "GET, HEAD, OPTIONS",
	"/api/schema/":                                      "GET, HEAD, OPTIONS",
	"/api/projects/":                                    "GET, POST, HEAD, OPTIONS",
	"/api/projects/demo/":                               "GET, PUT, PATCH, DELETE, HEAD, OPTIONS",
	"/api/projects/demo/components/":                    "GET, POST, HEAD, OPTIONS",
	"/api/projects/demo/changes/":                       "GET, HEAD, OPTIONS",
	"/api/projects/demo/changes/stream/":                "GET, HEAD, OPTIONS",
	"/api/components/":                                  "GET, HEAD, OPTIONS",
	"/api/components/demo/app/":                         "GET, PUT, PATCH, DELETE, HEAD, OPTIONS",
	"/api/components/demo/app/translations/":            "GET, POST, HEAD, OPTIONS",
	"/api/components/demo/app/changes/":                 "GET, HEAD, OPTIONS",
	"/api/components/demo/app/changes/stream/":          "GET, HEAD, OPTIONS",
	"/api/translations/":                                "GET, HEAD, OPTIONS",
	"/api/languages/":                                   "GET, POST, HEAD, OPTIONS",
	"/api/languages/cs/":                                "GET, PUT, PATCH, DELETE, HEAD, OPTIONS",
	"/api/changes/":                                     "GET, HEAD, OPTIONS",
	"/api/changes/stream/":                              "GET, HEAD, OPTIONS",
	"/api/users/karel/":                                 "GET, PUT, PATCH, DELETE, HEAD, OPTIONS",
	"/api/tasks/9ab99e06-c7b5-58a1-bc7b-70cf6d7267b0/":  "GET, DELETE, HEAD, OPTIONS",
	"/api/translations/demo/app/cs/statistics/":         "GET, HEAD, OPTIONS",
	"/api/translations/demo/app/cs/checks/":             "GET, HEAD, OPTIONS",
	"/api/units/268435457/checks/":                      "GET, HEAD, OPTIONS",
	"/api/translations/demo/app/cs/repository/":         "GET, POST, HEAD, OPTIONS",
	"/api/translations/demo/app/cs/autotranslate/":      "POST, OPTIONS",
	"/api/memory/lookup/":                               "POST, OPTIONS",
	"/api/units/":                                       "GET, HEAD, OPTIONS",
	"/api/units/268435457/translations/":                "GET, HEAD, OPTIONS",
	"/api/units/268435457/changes/":                     "GET, HEAD, OPTIONS",
	"/api/units/268435457/occurrences/":                 "GET, HEAD, OPTIONS",
	"/api/checks/":                                      "GET, HEAD, OPTIONS",
	"/api/projects/demo/matrix/":                        "GET, HEAD, OPTIONS",
	"/api/projects/demo/contributors/":                  "GET, HEAD, OPTIONS",
	"/api/projects/demo/credits/":                       "GET, HEAD, OPTIONS",
	"/api/projects/demo/edits/":                         "GET, HEAD, OPTIONS",
	"/api/components/demo/app/contributors/":            "GET, HEAD, OPTIONS",
	"/api/components/demo/app/credits/":                 "GET, HEAD, OPTIONS",
	compared:                                            "GET, HEAD, OPTIONS",
	"/api/translations/demo/app/cs/contributors/":       "GET, HEAD, OPTIONS",
	"/api/edits/1/":                                     "GET, DELETE, HEAD, OPTIONS",
	"/api/edits/1/restore/":                             "POST, OPTIONS",
	"/api/suggestions/1/accept/":                        "POST, OPTIONS",
	"/api/suggestions/1/reject/":                        "POST, OPTIONS",
	"/api/translations/demo/app/cs/edits/":              "GET, HEAD, OPTIONS",
	"/api/components/demo/app/edits/":                   "GET, HEAD, OPTIONS",
	"/api/units/268435457/suggestions/":                 "GET, POST, HEAD, OPTIONS",
	"/api/units/268435457/comments/":                    "GET, POST, HEAD, OPTIONS",
	"/api/projects/demo/statistics/":                    "GET, HEAD, OPTIONS",
	"/api/projects/demo/languages/":                     "GET, HEAD, OPTIONS",
	"/api/projects/demo/repository/":                    "GET, POST, HEAD, OPTIONS",
	"/api/projects/demo/labels/":                        "GET, POST, HEAD, OPTIONS",
	"/api/projects/demo/categories/":                    "GET, HEAD, OPTIONS",
	"/api/components/demo/app/statistics/":              "GET, HEAD, OPTIONS",
	"/api/components/demo/app/repository/":              "GET, POST, HEAD, OPTIONS",
	"/api/components/demo/app/lock/":                    "GET, POST, HEAD, OPTIONS",
	"/api/components/demo/app/requests/":                "GET, POST, HEAD, OPTIONS",
	"/api/components/demo/app/links/":                   "GET, POST, HEAD, OPTIONS",
	"/api/components/demo/app/links/secret/":            "DELETE, OPTIONS",
	"/api/components/demo/app/screenshots/":             "GET, HEAD, OPTIONS",
	"/api/components/demo/app/addons/":                  "POST, OPTIONS",
	"/api/translations/demo/app/cs/file/":               "GET, POST, PUT, HEAD, OPTIONS",
	"/api/components/demo/app/file/":                    "GET, HEAD, OPTIONS",
	"/api/projects/demo/file/":                          "GET, HEAD, OPTIONS",
	"/api/projects/demo/languages/cs/file/":             "GET, HEAD, OPTIONS",
	"/api/projects/demo/lock/":                          "GET, POST, HEAD, OPTIONS",
	"/api/components/demo/app/new_template/":            "GET, HEAD, OPTIONS",
	"/api/components/demo/app/monolingual_base/":        "GET, HEAD, OPTIONS",
	"/api/languages/cs/statistics/":                     "GET, HEAD, OPTIONS",
	"/api/users/":                                       "GET, POST, HEAD, OPTIONS",
	"/api/users/karel/contributions/":                   "GET, HEAD, OPTIONS",
	"/api/users/karel/statistics/":                      "GET, HEAD, OPTIONS",
	"/api/users/karel/notifications/":                   "GET, POST, HEAD, OPTIONS",
	"/api/addons/":                                      "GET, HEAD, OPTIONS",
	"/api/addons/6/":                                    "GET, PUT, PATCH, DELETE, HEAD, OPTIONS",
	"/api/component-lists/":                             "GET, POST, HEAD, OPTIONS",
	"/api/component-lists/any/":                         "GET, PUT, PATCH, DELETE, HEAD, OPTIONS",
	"/api/component-lists/any/components/":              "GET, POST, HEAD, OPTIONS",
	"/api/docs/":                                        "GET, HEAD, OPTIONS",
	"/api/groups/":                                      "GET, POST, HEAD, OPTIONS",
	"/api/roles/":                                       "GET, POST, HEAD, OPTIONS",
	"/api/memory/":                                      "GET, HEAD, OPTIONS",
	"/api/categories/":                                  "GET, POST, HEAD, OPTIONS",
	"/api/categories/1/":                                "GET, PUT, PATCH, DELETE, HEAD, OPTIONS",
	"/api/screenshots/":                                 "GET, POST, HEAD, OPTIONS",
	"/api/metrics/":                                     "GET, HEAD, OPTIONS",
	"/exports/stats/demo/":                              "GET, HEAD, OPTIONS",
	"/exports/stats/demo/app/":                          "GET, HEAD, OPTIONS",
	"/exports/rss/":                                     "GET, HEAD, OPTIONS",
	"/exports/rss/language/cs/":                         "GET, HEAD, OPTIONS",
	"/exports/atom/":                                    "GET, HEAD, OPTIONS",
	"/exports/atom/language/cs/":                        "GET, HEAD, OPTIONS",
	"/exports/atom/demo/":                               "GET, HEAD, OPTIONS",
	"/exports/atom/demo/app/":                           "GET, HEAD, OPTIONS",
	"/exports/atom/demo/app/cs/":                        "GET, HEAD, OPTIONS",
	"/exports/rss/demo/":                                "GET, HEAD, OPTIONS",
	"/exports/rss/demo/app/":                            "GET, HEAD, OPTIONS",
	"/exports/rss/demo/app/cs/":                         "GET, HEAD, OPTIONS",
	"/widget/demo/svg-badge.svg/":                       "GET, HEAD, OPTIONS",
	"/widget/demo/app/svg-badge.svg/":                   "GET, HEAD, OPTIONS",
	"/widget/demo/app/cs/svg-badge.svg/":                "GET, HEAD, OPTIONS",
	"/widgets/demo/-/svg-badge.svg/":                    "GET, HEAD, OPTIONS",
	"/widgets/demo/cs/app/svg-badge.svg/":               "GET, HEAD, OPTIONS",
	"/api/statistics/":                                  "GET, HEAD, OPTIONS",
	"/api/search/":                                      "GET, HEAD, OPTIONS",
}

// unread are the resources that do not answer GET with 200: they do not exist
// here, or have only other methods.
var unread = map[string]struct {
	status int
	body   string
}{
	"/api/translations/demo/app/cs/autotranslate/": {405, ""},
	"/api/memory/lookup/":                          {405, ""},
	"/api/components/demo/app/links/secret/":       {405, ""},
	"/api/components/demo/app/addons/":             {405, ""},
	"/api/edits/1/":                                {404, `{"detail":"Not found."}`},
	"/api/edits/1/restore/":                        {405, ""},
	"/api/suggestions/1/accept/":                   {405, ""},
	"/api/suggestions/1/reject/":                   {405, ""},
	"/api/components/demo/app/monolingual_base/":   {404, `{"detail":"No template found!"}`},
	"/api/categories/1/":                           {404, `{"detail":"Not found."}`},
	"/api/component-lists/any/":                    {404, `{"detail":"Not found."}`},
	"/api/component-lists/any/components/":         {404, `{"detail":"Not found."}`},
	"/api/metrics/":                                {401, `{"detail":"Authentication credentials were not provided."}`},
}

// brief makes the streams of a server end after what there is.
func brief(s *Server) *Server {
	s.streams.ending = make(chan struct{})
	close(s.streams.ending)
	return s
}

// readOnly is what a refused write says besides Weblate's text.
const readOnly = " This server is read-only, with any token: to change a string, push a commit to its repository; to have it pulled at once, POST /hooks/update/PROJECT/COMPONENT/."

// TestMethods tries every method on every resource
// (docs/compatibility.md#writes).
func TestMethods(t *testing.T) {
	t.Parallel()
	s := brief(serve(demoWorld(t), Options{}))
	if len(resources) != len(resource.Routes(&s.env)) {
		t.Fatalf("%d resources for %d routes", len(resources), len(resource.Routes(&s.env)))
	}
	for path, allow := range resources {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "get"} {
			checkMethod(t, s, method, path, allow)
		}
	}
}

func checkMethod(t *testing.T, s *Server, method, path, allow string) {
	t.Helper()
	want, detail := 200, ""
	wantToken := 200
	reads := method == "GET" || method == "HEAD"
	switch {
	case reads && unread[path].status != 0:
		want, detail, wantToken = unread[path].status, unread[path].body, unread[path].status
		if want == 405 {
			detail = `{"detail":"Method \"` + method + `\" not allowed."}`
		}
		if want == 401 {
			wantToken = 200
		}
		if method == "HEAD" {
			detail = ""
		}
	case reads || method == "OPTIONS":
	case path == "/api/memory/lookup/" && method == "POST": // it asks, without a body
		want, wantToken = 400, 400
	case strings.Contains(allow, method):
		want, detail, wantToken = 401, `{"detail":"Authentication credentials were not provided.`+readOnly+`"}`, 403
	default:
		want, detail, wantToken = 405, `{"detail":"Method \"`+method+`\" not allowed."}`, 405
	}
	rec := call(t, s, method, path)
	if rec.Code != want || detail != "" && oldForm(rec.Body.String()) != detail {
		t.Errorf("%s %s: %d %.100s", method, path, rec.Code, rec.Body)
	}
	if got := rec.Header().Get("WWW-Authenticate"); (got == "Token") != (want == 401) {
		t.Errorf("%s %s: WWW-Authenticate %q", method, path, got)
	}
	for name, value := range map[string]string{"Allow": allow, "Vary": "Accept", "X-Content-Type-Options": "nosniff"} {
		if got := rec.Header().Get(name); got != value {
			t.Errorf("%s %s: %s %q", method, path, name, got)
		}
	}
	if want == 200 && path != "/api/changes/1/" {
		return // reads ignore the header; one path shows it
	}
	for _, key := range []string{"Token abc", "token abc", "Bearer nope"} {
		if _, rec := send(s, method, path, "Authorization", key); rec.Code != wantToken {
			t.Errorf("%s %s with %s: %d", method, path, key, rec.Code)
		}
	}
	for _, none := range []string{"Token", "Token ", "Bearer", "Basic eDp5", "garbage"} {
		if _, rec := send(s, method, path, "Authorization", none); rec.Code != want {
			t.Errorf("%s %s with %q: %d", method, path, none, rec.Code)
		}
	}
}

// TestHead: the headers of GET, Content-Length included, without a body; over
// a real connection, where net/http adds headers.
func TestHead(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	ts := httptest.NewServer(s)
	defer ts.Close()
	paths := []string{"/api/nope/", "/api/units/1/"}
	for path := range resources {
		if !strings.Contains(path, "/stream/") {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		headers := map[string]http.Header{}
		for _, method := range []string{"GET", "HEAD"} {
			req, err := http.NewRequestWithContext(t.Context(), method, ts.URL+path, nil)
			must(t, err)
			req.Header.Set("Accept-Encoding", "identity") // the client asks for gzip by itself, for GET only
			res, err := ts.Client().Do(req)
			must(t, err)
			var body bytes.Buffer
			if _, err := body.ReadFrom(res.Body); err != nil {
				t.Fatal(err)
			}
			must(t, res.Body.Close())
			if method == "HEAD" && body.Len() > 0 || method == "GET" && res.Header.Get("Content-Type") != rest.TypeZip && res.Header.Get("Content-Length") != strconv.Itoa(body.Len()) {
				t.Errorf("%s %s: %d bytes, Content-Length %s", method, path, body.Len(), res.Header.Get("Content-Length"))
			}
			res.Header.Del("Date")
			if unread[path].status == 405 { // the text names the method
				res.Header.Del("Content-Length")
			}
			headers[method] = res.Header
		}
		if diff := cmp.Diff(headers["GET"], headers["HEAD"]); diff != "" {
			t.Errorf("%s: headers (-GET +HEAD):\n%s", path, diff)
		}
	}
}

// TestOptions compares with the two recorded bodies.
func TestOptions(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	const tail = `,"description":"Translation components API.","renders":["application/json","text/html"],` +
		`"parses":["application/json","application/x-www-form-urlencoded","multipart/form-data"]}`
	for path, name := range map[string]string{
		"/api/translations/demo/app/cs/":       "Translation Instance",
		"/api/translations/demo/app/cs/units/": "Units",
		"/api/translations/demo/app/zz/units":  "Units",
	} {
		rec := call(t, s, http.MethodOptions, path)
		if want := `{"name":"` + name + `"` + tail; rec.Code != 200 || rec.Body.String() != want {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
}

// TestPaths: a path without its slash, other spellings of one path, and unknown
// paths (docs/compatibility.md#addresses).
func TestPaths(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	same := map[string][]string{
		"/api/translations/demo/app/cs/": {
			"/api/translations/demo/app/cs", "/api/translations/demo/app/%63s/", "/%61pi/translations/demo/app/cs",
		},
		"/api/translations/demo/app/sr@latin/": {
			"/api/translations/demo/app/sr%40latin/", "/api/translations/demo/app/sr@latin", "/api/translations/demo/app/sr%40latin",
		},
		"/api/translations/demo/app/cs/units/?page=2": {
			"/api/translations/demo/app/cs/units?page=2", "/api/translations/demo/app/cz/units/?page=2", "/api/translations/demo/app/CS/units?page=2",
		},
		"/api/units/268435457/": {"/api/units/268435457", "/api/units/0268435457/"},
		"/api/":                 {"/api"},
		"/api/languages/cs/":    {"/api/languages/CS", "/api/languages/cz/"},
	}
	for path, others := range same {
		want := get(t, s, path)
		for _, other := range others {
			if got := get(t, s, other); got != want {
				t.Errorf("%s and %s differ:\n%s", path, other, cmp.Diff(want, got))
			}
		}
	}
	for _, path := range []string{
		"/nope", "/ap", "/apix/", "/api/nope/", "/api/units/x/", "/api//units/268435457/", "/api/translations/demo/", "/api/translations/demo/app/",
		"/api/translations/demo/app/cs/nope/", "/api/translations/demo/app/cs/units/1/", "/api/translations/demo%2Fapp/cs/", "/api/translations/demo/app/zz/",
		"/api/translations/demo/app/de/", "/api/translations/demo/nope/cs/", "/api/translations/nope/app/cs/units/", "/api/translations/DEMO/app/cs/",
		"/api/translations/demo/app/cs%00/", "/api/translations/demo/app/%ff/", "/api/translations/demo/app/..%2Fcs/changes/",
		"/api/translations///cs/", "/api/units/abc/", "/api/units/0/", "/api/units/-1/", "/api/units/+268435457/", "/api/units/99999999999999999999/",
		"/api/units/268439999/", "/api/units/1/", "/api/changes/0/", "/api/changes/99999/", "/api/changes/1x/", "/api/projects/nope/", "/api/components/demo/nope/",
		"/api/languages/xx_nope/", "/api/languages/xx_nope/statistics/", "/api/users/nobody/statistics/", "/api/users/nobody/notifications/",
		"/api/addons/1/", "/api/addons/x/", "/api/tasks/", "/api/groups/1/", "/api/units/1/translations/", "/api/components/demo/nope/lock/", "/api/components/demo/nope/links/",
		"/api/components/demo/nope/repository/", "/api/components/demo/nope/monolingual_base/", "/api/components/demo/nope/screenshots/", "/api/projects/nope/statistics/", "/api/projects/nope/languages/",
		"/api/projects/nope/labels/", "/api/projects/nope/repository/", "/api/translations/demo/app/zz/statistics/", "/api/translations/demo/app/zz/repository/", "/api/users/nobody/", "/api/users/%00/", "/api/tasks/00000000-0000-0000-0000-000000000000/", "/api/users/a%2Fb/",
	} {
		rec := call(t, s, http.MethodGet, path)
		if rec.Code != 404 || oldForm(rec.Body.String()) != `{"detail":"Not found."}` || rec.Header().Get("Allow") == "" {
			t.Errorf("%s: %d %q %s", path, rec.Code, rec.Header().Get("Allow"), rec.Body)
		}
	}
	if rec := call(t, s, http.MethodDelete, "/api/nope/"); rec.Code != 404 {
		t.Errorf("DELETE of an unknown path: %d", rec.Code)
	}
}
