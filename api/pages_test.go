package api

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/page"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// TestPages asks for every resource as a browser does.
func TestPages(t *testing.T) {
	t.Parallel()
	s := brief(serve(demoWorld(t), Options{}))
	shown, kinds := 0, map[string]resource.Kind{}
	for _, rt := range resource.Routes(&s.env) {
		kinds[rt.Path] = rt.Kind
	}
	for target := range resources {
		c := s.echo.NewContext(nil, nil)
		s.echo.Router().Find(http.MethodGet, target, c)
		k := kinds[c.Path()]
		if k == resource.KindEvents { // which has no end
			continue
		}
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		if k == resource.KindDocument && target != "/api/docs/" || k == resource.KindFile {
			if rec.Header().Get("Content-Type") == rest.TypeHTML {
				t.Errorf("%s, which is a document, became a page", target)
			}
			continue
		}
		want := http.StatusOK
		if other, is := unread[target]; is {
			want = other.status
		}
		h := rec.Header()
		if blocked := refusedByPolicy.FindString(rec.Body.String()); blocked != "" {
			t.Errorf("%s: a browser refuses %q", target, blocked)
		}
		if rec.Code != want || h.Get("Content-Type") != rest.TypeHTML || h.Get("Content-Security-Policy") != page.Policy || !strings.HasSuffix(strings.TrimSpace(rec.Body.String()), "</html>") {
			t.Errorf("%s: %d %v", target, rec.Code, h)
		}
		shown++
	}
	if shown < 60 {
		t.Errorf("only %d pages", shown)
	}
	body := func(target string) string {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		return rec.Body.String()
	}
	for target, want := range map[string][]string{
		"/api/translations/demo/app/cs/units/?page=2": {`&#34;count&#34;: 44`, `page=3">http://`, `format=csv&amp;page=2`},
		"/api/nope/":     {`&#34;detail&#34;: &#34;Not found.&#34;`, `HTTP 404 Not Found`},
		"/api/projects/": {`href="http://l10n.example.org/api/projects/demo/"`},
		"/api/docs/":     {`id="schema-Unit"`, `id="listUnits"`, `page_size`},
	} {
		got := body(target)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %s", target, w)
			}
		}
	}
}

const browser = catalogtest.Browser

var namedURL = regexp.MustCompile(`"http://l10n\.example\.org(/[^"]*)"`)

