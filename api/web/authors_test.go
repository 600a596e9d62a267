package web_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// TestAuthors: contributors of all time are drawn from the first week on, those that do not fit
// have a page, each leads to the own changes, and who is there twice is told of .mailmap.
func TestAuthors(t *testing.T) {
	t.Parallel()
	repo := testrepos.Empty(t)
	first := time.Date(2020, 1, 6, 10, 0, 0, 0, time.UTC)
	for i := range 25 {
		author := fmt.Sprintf("Person %c <p%d@example.org>", 'A'+max(i, 1), i) // B has two addresses
		repo.Commit(t, testrepos.Change{When: first.AddDate(0, 2*i, 0), Author: author, Files: map[string]string{"po/cs.po": catalogtest.PO("Open", fmt.Sprint("Otevřít ", i))}})
	}
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {History: catalog.History{Full: true}}})
	w.Sync()
	s := bare(w.Store, api.Options{})
	page := func(target string) string {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		return rec.Body.String()
	}
	const twice = "A file .mailmap in the repository joins them."
	some := page("/projects/demo/app/?since=all")
	rest := regexp.MustCompile(`<a href="([^"]+)">and 5 more authors</a>`).FindStringSubmatch(some)
	if rest == nil || !strings.Contains(some, "Weeks from 24 February 2020 to ") || !strings.Contains(some, "2 weeks in each column") {
		t.Fatalf("of all time: %s", some)
	}
	all := page(strings.ReplaceAll(rest[1], "&amp;", "&"))
	if n := strings.Count(all, `<tr><th scope="row"><a href="/user/`); n != 25 || !strings.Contains(all, twice) {
		t.Errorf("%d of all authors: %s", n, all)
	}
	if year := page("/projects/demo/app/cs/?since=365"); strings.Contains(year, twice) {
		t.Error("nobody of the last year is there twice")
	}
	link := regexp.MustCompile(`href="(/changes/browse/demo/app/\?author=person-c)"`).FindStringSubmatch(all)
	if link == nil {
		t.Fatal("no link to the changes of one author")
	}
	for _, target := range []string{link[1], "/changes/?author=Person+C", "/changes/browse/demo/app/cs/?author=person-c"} {
		if list := page(target); !strings.Contains(list, "<ins>2</ins>") || strings.Contains(list, "<ins>3</ins>") {
			t.Errorf("%s: %s", target, list)
		}
	}
	if !strings.Contains(page("/user/person-c/"), `href="/changes/?author=person-c"`) {
		t.Error("no link to all changes of a person")
	}
}
