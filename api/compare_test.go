package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/diff"
)

// twoCommits is a repository of the commits of demoWorld.
type twoCommits struct {
	asked atomic.Int64
	// before, if set, is called first.
	before func(ctx context.Context) error
}

func (*twoCommits) Subjects(context.Context, *store.ComponentRow, []string, map[string]string) error {
	return nil
}

func (*twoCommits) Code(context.Context, *store.ComponentRow, []string) (text string, err error) {
	return "", nil
}

func (c *twoCommits) Compare(ctx context.Context, row *store.ComponentRow, from, to string) (*diff.Report, error) {
	c.asked.Add(1)
	if c.before != nil {
		if err := c.before(ctx); err != nil {
			return nil, err
		}
	}
	text := map[string]string{head1: "One %d", head2: "Two %d"}
	if text[from] == "" || text[to] == "" {
		return nil, catalog.ErrNotFound
	}
	file := func(id string) []byte {
		return fmt.Appendf(nil, "msgid \"\"\nmsgstr \"Language: cs\\nLast-Translator: %[1]s\\n\"\n\n#. Note %[1]s\n#, c-format\nmsgctxt \"c\"\nmsgid \"%[1]s of them\"\nmsgid_plural \"%[1]s of those\"\nmsgstr[0] \"%[1]s\"\n\nmsgid \"Hello\"\nmsgstr \"%[1]s\"\n\n# %[1]s\nmsgid \"%[1]s and something else altogether\"\nmsgstr \"\"\n", text[id])
	}
	name := "po/" + row.Settings.Name + "/cs.po"
	report := diff.New([]diff.File{
		diff.Files(name, file(from), file(to), diff.Options{Language: "cs", Group: "po/*.po", Checks: func(f *poparse.File, of []*poparse.Entry) map[*poparse.Entry]map[string]string {
			failing := map[*poparse.Entry]map[string]string{}
			for _, e := range of {
				if e.ID == "Hello" && e.Str[0] == text[to] {
					failing[e] = map[string]string{"end_stop": "Mismatched <stop>"}
				}
			}
			return failing
		}}),
		diff.Files("po/de.po", nil, file(to), diff.Options{Language: "de"}),
		diff.Files("po/fr.po", file(from), []byte("msgid"), diff.Options{Language: "fr"}),
		diff.Files("po/app.pot", file(from), nil, diff.Options{Template: true}),
	}, 0)
	report.Base, report.Head = from, to
	return &report, nil
}

const compared = "/api/components/demo/app/compare/" + head1 + "..." + head2 + "/"

// TestComparison: an answer by ids is made once, and clients may keep it; that of a private
// component is kept by none.
func TestComparison(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	repo := &twoCommits{}
	s := serve(w, Options{Commits: repo, CacheBytes: 1 << 20})
	key := "Token " + w.Token("t", catalog.ScopeRead)
	page := strings.Replace(compared, "/api/components/", "/projects/", 1)
	hidden := func(path string) string { return strings.Replace(path, "/app/", "/hidden/", 1) }
	for _, c := range []struct{ path, authorization, want string }{
		{compared, "", "public, max-age=86400, immutable"},
		{compared, key, "private, max-age=86400, immutable"},
		{strings.TrimSuffix(compared, "/"), "", "public, max-age=86400, immutable"},
		{hidden(compared), key, "private, no-store"},
		{page, "", "no-cache"},
		{page, key, "private, no-cache"},
		{hidden(page), key, "private, no-store"},
	} {
		before := repo.asked.Load()
		for range 3 {
			rec := call(t, s, http.MethodGet, c.path, "Authorization", c.authorization)
			if rec.Code != 200 || rec.Header().Get("Cache-Control") != c.want || rec.Header().Get("Etag") == "" {
				t.Errorf("%s: %d %v %.100s", c.path, rec.Code, rec.Header(), rec.Body)
			}
			head := call(t, s, http.MethodHead, c.path, "Authorization", c.authorization)
			same := call(t, s, http.MethodGet, c.path, "Authorization", c.authorization, "If-None-Match", rec.Header().Get("Etag"))
			if head.Code != 200 || head.Body.Len() > 0 || same.Code != 304 || same.Header().Get("Cache-Control") != c.want {
				t.Errorf("%s: HEAD %d, again %d %v", c.path, head.Code, same.Code, same.Header())
			}
		}
		if n := repo.asked.Load() - before; n != 1 {
			t.Errorf("%s was compared %d times", c.path, n)
		}
	}
	body := decode[map[string]any](t, get(t, s, compared))
	if body["base"] != head1 || body["head"] != head2 || body["counts"].(map[string]any)["reworded"] != 2.0 {
		t.Errorf("%v", body)
	}
	if checks := body["files"].([]any)[0].(map[string]any)["checks"]; !strings.Contains(fmt.Sprint(checks), "Mismatched <stop>") {
		t.Errorf("%v", checks)
	}
	if n := strings.Count(call(t, s, http.MethodGet, page).Body.String(), "Mismatched &lt;stop&gt;"); n != 1 {
		t.Errorf("the page has the check %d times", n)
	}
	for _, path := range []string{hidden(compared), hidden(page)} {
		if rec := call(t, s, http.MethodGet, path); rec.Code != 404 {
			t.Errorf("%s without a token: %d", path, rec.Code)
		}
	}
	browser := call(t, s, http.MethodGet, compared, "Accept", catalogtest.Browser).Body.String()
	if !strings.Contains(browser, `href="`+page+`"`) {
		t.Errorf("the answer for a browser leads to no page: %.2000s", browser)
	}
	// A rewritten branch takes back what it is made of, also if no string changes.
	before := repo.asked.Load()
	w.Step(w.IDs["demo/app"], repoApp, "main", strings.Repeat("3", 40), func(context.Context, *store.StepTx) error { return nil })
	get(t, s, compared)
	if repo.asked.Load() == before {
		t.Error("an answer is kept although the head moved")
	}
}

