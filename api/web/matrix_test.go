package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/testrepos"
)

// newApplets is a server with many components in two languages, whose names have no blanks. The
// first one alone has Irish, and Czech with a string left, and so many further languages.
func newApplets(t *testing.T, components, languages int) *api.Server {
	t.Helper()
	repo, files, settings := testrepos.Empty(t), map[string]string{}, map[string]catalog.ComponentSettings{}
	for i := range components {
		slug := fmt.Sprintf("a%02d", i)
		files[slug+"/de.po"] = catalogtest.PO("Open", "Öffnen")
		settings[slug] = catalog.ComponentSettings{Name: strings.Repeat(fmt.Sprintf("applet%02d@somebody.example/files/", i), 2), Filemask: slug + "/*.po"}
	}
	table, err := lang.New()
	must(t, err)
	for i := range languages {
		files["a00/"+table.All()[5*i].Code+".po"] = catalogtest.PO("Open", "")
	}
	files["a00/ga.po"], files["a00/cs.po"] = catalogtest.PO("Open", "Oscail"), catalogtest.PO("Open", "")
	repo.Commit(t, testrepos.Change{Files: files})
	w := catalogtest.NewPuller(t, repo.URL(), settings)
	w.Sync()
	return bare(w.Store, api.Options{CacheBytes: 1 << 20})
}

// TestTurnedMatrix: components are the rows of a matrix where there are more of them than
// languages, and are filtered and sorted there; otherwise languages are.
func TestTurnedMatrix(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		components         int
		target             string
		first, row, column string
		rows               int
	}{
		{4, "/projects/demo/", "/projects/demo/a00/", "/projects/demo/a03/", "/languages/de/demo/", 4},
		{4, "/projects/demo/?component=applet02", "/projects/demo/a02/", "/projects/demo/a02/", "/languages/ga/demo/", 1},
		{4, "/projects/demo/?only=unfinished", "/projects/demo/a00/", "/projects/demo/a00/", "/languages/de/demo/", 1},
		{4, "/projects/demo/?sort=done", "/projects/demo/a01/", "/projects/demo/a00/", "/languages/de/demo/", 4},
		{3, "/projects/demo/", "/languages/cs/demo/", "/languages/de/demo/", "/projects/demo/a02/", 3},
		{3, "/projects/demo/?lang=irish", "/languages/ga/demo/", "/languages/ga/demo/", "/projects/demo/a02/", 1},
	} {
		_, rec := send(newApplets(t, c.components, 0), http.MethodGet, c.target, "Accept", browser)
		_, table, _ := strings.Cut(rec.Body.String(), `<table class="matrix">`)
		head, body, _ := strings.Cut(table, "<tbody>")
		rows := strings.Split(body, `<th scope="row">`)[1:]
		if len(rows) != c.rows || !strings.HasPrefix(rows[0], `<a href="`+c.first+`"`) || !strings.Contains(body, `<th scope="row"><a href="`+c.row+`"`) || !strings.Contains(head, `<a href="`+c.column+`"`) {
			t.Errorf("%s of %d: %d rows: %s", c.target, c.components, len(rows), table)
		}
		for name, want := range map[string]bool{"/projects/demo/a00/ga/": c.first == "/projects/demo/a00/" || c.row == "/projects/demo/a00/" || c.rows == 3 || strings.Contains(c.target, "irish"), "/projects/demo/a01/ga/": false} {
			if got := strings.Contains(body, name); got != want {
				t.Errorf("%s of %d: a cell of %s: %v", c.target, c.components, name, got)
			}
		}
	}
}

