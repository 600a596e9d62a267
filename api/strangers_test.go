package api

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// strangers are components, two of them in one project.
var strangers = []string{"one/app", "one/lib", "two/far", "two/near"}

func strangersRepo(component string) string { return "https://example.org/" + component + ".git" }

// strangersWorld has the components with three units each, in repositories of
// their own.
func strangersWorld(tb testing.TB) *writer {
	tb.Helper()
	w := newWriter(tb)
	var specs []store.ComponentSpec
	for _, component := range strangers {
		project, slug, _ := strings.Cut(component, "/")
		specs = append(specs, store.ComponentSpec{Project: project, Slug: slug, Settings: componentDefaults(slug), Repo: strangersRepo(component), Branch: "main"})
	}
	w.Configure([]catalog.Project{
		{Slug: "one", Settings: projectDefaults("One")}, {Slug: "two", Settings: projectDefaults("Two")},
	}, specs)
	for _, component := range strangers {
		units := numberedUnits(3)
		w.Import(component, strangersRepo(component), "Jane", sourceFile(units), czechFile(units))
	}
	return w
}

// pagesOf are pages about a component alone.
func pagesOf(w *writer, component string) []string {
	translation, of, unit := "/api/translations/"+component+"/cs/", "/api/components/"+component+"/", fmt.Sprint("/api/units/", w.IDs[component]*catalog.UnitsPerComponent+1, "/")
	return []string{
		of, of + "translations/", of + "statistics/", of + "changes/", of + "changes/?ordering=-id", of + "changes/?action=31", of + "repository/", of + "lock/", of + "statistics/history/",
		translation, translation + "units/", translation + "units/?page_size=2&page=2", translation + "units/?q=state:translated", translation + "units/?format=csv", translation + "changes/",
		translation + "changes/?user=jane", translation + "statistics/", translation + "statistics/history/", translation + "checks/", translation + "repository/",
		translation + "file/?format=csv", unit, unit + "translations/", unit + "checks/", unit + "comments/",
		"/exports/rss/" + component + "/", "/exports/atom/" + component + "/cs/", "/widget/" + component + "/svg-badge.svg", "/widget/" + component + "/cs/svg-badge.svg",
	}
}

// pagesOfProject are pages about a project alone.
func pagesOfProject(slug string) []string {
	of := "/api/projects/" + slug + "/"
	return []string{of, of + "components/", of + "languages/", of + "statistics/", of + "statistics/history/", of + "changes/", of + "repository/", "/widget/" + slug + "/multi-auto.svg", "/exports/rss/" + slug + "/"}
}

// TestPullKeepsStrangers: after a pull the pages of other components and other
// projects are still answered from the cache, without a statement, and with
// their ETags; those of the component itself and of lists that span it are not.
func TestPullKeepsStrangers(t *testing.T) {
	t.Parallel()
	w := strangersWorld(t)
	s := serve(w, Options{CacheBytes: 4 << 20})
	statements := statementCounter(t, w)
	strange := append(pagesOf(w, "one/lib"), append(pagesOf(w, "two/far"), pagesOfProject("two")...)...)
	concerned := append(pagesOfProject("one"), "/api/translations/one/app/cs/units/", "/api/components/one/app/", "/api/projects/", "/api/components/", "/api/translations/",
		"/api/units/", "/api/changes/", "/api/statistics/", "/api/languages/", "/api/users/", "/api/search/?q=a", "/api/units/?q=state:translated", "/exports/rss/")
	tags := map[string]string{}
	for _, target := range append(concerned, strange...) {
		rec := ask(s, http.MethodGet, target)
		if tags[target] = rec.Header().Get("ETag"); rec.Code != http.StatusOK || tags[target] == "" {
			t.Fatalf("%s: %d %s", target, rec.Code, rec.Body)
		}
	}
	addUnits(w, "one/app", strangersRepo("one/app"), "Newcomer", fmt.Sprintf("%040x", 7), 1)
	for _, target := range strange {
		before := testutil.ToFloat64(statements)
		if rec := ask(s, http.MethodGet, target, "If-None-Match", tags[target]); rec.Code != http.StatusNotModified {
			t.Errorf("%s: status %d", target, rec.Code)
		}
		if n := testutil.ToFloat64(statements) - before; n > 0 {
			t.Errorf("%s: %v statements after a pull of another component", target, n)
		}
	}
	for _, target := range concerned {
		before := testutil.ToFloat64(statements)
		ask(s, http.MethodGet, target)
		if testutil.ToFloat64(statements) == before {
			t.Errorf("%s: no statement after a pull", target)
		}
	}
	if n := testutil.ToFloat64(s.cache.changed); n != float64(len(concerned)) {
		t.Errorf("%v answers are counted as changed, want %d", n, len(concerned))
	}
	for _, page := range append(pagesOf(w, "one/app"), "/api/components/one/lib/") { // other settings change everything
		ask(s, http.MethodGet, page)
	}
	if err := w.DB.SetBots(t.Context(), []string{"Jane"}); err != nil {
		t.Fatal(err)
	}
	before := testutil.ToFloat64(statements)
	if ask(s, http.MethodGet, "/api/components/one/lib/"); testutil.ToFloat64(statements) == before {
		t.Error("no statement after a change of settings")
	}
}

