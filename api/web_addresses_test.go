package api

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/page"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

var namedURL = regexp.MustCompile(`"http://l10n\.example\.org(/[^"]*)"`)

// TestNamedPages follows every page that an answer names: it leads to a
// resource that answers a browser with a page.
func TestNamedPages(t *testing.T) {
	t.Parallel()
	s := brief(serve(catalogtest.Demo(t), Options{}))
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
	if rec.Code != http.StatusFound {
		t.Errorf("%s: %d %.200s", target, rec.Code, rec.Body)
		return
	}
	to := rec.Header().Get("Location")
	if strings.Contains(target, "checksum=") && !strings.HasPrefix(to, "/api/units/") {
		t.Errorf("%s leads to %s, which is no unit", target, to)
	}
	_, rec = send(s, http.MethodGet, to, "Accept", browser)
	if rec.Code != http.StatusOK || rec.Header().Get("Content-Type") != rest.TypeHTML || rec.Header().Get("Content-Security-Policy") != page.Policy {
		t.Errorf("%s leads to %s: %d %v", target, to, rec.Code, rec.Header())
	}
}

func TestTranslatePage(t *testing.T) {
	t.Parallel()
	s := serve(catalogtest.Demo(t), Options{})
	for target, want := range map[string]string{
		"/translate/demo/app/cs/":             "/api/translations/demo/app/cs/units/",
		"/translate/demo/app/cs/?checksum=zz": "/api/translations/demo/app/cs/units/",
		"/translate/demo/app/cs/?checksum=1":  "/api/translations/demo/app/cs/units/",
		"/projects/demo/app/cs/":              "/api/translations/demo/app/cs/",
		"/projects/demo/-/cs/":                "/api/units/?q=project%3A%3D%22demo%22+AND+language%3A%3D%22cs%22",
		"/translate/demo/-/cs/":               "/api/units/?q=project%3A%3D%22demo%22+AND+language%3A%3D%22cs%22",
		"/languages/cs":                       "/api/languages/cs/",
		"/projects/%2F%2Fevil.example/":       "/api/projects/%2F%2Fevil.example/",
		"/user/a%0d%0aSet-Cookie:%20x/":       "/api/users/a%0D%0ASet-Cookie:%20x/",
	} {
		if _, rec := send(s, http.MethodGet, target); rec.Code != http.StatusFound || rec.Header().Get("Location") != want {
			t.Errorf("%s: %d to %q, want %q", target, rec.Code, rec.Header().Get("Location"), want)
		}
	}
	for _, target := range []string{"/projects/demo/-/fr/", "/projects/demo/-/xx/", "/translate/secret/-/cs/", "/languages/cs/nope/"} {
		if _, rec := send(s, http.MethodGet, target); rec.Code != http.StatusNotFound {
			t.Errorf("%s: %d to %q", target, rec.Code, rec.Header().Get("Location"))
		}
	}
	w := catalogtest.NewWriter(t)
	w.ImportBig(3)
	one := serve(w, Options{})
	for target, want := range map[string]string{
		"/projects/big/-/cs/": "/api/translations/big/big/cs/", "/translate/big/-/cs/": "/api/translations/big/big/cs/units/", "/languages/cs/big/": "/api/translations/big/big/cs/",
	} {
		if _, rec := send(one, http.MethodGet, target); rec.Header().Get("Location") != want {
			t.Errorf("%s: %d to %q, want %q", target, rec.Code, rec.Header().Get("Location"), want)
		}
	}
}

// TestTranslatePagePrivate: without a token the address of a private translation is
// 404, also with a checksum; with one it leads to a resource that answers.
func TestTranslatePagePrivate(t *testing.T) {
	t.Parallel()
	w := catalogtest.Demo(t)
	s := bare(w, Options{CacheBytes: 1 << 20}) // openapi.yaml has no such paths
	key := "Token " + w.Token("t", catalog.ScopeRead)
	_, rec := send(s, http.MethodGet, "/api/translations/secret/lib/en/units/", "Authorization", key)
	unit := decode[envelope](t, rec.Body.String()).Results[0]
	named, err := url.Parse(unit["web_url"].(string))
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(unit["url"].(string))
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{
		"/translate/secret/lib/en/": "/api/translations/secret/lib/en/units/", named.RequestURI(): at.Path,
	} {
		for range 2 { // the second time from the cache, if it were kept
			_, rec := send(s, http.MethodGet, target, "Authorization", key, "Accept", browser)
			if rec.Code != http.StatusFound || rec.Header().Get("Location") != want {
				t.Errorf("%s with a token: %d to %q, want %q", target, rec.Code, rec.Header().Get("Location"), want)
			}
			if _, rec := send(s, http.MethodGet, target, "Accept", browser); rec.Code != http.StatusNotFound || strings.Contains(rec.Body.String(), "Message") {
				t.Errorf("%s: %d", target, rec.Code)
			}
			if _, rec := send(s, http.MethodGet, target, "Authorization", "Token x"); rec.Code != http.StatusUnauthorized {
				t.Errorf("%s with a bad token: %d", target, rec.Code)
			}
		}
		if _, rec := send(s, http.MethodGet, want, "Authorization", key, "Accept", browser); rec.Code != http.StatusOK || !strings.Contains(rec.Body.String(), "Message 1") {
			t.Errorf("%s with a token: %d", want, rec.Code)
		}
	}
}

// refusedByPolicy finds what the Content-Security-Policy of a page forbids:
// scripts, handlers, frames and what would come from elsewhere.
var refusedByPolicy = regexp.MustCompile(`(?i)<(script|iframe|object|embed|base|video|audio|img|link rel="stylesheet")|<[^>"]+("[^"]*"[^>"]*)* on[a-z]+=|@import|url\(`)