// TestComparisonNames: only the branch and full ids name commits; the address with lower-case
// ids is the only one that is answered, and all others lead there or are not found, with the
// same bytes and headers, whether a commit is known or not.
func TestComparisonNames(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	settings := componentDefaults("App")
	w.Configure([]catalog.Project{{Slug: "demo", Settings: projectDefaults("Demo")}}, []store.ComponentSpec{
		{Project: "demo", Slug: "app", Settings: settings, Repo: repoApp, Branch: "feature/x"},
	})
	w.ImportBranch("demo/app", repoApp, "feature/x", "Jane", sourceFile(numberedUnits(2)))
	repo := &twoCommits{}
	s := serve(w, Options{Commits: repo})
	unknown, capital := strings.Repeat("ab", 20), strings.ToUpper(strings.Repeat("ab", 20))
	ids := map[string]string{ // what an escaped name stands for
		"feature%2Fx": head1, "feature%2fx": head1, head1: head1, head2: head2,
		unknown: unknown, capital: unknown, "f%65ature%2Fx": head1,
	}
	never := []string{"main", "HEAD", "feature", "feature%2FX", "feature%2Fx%5E", "refs%2Fheads%2Ffeature%2Fx", "", "%2E", "1111111", head1[1:], head1 + "1", "%00", "%ff", "x%0d%0ay:z"}
	names := append([]string{}, never...)
	for name := range ids {
		names = append(names, name)
	}
	missing := call(t, s, http.MethodGet, "/api/components/demo/app/compare/"+unknown+"..."+unknown+"/")
	if missing.Code != 404 {
		t.Fatal(missing.Code)
	}
	for _, path := range []string{"/api/components/demo/app/compare/feature%2Fx...feature%2Fx", "/projects/demo/app/compare/feature%2Fx...feature%2Fx"} {
		want := path[:strings.Index(path, "feature")] + head1 + "..." + head1 + "/"
		if _, rec := send(s, http.MethodGet, path); rec.Header().Get("Location") != want { // without the last slash
			t.Errorf("%s leads to %s", path, rec.Header().Get("Location"))
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		from, to := rapid.SampledFrom(names).Draw(rt, "from"), rapid.SampledFrom(names).Draw(rt, "to")
		dots := rapid.SampledFrom([]string{"...", "...", "...", "..", "....", "%2E..", ""}).Draw(rt, "dots")
		prefix := rapid.SampledFrom([]string{"/api/components/", "/projects/"}).Draw(rt, "prefix") + "demo/app/compare/"
		query := rapid.SampledFrom([]string{"", "?format=json", "?x=a%20b"}).Draw(rt, "query")
		slash := rapid.SampledFrom([]string{"", "/"}).Draw(rt, "slash")
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, prefix+from+dots+to+slash+query, http.NoBody))
		old, cur := ids[from], ids[to]
		switch canonical := old + "..." + cur; {
		case old == "" || cur == "" || dots != "..." && dots != "%2E..":
			if rec.Code != 404 || strings.HasPrefix(prefix, "/api") && (rec.Body.String() != missing.Body.String() || fmt.Sprint(rec.Header()) != fmt.Sprint(missing.Header())) {
				rt.Fatalf("%d %v %s", rec.Code, rec.Header(), rec.Body)
			}
		case from != old || to != cur:
			if want := prefix + canonical + "/" + query; rec.Code != 307 || rec.Header().Get("Location") != want || rec.Header().Get("Cache-Control") != "no-store" {
				rt.Fatalf("%d %v, want %s", rec.Code, rec.Header(), want)
			}
		case old == unknown || cur == unknown:
			if rec.Code != 404 || strings.HasPrefix(prefix, "/api") && (rec.Body.String() != missing.Body.String() || fmt.Sprint(rec.Header()) != fmt.Sprint(missing.Header())) {
				rt.Fatalf("%d %v %s", rec.Code, rec.Header(), rec.Body)
			}
		default:
			if rec.Code != 200 {
				rt.Fatalf("%d %s", rec.Code, rec.Body)
			}
		}
	})
}

