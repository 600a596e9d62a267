package api_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	compare "github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// freshWorld has components of one repository and of several, with glossaries,
// suggestions, checks across components and private ones. Everything of it
// changes.
type freshWorld struct {
	*catalogtest.Store
	rng      *rand.Rand
	repos    []*testrepos.Repo
	texts    []map[string][]freshEntry // by repository, of its files by path
	projects []catalog.Project
	specs    []store.ComponentSpec
	token    string
	when     func() time.Time // of commits; nil: a minute after the one before
}

type freshEntry struct{ flags, id, text string }

func newFreshWorld(t *testing.T, seed uint64) *freshWorld {
	t.Helper()
	w := &freshWorld{Store: catalogtest.Open(t), rng: rand.New(rand.NewPCG(seed, 0))}
	for _, files := range [][]string{
		{"po/cs.po", "po/de.po", "docs/cs.po", "docs/de.po", "terms/cs.po"}, {"po/cs.po", "po/de.po"}, {"po/cs.po", "hid/cs.po"},
	} {
		w.repos = append(w.repos, testrepos.Empty(t))
		w.texts = append(w.texts, map[string][]freshEntry{})
		for _, path := range files {
			for range 4 {
				w.addEntry(len(w.repos)-1, path)
			}
		}
		w.push(len(w.repos)-1, "Ann <ann@example.org>", files...)
	}
	spec := func(project, slug string, repo int, mask string, access catalog.Access) store.ComponentSpec {
		return differenceSpec(project, slug, w.repos[repo], mask, access)
	}
	terms := spec("demo", "terms", 0, "terms/*.po", "")
	terms.Settings.IsGlossary = true
	w.projects = []catalog.Project{
		{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo"}}, {Slug: "vault", Settings: catalog.ProjectSettings{Name: "Vault"}},
	}
	w.specs = []store.ComponentSpec{
		terms, spec("demo", "app", 0, "po/*.po", ""), spec("demo", "docs", 0, "docs/*.po", ""), spec("demo", "other", 1, "po/*.po", ""),
		spec("vault", "lib", 2, "po/*.po", ""), spec("vault", "hidden", 2, "hid/*.po", catalog.AccessPrivate),
	}
	for i := range w.specs {
		w.specs[i].Settings.CheckFlags = "check-glossary"
	}
	w.configure()
	w.pull()
	token, err := w.DB.Access().CreateToken(t.Context(), catalog.Token{Name: "t", Scope: catalog.ScopeRead, Created: differenceNow()})
	if err != nil {
		t.Fatal(err)
	}
	w.token = token
	return w
}

func (w *freshWorld) pick(n int) int { return w.rng.IntN(n) }

func (w *freshWorld) configure() {
	w.TB.Helper()
	if err := w.DB.Configure(w.TB.Context(), w.projects, w.specs, nil); err != nil {
		w.TB.Fatal(err)
	}
}

func (w *freshWorld) pull() { catalogtest.PullAll(w.Store, differenceNow, w.specs) }

// addEntry adds a string to a file. Few different strings and texts make files
// alike, which checks report.
func (w *freshWorld) addEntry(repo int, path string) {
	id := fmt.Sprintf("Word%d and Word%d.", w.pick(3), w.pick(6))
	if strings.HasPrefix(path, "terms/") {
		id = fmt.Sprintf("Word%d", w.pick(12))
	}
	list := w.texts[repo][path]
	if !slices.ContainsFunc(list, func(e freshEntry) bool { return e.id == id }) {
		w.texts[repo][path] = append(list, freshEntry{id: id, text: cmp.Or(w.text(), "Heslo")})
	}
}

func (w *freshWorld) text() string {
	return []string{"Slovo.", "Slovo", "Jiné slovo", "Wort.", ""}[w.pick(5)]
}

func (w *freshWorld) file(repo int, path string) string {
	text := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
	for i, e := range w.texts[repo][path] {
		text += fmt.Sprintf("\n# remark %d\n%smsgid %q\nmsgstr %q\n", i, e.flags, e.id, e.text)
	}
	return text
}

func (w *freshWorld) push(repo int, author string, paths ...string) {
	files := map[string]string{}
	for _, path := range paths {
		files[path] = w.file(repo, path)
	}
	c := testrepos.Change{Author: author, Files: files}
	if w.when != nil {
		c.When = w.when()
	}
	w.repos[repo].Commit(w.TB, c)
}

// change makes one random change and pulls, unless it is one of settings. It
// returns what it did.
func (w *freshWorld) change(n int) string {
	repo := max(0, w.pick(len(w.repos)+2)-2) // the first has more
	paths := slices.Sorted(maps.Keys(w.texts[repo]))
	path := paths[w.pick(len(paths))]
	author := fmt.Sprintf("Author %d <a%[1]d@example.org>", w.pick(4))
	entries := w.texts[repo][path]
	what := fmt.Sprintf("%d: repository %d, %s, ", n, repo, path)
	switch kind := w.pick(15); {
	case kind < 4 && len(entries) > 0:
		what += "another translation"
		e := &entries[w.pick(len(entries))]
		e.text, e.flags = w.text(), []string{"", "#, fuzzy\n", "#, read-only\n"}[w.pick(3)]
	case kind < 6:
		what += "another string"
		w.addEntry(repo, path)
	case kind == 6 && len(entries) > 0:
		what += "a string less"
		w.texts[repo][path] = slices.Delete(entries, 0, 1)
	case kind == 7:
		what += "another language"
		path = path[:strings.IndexByte(path, '/')] + "/fr.po"
		w.addEntry(repo, path)
	case kind == 8 && strings.HasSuffix(path, "fr.po"):
		delete(w.texts[repo], path)
		w.repos[repo].Commit(w.TB, testrepos.Change{Author: author, Delete: []string{path}})
		w.pull()
		return what + "removed"
	case kind == 9:
		w.repos[repo].Commit(w.TB, testrepos.Change{Author: author, Files: map[string]string{"README": what}})
		w.pull()
		return what + "nothing that is shown"
	case kind == 10:
		author = fmt.Sprintf("Author %d <a%[1]d@example.org>", 4+w.pick(8)) // some are no users yet
		w.repos[repo].Commit(w.TB, testrepos.Change{Author: author, Branch: "l10n/x", Parents: []string{"main"}, Force: true, Files: map[string]string{path: strings.ReplaceAll(w.file(repo, path), "Slovo", "Slůvko")}})
		w.pull()
		return what + "a suggestion"
	case kind == 11:
		return fmt.Sprint(n, ": ", w.settings(n))
	case kind == 12:
		if err := w.DB.SetBots(w.TB.Context(), []string{fmt.Sprintf("a%d@example.org", w.pick(4))}); err != nil {
			w.TB.Fatal(err)
		}
		return what + "another program"
	case kind == 13:
		w.problem(fmt.Sprint("broken ", n))
		return what + "a failed pull"
	case kind == 14:
		what += "by somebody else"
		author = fmt.Sprintf("Author %d <a%[1]d@example.org>", 4+w.pick(8))
		w.addEntry(repo, path)
	}
	w.push(repo, author, path)
	w.pull()
	return what
}

// problem stores that the pull of a component failed.
func (w *freshWorld) problem(text string) {
	var ids []int64
	w.Read(func(ctx context.Context, snap *store.Snapshot) error {
		rows, err := snap.Components(ctx, "")
		ids = append(ids, rows[w.pick(len(rows))].ID)
		return err
	})
	if _, err := w.DB.SetPullProblem(w.TB.Context(), ids, catalog.Failure{Kind: catalog.FailureOther, Words: text}); err != nil {
		w.TB.Fatal(err)
	}
}

// settings changes the configuration, without a pull, and returns what.
func (w *freshWorld) settings(n int) string {
	one := &w.specs[w.pick(len(w.specs))]
	switch w.pick(4) {
	case 0:
		one.Settings.Name = fmt.Sprint("Name ", n)
	case 1:
		w.projects[w.pick(2)].Settings.Name = fmt.Sprint("Project ", n)
	case 2:
		one.Settings.Access = []catalog.Access{catalog.AccessPrivate, catalog.AccessPublic}[w.pick(2)]
	case 3:
		all := w.specs
		w.specs = slices.Delete(slices.Clone(all), 3, 4)
		w.configure()
		w.specs = all
		return "a component less"
	}
	w.configure()
	return "other settings"
}

// targets are paths of every shape, a few of each.
func (w *freshWorld) targets(h http.Handler) []string {
	queue := slices.Clone(starts)
	for _, path := range []string{"demo/app/cs", "demo/docs/de", "vault/lib/cs", "demo/terms/cs"} {
		below := "/api/translations/" + path
		component := path[:strings.LastIndexByte(path, '/')]
		queue = append(queue, below+"/units/?q=has:check", below+"/units/?q=has:suggestion", below+"/units/?q=changed_by:author-1", below+"/checks/", below+"/file/", below+"/file/?format=csv",
			below+"/units/?format=csv", below+"/repository/", below+"/statistics/history/", below+"/changes/?user=author-2", below+"/changes/?ordering=-id",
			"/exports/rss/"+path+"/", "/widget/"+path+"/svg-badge.svg", "/widget/"+component+"/svg-badge.svg", "/exports/atom/"+component+"/",
			"/api/components/"+component+"/file/", "/api/components/"+component+"/repository/", "/api/components/"+component+"/changes/?action=59", "/api/components/"+component+"/statistics/history/")
	}
	for _, project := range []string{"demo", "vault"} {
		queue = append(queue, "/api/projects/"+project+"/changes/?user=ann", "/widget/"+project+"/multi-auto.svg", "/exports/rss/"+project+"/", "/exports/stats/"+project+"/", "/api/units/?q=project:"+project)
	}
	number := regexp.MustCompile(`\d+`)
	shapes, seen := map[string]int{}, map[string]bool{}
	var all []string
	for len(queue) > 0 {
		path := strings.ReplaceAll(queue[0], " ", "+")
		queue = queue[1:]
		shape := number.ReplaceAllString(path, "N")
		if seen[path] || shapes[shape] == 3 || strings.Contains(path, "/stream/") || strings.Contains(path, "/tasks/") {
			continue
		}
		seen[path] = true
		shapes[shape]++
		all = append(all, path)
		for _, m := range link.FindAllStringSubmatch(ask(h, path, "Authorization", "Token "+w.token).Body.String(), -1) {
			queue = append(queue, m[1])
		}
	}
	return all
}

// TestKeptAnswersAreFresh changes repositories and settings at random, and then
// asks for everything. A server with a cache must answer what one without a
// cache answers: bytes, ETag, all headers. So what an answer is read from is
// recorded (store.Basis) without an omission.
func TestKeptAnswersAreFresh(t *testing.T) {
	t.Parallel()
	steps, every := testsize.Of(8, 12, 64), testsize.Of(2, 1, 1)
	w := newFreshWorld(t, 1)
	kept := api.New(api.Options{DB: w.DB, Languages: w.Languages, Now: differenceNow, CacheBytes: 64 << 20, TempDir: t.TempDir()})
	bare := api.New(api.Options{DB: w.DB, Languages: w.Languages, Now: differenceNow, TempDir: t.TempDir()})
	hits := cacheHits(t, kept)
	var targets []string
	asked := 0.0
	for n := range steps {
		what := "the start"
		if n > 0 {
			what = w.change(n)
		}
		if n%8 == 0 {
			targets = w.targets(bare)
		}
		for i := range len(targets) / every {
			target := targets[every*i]
			for _, header := range [][]string{{}, {"Authorization", "Token " + w.token}, {"Accept", "text/html"}} {
				if len(header) > 0 && (i+len(header[0]))%4 > 0 {
					continue
				}
				asked++
				want, got := asText(ask(bare, target, header...)), asText(ask(kept, target, header...))
				if diff := compare.Diff(want, got); diff != "" {
					t.Fatalf("%s: %s %q is kept and has changed (-fresh +kept):\n%.2000s", what, target, header, diff)
				}
			}
		}
	}
	t.Logf("%d targets; %.0f of %.0f answers from the cache", len(targets), testutil.ToFloat64(hits), asked)
	if testutil.ToFloat64(hits) < asked/5 || len(targets) < 200 {
		t.Errorf("%v of %v answers to %d targets were from the cache", testutil.ToFloat64(hits), asked, len(targets))
	}
}

// cacheHits counts the answers from the cache of a server.
func cacheHits(t *testing.T, s *api.Server) prometheus.Counter {
	t.Helper()
	for _, m := range s.Metrics() {
		if c, ok := m.(prometheus.Counter); ok && strings.Contains(c.Desc().String(), "repoglot_api_cache_hits_total") {
			return c
		}
	}
	t.Fatal("answers from the cache are not counted")
	return nil
}

// TestKeptAcrossComponents has what one component shows of others: the terms of a
// glossary beside a check that failed before, too, whether or not they are checked,
// and users who are known from other components.
func TestKeptAcrossComponents(t *testing.T) {
	t.Parallel()
	w := newFreshWorld(t, 2)
	kept := api.New(api.Options{DB: w.DB, Languages: w.Languages, Now: differenceNow, CacheBytes: 64 << 20, TempDir: t.TempDir()})
	bare := api.New(api.Options{DB: w.DB, Languages: w.Languages, Now: differenceNow, TempDir: t.TempDir()})
	const ann = "Ann <ann@example.org>"
	terms := func(list ...freshEntry) {
		w.texts[0]["terms/cs.po"] = list
		w.push(0, ann, "terms/cs.po")
		w.pull()
	}
	w.texts[0]["po/cs.po"] = []freshEntry{{id: "Word1 and Word2.", text: "Slovo."}}
	w.push(0, ann, "po/cs.po")
	w.texts[2]["po/cs.po"] = []freshEntry{{id: "Alone.", text: "Slovo."}}
	w.push(2, ann, "po/cs.po")
	w.repos[2].Commit(t, testrepos.Change{Author: "Late <late@example.org>", Branch: "l10n/x", Parents: []string{"main"}, Files: map[string]string{"po/cs.po": strings.ReplaceAll(w.file(2, "po/cs.po"), "Slovo", "Slůvko")}})
	terms(freshEntry{id: "Word2", text: "Druhé"})
	const checks = "/api/translations/demo/app/cs/checks/"
	found := ask(bare, "/api/units/?q=project:vault+AND+has:suggestion").Body.String()
	suggestions := "/api/units/" + regexp.MustCompile(`"id":(\d+)`).FindStringSubmatch(found)[1] + "/suggestions/"
	for _, tc := range []struct {
		name, page string
		change     func()
	}{
		{"another term", checks, func() { terms(freshEntry{id: "Word2", text: "Druhé"}, freshEntry{id: "Word1", text: "První"}) }},
		{"other settings, terms are not checked", checks, func() {
			w.projects[0].Settings.Name = "Demonstration"
			w.configure()
		}},
		{"terms are checked again", checks, w.pull},
		{"a user", suggestions, func() {
			w.addEntry(1, "po/cs.po")
			w.texts[1]["po/cs.po"][0].text = "Pozdě."
			w.push(1, "Late <late@example.org>", "po/cs.po")
			w.pull()
		}},
	} {
		before := asText(ask(kept, tc.page))
		tc.change()
		want, got := asText(ask(bare, tc.page)), asText(ask(kept, tc.page))
		if want == before {
			t.Errorf("%s: %s has not changed: %s", tc.name, tc.page, want)
		}
		if diff := compare.Diff(want, got); diff != "" {
			t.Errorf("%s: %s (-fresh +kept):\n%s", tc.name, tc.page, diff)
		}
	}
}