// TestNamedPages follows every page that an answer names: it exists.
func TestNamedPages(t *testing.T) {
	t.Parallel()
	s := brief(serve(demoWorld(t), Options{}))
	seen := map[string]bool{}
	for target := range resources {
		_, rec := send(s, http.MethodGet, target, "Accept", "application/json")
		for _, m := range namedURL.FindAllStringSubmatch(rec.Body.String(), -1) {
			if to := m[1]; !seen[to] && !strings.HasPrefix(to, "/api/") && !strings.HasPrefix(to, "/git/") && !strings.HasPrefix(to, "/exports/") && to != "/" {
				seen[to] = true
				followPage(t, s, to)
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d pages are named", len(seen))
	}
}

func followPage(t *testing.T, s http.Handler, target string) {
	t.Helper()
	_, rec := send(s, http.MethodGet, target, "Accept", browser)
	if rec.Code != http.StatusOK || rec.Header().Get("Content-Type") != rest.TypeHTML || rec.Header().Get("Content-Security-Policy") != web.Policy {
		t.Errorf("%s: %d %v", target, rec.Code, rec.Header())
	}
	if strings.Contains(target, "checksum=") && !strings.Contains(rec.Body.String(), `"/api/units/`) {
		t.Errorf("%s shows no string", target)
	}
}

// TestUnknownPage: an address that is nothing, outside the API, gets a page for people.
func TestUnknownPage(t *testing.T) {
	t.Parallel()
	s := bare(demoWorld(t), Options{})
	for _, target := range []string{"/nothing/", "/projects/demo/app/cs/more/"} {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		if rec.Code != http.StatusNotFound || !strings.Contains(rec.Body.String(), "This page does not exist") {
			t.Errorf("%s: %d %.300s", target, rec.Code, rec.Body)
		}
	}
	if _, rec := send(s, http.MethodGet, "/nothing/?ui=cs", "Accept", browser); !strings.Contains(rec.Body.String(), "Tato stránka neexistuje") || strings.Contains(rec.Body.String(), "Not found.") {
		t.Errorf("in Czech: %.300s", rec.Body)
	}
	for target, accept := range map[string]string{"/api/nothing/": browser, "/nothing/": "*/*"} {
		_, rec := send(s, http.MethodGet, target, "Accept", accept)
		if rec.Code != http.StatusNotFound || strings.Contains(rec.Body.String(), "This page does not exist") {
			t.Errorf("%s: %d %.300s", target, rec.Code, rec.Body)
		}
	}
}

// TestPagesForPrograms: a program that asks a page for JSON is sent to the answer with
// the same facts, and never to another host.
func TestPagesForPrograms(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for target, want := range map[string]string{
		"/translate/demo/app/cs/":         "/api/translations/demo/app/cs/units/",
		"/translate/demo/app/cs/?q=a%20b": "/api/translations/demo/app/cs/units/?q=a+b",
		"/projects/demo/app/cs/":          "/api/translations/demo/app/cs/",
		"/projects/demo/":                 "/api/projects/demo/matrix/",
		"/projects/demo/-/cs/":            "/api/units/?q=project%3A%3D%22demo%22+AND+language%3A%3D%22cs%22",
		"/languages/cs":                   "/api/languages/cs/",
		"/changes/?kind=changed":          "/api/changes/?ordering=-id&action=59&action=2&action=5&action=7&action=37",
		"/projects/%2F%2Fevil.example/":   "/api/projects/%2F%2Fevil.example/matrix/",
		"/user/a%0d%0aSet-Cookie:%20x/":   "/api/users/a%0D%0ASet-Cookie:%20x/",
	} {
		if _, rec := send(s, http.MethodGet, target, "Accept", "application/json"); rec.Code != http.StatusFound || rec.Header().Get("Location") != want {
			t.Errorf("%s: %d to %q, want %q", target, rec.Code, rec.Header().Get("Location"), want)
		}
	}
	for _, target := range []string{"/projects/demo/-/xx/", "/languages/cs/nope/", "/checks/nope/", "/docs/nope/", "/user/nobody/"} {
		if _, rec := send(s, http.MethodGet, target); rec.Code != http.StatusNotFound || rec.Header().Get("Content-Type") != rest.TypeHTML {
			t.Errorf("%s: %d %q %q", target, rec.Code, rec.Header().Get("Content-Type"), rec.Header().Get("Location"))
		}
	}
}

// TestTranslatePagePrivate: without a token a private translation is not found,
// by checksum neither; with a token it is shown.
func TestTranslatePagePrivate(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := bare(w, Options{CacheBytes: 1 << 20}) // openapi.yaml has no such paths
	key := "Token " + w.Token("t", catalog.ScopeRead)
	_, rec := send(s, http.MethodGet, "/api/translations/secret/lib/en/units/", "Authorization", key)
	unit := decode[envelope](t, rec.Body.String()).Results[0]
	named, err := url.Parse(unit["web_url"].(string))
	must(t, err)
	if _, rec := send(s, http.MethodGet, "/engage/secret/tlh/", "Accept", browser); !strings.Contains(rec.Body.String(), "does not have this language yet.") || strings.Contains(rec.Body.String(), "/secret/lib/") {
		t.Errorf("components to begin a language in: %s", rec.Body)
	}
	for _, target := range []string{"/translate/secret/lib/en/", named.RequestURI(), "/search/?q=Message+project:secret"} {
		for range 2 { // the second time from the cache, if it were kept
			_, rec := send(s, http.MethodGet, target, "Authorization", key, "Accept", browser)
			if rec.Code != http.StatusOK || !strings.Contains(strings.NewReplacer("<mark>", "", "</mark>", "").Replace(rec.Body.String()), ">Message 1<") {
				t.Errorf("%s with a token: %d", target, rec.Code)
			}
			if _, rec := send(s, http.MethodGet, target, "Accept", browser); rec.Code == http.StatusOK != strings.HasPrefix(target, "/search/") || strings.Contains(rec.Body.String(), "Message 1") {
				t.Errorf("%s: %d", target, rec.Code)
			}
			if _, rec := send(s, http.MethodGet, target, "Authorization", "Token x"); rec.Code != http.StatusUnauthorized {
				t.Errorf("%s with a bad token: %d", target, rec.Code)
			}
		}
	}
}

// refusedByPolicy finds what the Content-Security-Policy of a page forbids:
// scripts, handlers, frames and what would come from elsewhere.
var refusedByPolicy = regexp.MustCompile(`(?i)<(script|iframe|object|embed|base|video|audio|img|link rel="stylesheet")|<[^>"]+("[^"]*"[^>"]*)* on[a-z]+=|@import|url\(`)
