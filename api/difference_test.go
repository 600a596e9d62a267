package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// TestPrivateMakesNoDifference asks everything that links lead to, and more,
// before and after private components come to the server: with the same
// strings, authors and languages, and with others. Clients without a token get
// the same bytes, headers and ETags.
func TestPrivateMakesNoDifference(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it asks every route twice")
	}
	t.Parallel()
	repo, secret := differenceRepos(t)
	d := newDifference(t)
	public := []store.ComponentSpec{
		differenceSpec("demo", "app", repo, "po/*.po", catalog.AccessPublic),
		differenceSpec("demo", "docs", repo, "docs/*.po", ""),
	}
	d.sync(public)
	before := d.crawl(d.server())
	if len(before) < 300 {
		t.Fatalf("only %d answers to compare", len(before))
	}
	d.sync(append(slices.Clone(public),
		differenceSpec("demo", "hidden", repo, "hid/*.po", catalog.AccessPrivate),
		differenceSpec("demo", "other", secret, "po/*.po", catalog.AccessPrivate),
		differenceSpec("vault", "lib", secret, "po/*.po", ""),
	))
	d.compare("private components came", before, d.kept)
	d.compare("private components came, a new process", before, d.server())
	token, err := d.DB.Access().CreateToken(t.Context(), catalog.Token{Name: "t", Scope: catalog.ScopeRead, Created: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	fresh := d.server()
	for path, want := range map[string]string{
		"/api/projects/": `"count":2`, "/api/users/?username=mallory": `"count":1`, "/api/languages/?page_size=100": `"code":"tlh"`,
		"/api/units/?q=has:suggestion": `"count":2`, "/api/units/?q=check:inconsistent": `"count":4`, "/api/users/ann/": `"date_joined":"2020-`,
		"/api/translations/vault/lib/cs/units/": "Hello",
	} {
		if body := ask(fresh, path, "Authorization", "Token "+token).Body.String(); !strings.Contains(body, want) {
			t.Errorf("%s with a token: no %s in %.300s", path, want, body)
		}
	}
}

// differenceRepos are a repository of public and private files, and one of
// private files alone: Ann wrote in both, first in the private one.
func differenceRepos(t *testing.T) (repo, secret *testrepos.Repo) {
	t.Helper()
	const ann, mallory = "Ann <ann@example.org>", "Mallory <mallory@example.org>"
	file := func(pairs ...string) string {
		text := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;\\n\"\n"
		for i := 0; i+1 < len(pairs); i += 2 {
			text += fmt.Sprintf("\n# remark %d\nmsgid %q\nmsgstr %q\n", i, pairs[i], pairs[i+1])
		}
		return text
	}
	repo, secret = testrepos.Empty(t), testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Author: ann, Files: map[string]string{
		"po/cs.po": file("Hello.", "Ahoj.", "Bye.", "", "Open", "Otevřít"), "po/de.po": file("Hello.", "Hallo", "Bye.", "Tschüss."),
		"docs/cs.po": file("Manual.", "Příručka."),
		"hid/cs.po":  file("Hello.", "Nazdar.", "Shut", "Otevřít"), "hid/tlh.po": file("Hello.", "nuqneH"),
	}})
	repo.Commit(t, testrepos.Change{Author: ann, Files: map[string]string{"po/cs.po": file("Hello.", "Ahoj!", "Bye.", "Nashle.", "Open", "Otevřít")}})
	secret.Commit(t, testrepos.Change{Author: ann, When: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), Files: map[string]string{"po/cs.po": file("Hello.", "Čau.", "Open", "Otevři")}})
	secret.Commit(t, testrepos.Change{Author: mallory, Files: map[string]string{"po/cs.po": file("Hello.", "Čau", "Open", "Otevři"), "po/tlh.po": file("Hello.", "yIDoghQo'")}})
	secret.Commit(t, testrepos.Change{Branch: "l10n/cs", Author: mallory, Parents: []string{"main"}, Files: map[string]string{"po/cs.po": file("Hello.", "Zdar", "Open", "Otevři")}})
	return repo, secret
}

func differenceSpec(project, slug string, repo *testrepos.Repo, mask string, access catalog.Access) store.ComponentSpec {
	return store.ComponentSpec{Project: project, Slug: slug, Repo: repo.URL(), Branch: "main", Settings: catalog.ComponentSettings{
		Name: slug, VCS: "git", FileFormat: "po", Filemask: mask, SourceLanguage: "en", LanguageRegex: "^[^.]+$", Access: access,
		AllowTranslationPropagation: true, SuggestionBranches: "l10n/*", SuggestionLimit: 5,
		History: catalog.History{Full: true},
	}}
}

// difference is a server with a changing configuration.
type difference struct {
	*catalogtest.Store
	kept *api.Server // with answers from before
}

func newDifference(t *testing.T) *difference {
	t.Helper()
	return &difference{Store: catalogtest.Open(t)}
}

func differenceNow() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