// TestUnannouncedSnapshot: an answer may show a step whose commit is not
// published yet. Nobody who saw it gets an older answer from the cache then.
// Here the step is another process's.
func TestUnannouncedSnapshot(t *testing.T) {
	t.Parallel()
	w := strangersWorld(t)
	s := serve(w, Options{CacheBytes: 4 << 20})
	const list, other = "/api/translations/one/app/cs/units/", "/api/components/one/app/changes/"
	for _, lines := range []bool{false, true} {
		old := ask(s, http.MethodGet, list).Body.String()
		theirs, err := store.Open(t.Context(), w.Database(), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ours := w.DB
		w.DB = theirs
		addUnits(w, "one/app", strangersRepo("one/app"), "Jane", fmt.Sprintf("%040x", 7+len(old)), 1)
		w.DB = ours
		if err := theirs.Close(); err != nil {
			t.Fatal(err)
		}
		if ask(s, http.MethodGet, list).Body.String() != old {
			t.Fatal("a step of another process is known before anything of it was read")
		}
		if lines {
			ask(s, http.MethodGet, other, "Accept", "application/x-ndjson")
		} else {
			ask(s, http.MethodGet, other)
		}
		if ask(s, http.MethodGet, list).Body.String() == old {
			t.Errorf("lines %v: an answer from before the step, after one that shows it", lines)
		}
	}
}

// countOf is the number of entries of a list, or of strings of statistics.
func countOf(t *testing.T, s *Server, target string) int {
	rec := ask(s, http.MethodGet, target)
	var o struct{ Count, Total, Units int }
	if err := json.Unmarshal(rec.Body.Bytes(), &o); err != nil || rec.Code != http.StatusOK {
		t.Errorf("%s: %d %s", target, rec.Code, rec.Body)
	}
	return o.Count + o.Total + o.Units
}

// TestMonotonic: while components are pulled, clients ask for pages of
// components, of projects and of the server, which span them, in any order. No
// page is older than what a client saw before on any other page. Every step adds
// a string, an entry and a user.
func TestMonotonic(t *testing.T) {
	t.Parallel()
	w := strangersWorld(t)
	s := bare(w, Options{CacheBytes: 4 << 20})
	at := func(target, page string) string { return fmt.Sprintf(page, target) }
	sums := []string{"/api/changes/?page_size=1", "/api/units/?page_size=1", "/api/statistics/", "/api/languages/cs/statistics/", "/api/users/?page_size=1", "/api/units/?q=NOT+zzz&page_size=1"}
	ofProject := []string{"/api/projects/%s/changes/?page_size=1", "/api/projects/%s/statistics/"}
	ofComponent := []string{"/api/components/%s/changes/?page_size=1", "/api/translations/%s/cs/units/?page_size=1", "/api/translations/%s/cs/statistics/", "/api/translations/%s/cs/changes/?page_size=1"}
	base := map[string]int{} // counts before the first step
	for _, sum := range sums {
		base[sum] = countOf(t, s, sum)
	}
	for _, project := range []string{"one", "two"} {
		for _, page := range ofProject {
			base[at(project, page)] = countOf(t, s, at(project, page))
		}
	}
	for _, component := range strangers {
		for _, page := range ofComponent {
			base[at(component, page)] = countOf(t, s, at(component, page))
		}
	}
	const steps = 60
	ctx, done := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for n := range 4 {
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			r := &monotonicReader{t: t, s: s, base: base, seen: map[string]int{}}
			for !t.Failed() && (ctx.Err() == nil || r.server() < steps) {
				switch rng.IntN(4) {
				case 0:
					r.see("", sums[rng.IntN(len(sums))])
				case 1:
					project := []string{"one", "two"}[rng.IntN(2)]
					r.see(project, at(project, ofProject[rng.IntN(len(ofProject))]))
				default:
					component := strangers[rng.IntN(len(strangers))]
					r.see(component, at(component, ofComponent[rng.IntN(len(ofComponent))]))
				}
				if rng.IntN(8) == 0 {
					r.sweep(func(component string) string { return at(component, ofComponent[rng.IntN(len(ofComponent))]) })
				}
			}
		})
	}
	for n := range steps {
		component := strangers[n*7%len(strangers)]
		addUnits(w, component, strangersRepo(component), fmt.Sprint("User ", n), fmt.Sprintf("%040x", n+7), 1)
	}
	done()
	readers.Wait()
	if hits := testutil.ToFloat64(s.cache.hits); hits == 0 {
		t.Error("no answer was from the cache")
	}
}

// monotonicReader is a client that remembers how many steps it has seen: of a
// component, of a project, and of the server as "".
type monotonicReader struct {
	t    *testing.T
	s    *Server
	base map[string]int
	seen map[string]int
}

func (r *monotonicReader) server() int {
	r.see("", "/api/changes/?page_size=1")
	return r.seen[""]
}

// see asks for a page and compares it with everything seen before.
func (r *monotonicReader) see(of, page string) {
	n := countOf(r.t, r.s, page) - r.base[page]
	atLeast := r.seen[of]
	if !strings.Contains(of, "/") {
		sum := 0
		for _, component := range strangers {
			if strings.HasPrefix(component, of) {
				sum += r.seen[component]
			}
		}
		atLeast = max(atLeast, sum)
	}
	if n < atLeast {
		r.t.Errorf("%s: %d steps, after %d were seen (%v)", page, n, atLeast, r.seen)
	}
	r.seen[of] = max(n, atLeast)
}

// sweep asks for a page of every component: together they have at least what a
// page of the server had.
func (r *monotonicReader) sweep(page func(component string) string) {
	sum := 0
	for _, component := range strangers {
		r.see(component, page(component))
		sum += r.seen[component]
	}
	if sum < r.seen[""] {
		r.t.Errorf("the components have %d steps, the server had %d", sum, r.seen[""])
	}
}
