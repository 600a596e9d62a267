package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/page"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// TestPages asks for every resource as a browser does.
func TestPages(t *testing.T) {
	t.Parallel()
	s := brief(serve(catalogtest.Demo(t), Options{}))
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

// TestPageViews: a list of strings can be searched and chosen from, a history be
// read from either end, and neither forgets the rest of the query; a search that
// cannot be understood can be mended.
func TestPageViews(t *testing.T) {
	t.Parallel()
	s := brief(serve(catalogtest.Demo(t), Options{}))
	const search = `<form class="search" role="search" action="/api/translations/demo/app/cs/units/">`
	for target, want := range map[string][]string{
		"/api/translations/demo/app/cs/units/?page_size=5&page=2": {search, `href="/api/translations/demo/app/cs/units/?format=api&amp;page_size=5" aria-current="page">All<`, `?format=api&amp;page_size=5&amp;q=state%3Aempty">Untranslated<`},
		"/api/translations/demo/app/cs/units/?q=state:empty":      {`value="state:empty"`, `q=state%3Aempty" aria-current="page">Untranslated<`},
		"/api/translations/demo/app/cs/units/?q=source:nothing":   {"There is nothing that this search finds."},
		"/api/translations/demo/app/cs/units/?q=(%22%3E%3Cb%22":   {search, `value="(&#34;&gt;&lt;b&#34;"`, `role="alert">q: Could not parse`},
		"/api/changes/?user=karel":                                {`?format=api&amp;ordering=-id&amp;user=karel">Newest first<`, `aria-current="page">Oldest first<`},
		"/api/projects/demo/changes/?ordering=-id":                {`aria-current="page">Newest first<`},
		"/api/nope/": {"<h1><bdi>Not Found</bdi></h1>", `role="alert">Not found.<`},
	} {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		for _, w := range want {
			if !strings.Contains(rec.Body.String(), w) {
				_, main, _ := strings.Cut(rec.Body.String(), "<main")
				t.Errorf("%s: no %s in %.1500s", target, w, main)
			}
		}
	}
	if _, rec := send(s, http.MethodGet, "/api/projects/demo/components/", "Accept", browser); strings.Contains(rec.Body.String(), "<form") {
		t.Error("a list that cannot be searched has a form")
	}
}