// server makes a server, which keeps answers.
func (d *difference) server() *api.Server {
	d.kept = api.New(api.Options{DB: d.DB, Languages: d.Languages, Now: differenceNow, CacheBytes: 64 << 20, TempDir: d.TB.TempDir()})
	return api.Validated(d.TB, d.kept)
}

// sync configures components and pulls their branches.
func (d *difference) sync(specs []store.ComponentSpec) {
	d.TB.Helper()
	projects := []catalog.Project{
		{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo"}},
		{Slug: "vault", Settings: catalog.ProjectSettings{Name: "Vault", Access: catalog.AccessPrivate}},
	}
	if specs[len(specs)-1].Project == "demo" {
		projects = projects[:1]
	}
	if err := d.DB.Configure(d.TB.Context(), projects, specs, nil); err != nil {
		d.TB.Fatal(err)
	}
	catalogtest.PullAll(d.Store, differenceNow, specs)
}

// starts are paths that no link leads to.
var starts = []string{
	"/api/", "/api/metrics/", "/api/statistics/", "/api/statistics/history/", "/api/search/?q=e", "/api/search/?q=h", "/api/search/?q=mal",
	"/exports/rss/", "/exports/atom/", "/exports/stats/demo/", "/exports/stats/demo/app/?format=csv", "/exports/rss/language/cs/", "/exports/rss/language/tlh/",
	"/widget/demo/svg-badge.svg", "/widgets/demo/-/multi-auto.svg", "/widgets/demo/tlh/svg-badge.svg", "/widget/demo/hidden/svg-badge.svg", "/widget/vault/svg-badge.svg",
	"/api/projects/demo/file/", "/api/components/demo/app/file/?format=zip:csv", "/api/translations/demo/app/cs/file/?format=csv&q=Hello",
	"/api/languages/tlh/", "/api/languages/tlh/statistics/", "/api/languages/cs/statistics/history/", "/api/projects/demo/statistics/history/",
	"/api/changes/?ordering=-id", "/api/changes/?page=last", "/api/changes/?page_size=1", "/api/changes/?user=ann", "/api/changes/?user=mallory", "/api/users/?username=a",
	"/api/projects/vault/", "/api/components/vault/lib/", "/api/components/demo/hidden/", "/api/translations/demo/other/cs/file/", "/api/users/mallory/",
	"/api/units/805306369/", "/api/units/805306369/suggestions/", "/api/changes/40/", "/projects/demo/-/tlh/", "/translate/demo/-/cs/",
}

var link = regexp.MustCompile(`http://l10n\.example\.org(/[^"<>\s\\]*)`)

// crawl asks for everything, and returns the answers by what was asked.
func (d *difference) crawl(h http.Handler) map[[2]string]string {
	d.TB.Helper()
	queue := slices.Clone(starts)
	for _, q := range []string{"Hello", "language:tlh", "component:hidden", "project:vault", "has:suggestion", "has:comment", "has:check", "check:inconsistent", "check:reused", "check:multiple_failures", "id:>0", "changed_by:mallory", "NOT zzz"} {
		queue = append(queue, "/api/units/?q="+q, "/api/translations/demo/app/cs/units/?q="+q)
	}
	answers := map[[2]string]string{}
	for len(queue) > 0 {
		path := strings.ReplaceAll(queue[0], " ", "+")
		queue = queue[1:]
		if _, done := answers[[2]string{path, ""}]; done || strings.Contains(path, "/stream/") {
			continue
		}
		for _, accept := range []string{"", "text/html", "application/x-ndjson"} {
			answer := asText(ask(h, path, "Accept", accept, "Authorization", "Token any"))
			answers[[2]string{path, accept}] = answer
			if accept != "" {
				continue
			}
			for _, m := range link.FindAllStringSubmatch(answer, -1) {
				queue = append(queue, m[1])
			}
		}
	}
	return answers
}

// compare asks again, twice: the second answers are from the cache.
func (d *difference) compare(what string, before map[[2]string]string, h http.Handler) {
	d.TB.Helper()
	for range 2 {
		for _, key := range slices.SortedFunc(maps.Keys(before), func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) }) {
			got := asText(ask(h, key[0], "Accept", key[1], "Authorization", "Token any"))
			if diff := cmp.Diff(before[key], got); diff != "" {
				d.TB.Errorf("%s: %s as %q differs (-before +after):\n%.2000s", what, key[0], key[1], diff)
			}
		}
	}
}

func ask(h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://l10n.example.org"+path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		if header[i+1] != "" {
			r.Header.Set(header[i], header[i+1])
		}
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec
}

// asText is an answer with its status and header.
func asText(rec *httptest.ResponseRecorder) string {
	var b strings.Builder
	fmt.Fprintln(&b, rec.Code)
	for _, name := range slices.Sorted(maps.Keys(rec.Header())) {
		fmt.Fprintln(&b, name, rec.Header()[name])
	}
	b.WriteString(rec.Body.String())
	return b.String()
}
