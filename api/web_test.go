package api

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/page"
)

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

var namedURL = regexp.MustCompile(`"http://l10n\.example\.org(/[^"]*)"`)

// TestNamedPages follows every page that an answer names: it leads to a
// resource that answers a browser with a page.
func TestNamedPages(t *testing.T) {
	t.Parallel()
	s := brief(demoWorld(t).serve(Options{}))
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
	if rec.Code != http.StatusOK || rec.Header().Get("Content-Type") != typeHTML || rec.Header().Get("Content-Security-Policy") != page.Policy {
		t.Errorf("%s leads to %s: %d %v", target, to, rec.Code, rec.Header())
	}
}

func TestTranslatePage(t *testing.T) {
	t.Parallel()
	s := demoWorld(t).serve(Options{})
	for target, want := range map[string]string{
		"/translate/demo/app/cs/":             "/api/translations/demo/app/cs/units/",
		"/translate/demo/app/cs/?checksum=zz": "/api/translations/demo/app/cs/units/",
		"/translate/demo/app/cs/?checksum=1":  "/api/translations/demo/app/cs/units/",
		"/projects/demo/app/cs/":              "/api/translations/demo/app/cs/",
		"/projects/demo/-/cs/":                "/api/projects/demo/languages/",
		"/languages/cs":                       "/api/languages/cs/",
		"/projects/%2F%2Fevil.example/":       "/api/projects/%2F%2Fevil.example/",
		"/user/a%0d%0aSet-Cookie:%20x/":       "/api/users/a%0D%0ASet-Cookie:%20x/",
	} {
		if _, rec := send(s, http.MethodGet, target); rec.Code != http.StatusFound || rec.Header().Get("Location") != want {
			t.Errorf("%s: %d to %q, want %q", target, rec.Code, rec.Header().Get("Location"), want)
		}
	}
	if _, rec := send(s, http.MethodGet, "/translate/secret/lib/en/"); rec.Code != http.StatusNotFound {
		t.Errorf("a private translation: %d", rec.Code)
	}
}

// TestPages asks for every resource as a browser does.
func TestPages(t *testing.T) {
	t.Parallel()
	s := brief(demoWorld(t).serve(Options{}))
	for _, rt := range s.routes() {
		if rt.kind == verbatim || rt.kind == events {
			continue
		}
		for target := range resources {
			_, rec := send(s, http.MethodGet, target, "Accept", browser)
			if rec.Header().Get("Content-Type") == typeHTML && !strings.Contains(rec.Body.String(), "</html>") {
				t.Errorf("%s: no whole page", target)
			}
		}
		break
	}
	body := func(target string) string {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		return rec.Body.String()
	}
	for target, want := range map[string][]string{
		"/api/translations/demo/app/cs/units/?page=2": {`rel="prev"`, `rel="next"`, `<span class="count">44</span>`, `lang="cs"`, `format=csv&amp;page=2`},
		"/api/components/demo/app/translations/":      {`<meter `, `aria-label="translated"`},
		"/api/projects/":                              {`href="http://l10n.example.org/api/projects/demo/?format=api"`},
		"/api/docs/":                                  {`id="schema-Unit"`, `id="listUnits"`, `page_size`},
	} {
		got := body(target)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %s", target, w)
			}
		}
	}
}