// TestBrowserWideMatrix: a matrix of many components with long names does not make the page
// scroll sideways, and is short on phones.
func TestBrowserWideMatrix(t *testing.T) {
	b := openBrowser(t)
	site := httptest.NewServer(newApplets(t, 60, 0))
	defer site.Close()
	rules := readAxe(t)
	for _, width := range []int{1280, 768, 390} {
		b.inspect(site.URL, "/projects/demo/", "en", rules, width, width == 390)
		height, err := strconv.Atoi(b.ask("document.documentElement.scrollHeight"))
		if must(t, err); width < 1280 && height > 10_000 {
			t.Errorf("at %d px the page is %d px high", width, height)
		}
		if got := b.ask("scrollTo(2000, 0), scrollX"); got != "0" {
			t.Errorf("at %d px the page scrolls sideways by %s", width, got)
		}
		if got := b.ask(`Math.max(...[...document.querySelectorAll(".matrix tbody th")].map(e => e.offsetWidth)) <= innerWidth * (innerWidth > 1000 ? 0.35 : 0.96)`); got != "true" {
			t.Errorf("at %d px a name does not break", width)
		}
	}
}

// TestBrowserLongLists: pages of a hundred languages and of a hundred components are short on
// phones; in print they have no navigation and no fields.
func TestBrowserLongLists(t *testing.T) {
	b := openBrowser(t)
	site := httptest.NewServer(newApplets(t, 110, 105))
	defer site.Close()
	for _, target := range []string{"/projects/demo/", "/projects/demo/a00/", "/languages/", "/languages/de/", "/engage/demo/"} {
		b.load(site.URL+target, 390, false)
		if height, err := strconv.Atoi(b.ask("document.documentElement.scrollHeight")); err != nil || height > 10_000 {
			t.Errorf("%s is %d px high (%v)", target, height, err)
		}
		b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print"})
		if got := b.ask(`[...document.querySelectorAll("nav,form,footer,button,input")].filter(e => e.checkVisibility()).map(e => e.outerHTML.slice(0, 200)).join("\n")`); got != "" {
			t.Errorf("%s in print: %s", target, got)
		}
		b.call("Emulation.setEmulatedMedia", map[string]any{"media": ""})
	}
}

// TestPartsAreNamed: a percentage that covers a part says so: of a language over all, of each
// project, on its badge; one of all says nothing.
func TestPartsAreNamed(t *testing.T) {
	t.Parallel()
	s := newApplets(t, 3, 0)
	const part = "in 1 of 3 components"
	for target, want := range map[string]int{
		"/languages/ga/": 2, "/languages/ga/demo/": 2, "/languages/": 2, "/projects/demo/": 2, "/engage/demo/": 2, "/engage/demo/ga/": 2,
		"/widget/demo/-/ga/svg-badge.svg": 3, "/widget/demo/-/de/svg-badge.svg": 0, "/widget/demo/a00/ga/svg-badge.svg": 0, "/projects/demo/a00/ga/": 0,
	} {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		if got := strings.Count(rec.Body.String(), part); got != want {
			t.Errorf("%s says %d times %q, want %d", target, got, part, want)
		}
	}
}

// TestLastAuthor: of several last changes of one moment a row names the author of the first.
func TestLastAuthor(t *testing.T) {
	t.Parallel()
	repo, when := testrepos.Empty(t), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, author := range []string{"Ann", "Bob"} {
		path := map[string]string{"Ann": "a01/de.po", "Bob": "a00/de.po"}[author]
		repo.Commit(t, testrepos.Change{When: when, Author: author + " <" + author + "@example.org>", Files: map[string]string{path: catalogtest.PO("Open", "Öffnen"), path[:3] + "/cs.po": catalogtest.PO("Open", "")}})
	}
	full := catalog.History{Full: true}
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"a00": {Filemask: "a00/*.po", History: full}, "a01": {Filemask: "a01/*.po", History: full}})
	w.Sync()
	_, rec := send(bare(w.Store, api.Options{}), http.MethodGet, "/projects/demo/", "Accept", browser)
	_, row, _ := strings.Cut(rec.Body.String(), `<th scope="row"><a href="/languages/de/demo/">`)
	if row, _, _ = strings.Cut(row, "</th>"); !strings.Contains(row, "<bdi>Bob</bdi>") {
		t.Errorf("the author of the last change: %s", row)
	}
}
