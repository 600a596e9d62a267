package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/rest"
)

// FuzzRequest sends any requests to the handler: never a 5xx (everything is
// imported here), never a panic, never an answer without its headers, never a
// private text.
func FuzzRequest(f *testing.F) {
	for path := range resources {
		f.Add("GET", path, "l10n.example.org", "application/json", "")
		f.Add("GET", path+"?action=59&action=x&user=%00&timestamp_after=2021-02-30T00:00:00Z&timestamp_before=2026-01-01T00:00+00:00", "a", "", "")
		f.Add("GET", path+"?format=csv", "[::1]:80", "text/html, */*;q=0.1", "Token x")
		f.Add("OPTIONS", path+"?page=last&page_size=-1&after_id=5&ordering=-id", "", "application/json; indent=4", "")
	}
	for _, target := range []string{
		"/api/translations/demo/hidden/en/units/", "/api/units/805306369/", "/api/changes/93/?format=json", "/api/../../etc/passwd",
		"/api/units/%00/", "/api/users/%F0%9F%91%8D/", "/api?%&=&?&==", "/api/translations/demo/app/cs/units/?page=%31&page=9999999999",
		"/api/changes/?after_id=-9223372036854775808", "/api/changes/?page_size=999999999999999999999&ordering=-id&after_id=9223372036854775807",
		"*", "//", "/api/" + strings.Repeat("a/", 200), "/api/languages/" + strings.Repeat("x", 5000),
	} {
		f.Add("GET", target, "evil\"<>", "a/b;c", "Bearer \xff")
		f.Add("HEAD", target, "localhost:8080", "", "")
	}
	w := demoWorld(f)
	w.Import("demo/docs", repoDocs, "Jane", sourceFile(numberedUnits(5)))
	w.ImportBranch("secret/open", repoSecret, "release", "Jane", sourceFile(numberedUnits(5)))
	s := brief(serve(w, Options{}))
	f.Fuzz(func(t *testing.T, method, target, host, accept, authorization string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			t.Skip()
		}
		r := (&http.Request{
			Method: method, URL: u, Host: host, RequestURI: target, RemoteAddr: "192.0.2.1:1", Body: http.NoBody,
			Header: http.Header{"Accept": {accept}, "Authorization": {authorization}, "X-Forwarded-Host": {"evil.example"}},
		}).WithContext(t.Context())
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		body := rec.Body.String()
		if rec.Code >= 500 || rec.Code < 200 {
			t.Errorf("%d %s", rec.Code, body)
		}
		if rec.Header().Get("Allow") == "" || rec.Header().Get("Vary") != "Accept" {
			t.Errorf("headers %v", rec.Header())
		}
		if rec.Header().Get("Content-Type") == rest.TypeJSON && method != http.MethodHead && !json.Valid([]byte(body)) {
			t.Errorf("no JSON: %s", body)
		}
		for _, never := range []string{"/demo/hidden/", "/secret/lib/", `"author_name":"Mallory"`, "evil.example"} {
			if strings.Contains(body, never) && !strings.Contains(u.RawQuery, "evil") && host != "evil.example" {
				t.Errorf("%s in %s", never, body)
			}
		}
	})
}

// FuzzHost: a host that is accepted is one that net/url reads back unchanged.
func FuzzHost(f *testing.F) {
	for _, host := range []string{"a", "a:1", "[::1]", "[::1]:1", "a@b", "a/b", "a%41", "[v1.x]", "a:", "1.2.3.4", "a\x00"} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if !validHost(host) {
			t.Skip()
		}
		u, err := url.Parse("http://" + host + "/api/?x")
		if err != nil || u.Host != host || u.Path != "/api/" || u.User != nil || u.Hostname() == "" {
			t.Errorf("%q: %v %v", host, u, err)
		}
	})
}