// TestComparisonTurns: a client compares one pair at a time, and the others wait; errors are
// told as they are and not kept.
func TestComparisonTurns(t *testing.T) {
	t.Parallel()
	began, goOn := make(chan struct{}, 4), make(chan struct{})
	repo := &twoCommits{before: func(ctx context.Context) error {
		began <- struct{}{}
		select {
		case <-goOn:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	s := serve(demoWorld(t), Options{Commits: repo, CacheBytes: 1 << 20})
	done := make(chan int, 2)
	ask := func(path string) {
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		done <- rec.Code
	}
	go ask(compared)
	<-began
	go ask(strings.Replace(compared, "/api/components/", "/projects/", 1))
	for s.shares.makers.Waiting() == 0 { // it has no other sign
		if len(began) > 0 {
			t.Fatal("one client compares two pairs at a time")
		}
	}
	get(t, s, "/api/components/demo/app/") // small answers go on
	close(goOn)
	if a, b := <-done, <-done; a != 200 || b != 200 {
		t.Error(a, b)
	}
	repo.before = func(context.Context) error { return &rest.Problem{Status: 400, Detail: "Too much."} }
	for range 2 {
		asked := repo.asked.Load()
		rec := call(t, s, http.MethodGet, compared+"?x=1")
		if rec.Code != 400 || oldForm(rec.Body.String()) != `{"detail":"Too much."}` || rec.Header().Get("Cache-Control") != "no-store" || repo.asked.Load() == asked {
			t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
		}
	}
}

// TestComparisonsBounded: however many ask, a client has one comparison made at a time and 32 wait,
// and all clients have as many as there are turns of long answers, or cores but one.
func TestComparisonsBounded(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	goOn := make(chan struct{})
	repo := &twoCommits{before: func(ctx context.Context) error {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		select {
		case <-goOn:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	s := serve(demoWorld(t), Options{Commits: repo})
	makers, cores := s.shares.makers, s.shares.cores
	ask := func(clients, each, beyond int, bound int64) {
		t.Helper()
		most.Store(0)
		goOn = make(chan struct{})
		codes := make(chan int, clients*each)
		for i := range clients * each {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s?x=%d", compared, i), http.NoBody)
			req.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", 1+i/each)
			go func() {
				rec := httptest.NewRecorder()
				s.ServeHTTP(rec, req)
				codes <- rec.Code
			}()
		}
		until(t, func() bool {
			return int(makers.Used())+makers.Waiting()+len(codes) == clients*each && now.Load() == bound
		})
		close(goOn)
		refused := 0
		for range clients * each {
			if code := <-codes; code == http.StatusTooManyRequests {
				refused++
			} else if code != http.StatusOK {
				t.Errorf("%d", code)
			}
		}
		if most.Load() != bound || refused != beyond {
			t.Errorf("%d of %d clients: %d at a time, %d refused; want %d, %d", each, clients, most.Load(), refused, bound, beyond)
		}
	}
	ask(1, 40, 40-1-32, 1)
	ask(10, 20, 0, min(makers.Total, cores.Total))
}
