package api_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/transfer"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// clientCopy is an answer that a client keeps.
type clientCopy struct {
	body, etag, modified, generation string
}

// copies are the answers that clients keep, by what was asked for, and the bytes that each
// state was shown with.
type copies struct {
	t      *testing.T
	tokens []string // of those who ask; "": nobody's
	kept   map[[2]string][]clientCopy
	shown  map[[3]string]string // by target, token and state
	asked  map[int]int          // by status
}

// TestConditionalRequests: whatever condition of an earlier state a client sends, a 304 means
// that the bytes are the same, a part is one of the same bytes, and an answer that names the
// same state has the same bytes. Changes, the dates of commits (equal, and older ones), and
// restored databases are drawn; downloads are in memory or in files.
func TestConditionalRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it asks every route in many states")
	}
	t.Parallel()
	const steps = 10
	for seed := range uint64(testsize.Of(1, 1, 6)) {
		w := newFreshWorld(t, 100+seed)
		at := differenceNow().AddDate(0, -1, 0)
		w.when = func() time.Time { // the same second again, an hour earlier, or later
			at = at.Add([]time.Duration{0, 0, -time.Hour, 2 * time.Hour}[w.pick(4)])
			return at
		}
		some, err := w.DB.Access().CreateToken(t.Context(), catalog.Token{Name: "some", Scope: catalog.ScopeRead, Projects: catalog.Names("vault"), Created: differenceNow()})
		gittest.Must(t, err)
		c := &copies{t: t, tokens: []string{"", w.token, some}, kept: map[[2]string][]clientCopy{}, shown: map[[3]string]string{}, asked: map[int]int{}}
		targets := w.everyRoute(oneOfShape(w.targets(w.server(w.DB))))
		servers := w.servers()
		look := func(what string) { c.look(what, targets, servers...) }
		look("the start")
		for n := range steps {
			if n != steps/2 {
				look(w.change(n + 1))
				continue
			}
			w.fork(n, func() { look("a state that is lost") })
			servers = w.servers()
			look("a restored database")
		}
		t.Logf("%d targets; answers by status: %v", len(targets), c.asked)
		if c.asked[304] == 0 || c.asked[206] == 0 || c.asked[412] == 0 {
			t.Errorf("the test shows nothing: %v", c.asked)
		}
	}
}

func (w *freshWorld) server(db *store.DB) *api.Server {
	return api.New(api.Options{DB: db, Languages: w.Languages, Now: differenceNow, CacheBytes: 64 << 20, TempDir: w.TB.TempDir()})
}

// servers are two servers of the database: one whose downloads are in memory, one whose
// downloads are in files.
func (w *freshWorld) servers() []http.Handler {
	spooled := w.server(w.DB)
	api.SpoolAll(spooled)
	return []http.Handler{w.server(w.DB), spooled}
}

// fork commits and pulls, puts back the database of before, and pulls another commit in its
// place, of the same date. Clients look at what is lost.
func (w *freshWorld) fork(n int, look func()) {
	w.TB.Helper()
	var saved bytes.Buffer
	_, err := transfer.Export(w.TB.Context(), w.Database(), &saved)
	gittest.Must(w.TB, err)
	head := w.repos[0].Head()
	commit := func(text string) {
		w.texts[0]["po/cs.po"] = []freshEntry{{id: "Word1 and Word1.", text: text}}
		w.repos[0].Commit(w.TB, testrepos.Change{Branch: "main", Parents: []string{head}, Force: true, When: w.when(), Files: map[string]string{"po/cs.po": w.file(0, "po/cs.po")}})
		w.pull()
	}
	date := w.when()
	w.when = func() time.Time { return date }
	commit(fmt.Sprint("lost ", n))
	look()
	restored := catalogtest.At(w.TB, w.TB.TempDir())
	_, err = transfer.Import(w.TB.Context(), &saved, restored.Database(), store.Options{})
	gittest.Must(w.TB, err)
	restored.Languages = w.Languages
	restored.Open()
	w.Store = restored
	commit(fmt.Sprint("kept ", n))
}

// everyRoute adds a target for each route of the router that none takes. It fails for a route
// with a parameter that it cannot fill.
func (w *freshWorld) everyRoute(targets []string) []string {
	w.TB.Helper()
	s := w.server(w.DB)
	taken := map[string]bool{}
	values := map[string]string{
		"project": "demo", "component": "app", "language": "cs", "code": "cs", "username": "ann", "widget": "svg-badge.svg", "check": "inconsistent", "chapter": "api", "picture": "project.png",
		"linked": "x", "slug": "x", "uuid": "x", "commits": "x...x", "provider": "x", "secret": "x", // of what no server has
	}
	for _, target := range targets {
		taken[api.RouteOf(s, target)] = true
		if m := regexp.MustCompile(`^(/api/\w+/)(\d+)/`).FindStringSubmatch(target); m != nil {
			values[m[1]] = m[2]
		}
	}
	parameter := regexp.MustCompile(`:\w+`)
	for _, path := range api.ReadRoutes(s) {
		if taken[path] || strings.HasSuffix(path, "/stream/") { // which has no end, and no state
			continue
		}
		targets = append(targets, parameter.ReplaceAllStringFunc(path, func(name string) string {
			value := values[name[1:]]
			if name == ":id" {
				value = cmp.Or(values[path[:strings.Index(path, ":")]], "1")
			}
			if value == "" {
				w.TB.Errorf("%s: no value for %s", path, name)
			}
			return value
		}))
		if got := api.RouteOf(s, targets[len(targets)-1]); got != path {
			w.TB.Errorf("%s takes the route %s, not %s", targets[len(targets)-1], got, path)
		}
	}
	return targets
}

// oneOfShape drops targets that differ from others by a number only.
func oneOfShape(targets []string) (few []string) {
	seen := map[string]bool{}
	for _, target := range targets {
		if shape := regexp.MustCompile(`\d+`).ReplaceAllString(target, "N"); !seen[shape] {
			seen[shape] = true
			few = append(few, target)
		}
	}
	return few
}

// look asks for everything as the clients do that have copies, compares, and keeps copies.
func (c *copies) look(what string, targets []string, servers ...http.Handler) {
	for i, target := range targets {
		token := c.tokens[i%len(c.tokens)]
		for j, s := range servers {
			if j > 0 && !strings.Contains(target, "/file/") {
				continue
			}
			key := [2]string{target, fmt.Sprint(j, token)}
			now := c.get(what, s, key, token)
			for _, old := range lastOf(c.kept[key], 3) {
				c.conditions(what, s, key, token, old, now)
			}
			c.kept[key] = append(c.kept[key], now)
		}
	}
}

func lastOf(all []clientCopy, n int) []clientCopy { return all[max(0, len(all)-n):] }

// get asks without a condition, twice, and as lines.
func (c *copies) get(what string, s http.Handler, key [2]string, token string) (now clientCopy) {
	for range 2 { // the second may be kept
		a := ask(s, key[0], "Authorization", authorization(token))
		c.asked[a.Code]++
		now = copyOf(a)
		c.label(what, key[0], token, a)
	}
	if strings.Contains(now.body, `"results":[`) && !strings.Contains(key[0], "format=") {
		c.label(what, key[0]+" as lines", token, ask(s, key[0], "Authorization", authorization(token), "Accept", "application/x-ndjson"))
	}
	return now
}

func authorization(token string) string {
	if token == "" {
		return ""
	}
	return "Token " + token
}

func copyOf(a *httptest.ResponseRecorder) clientCopy {
	h := a.Header()
	return clientCopy{fmt.Sprint(a.Code, a.Body.String()), h.Get("ETag"), h.Get("Last-Modified"), h.Get(generationHeader)}
}

// label compares an answer with others that name the same state.
func (c *copies) label(what, target, token string, a *httptest.ResponseRecorder) {
	c.t.Helper()
	key := [3]string{target, token, a.Header().Get(generationHeader)}
	body := fmt.Sprint(a.Code, a.Body.String())
	if before, ok := c.shown[key]; ok && before != body {
		c.t.Errorf("%s: %s is shown as of %s with other bytes:\n%.600s\nand\n%.600s", what, target, key[2], before, body)
	}
	c.shown[key] = body
}

// conditions sends every condition that the copy of an earlier answer allows.
func (c *copies) conditions(what string, s http.Handler, key [2]string, token string, old, now clientCopy) {
	c.t.Helper()
	try := func(header ...string) *httptest.ResponseRecorder {
		a := ask(s, key[0], append(header, "Authorization", authorization(token))...)
		c.asked[a.Code]++
		switch length := a.Header().Get("Content-Length"); {
		case a.Code == http.StatusNotModified && old.body != now.body:
			c.t.Errorf("%s: %s %q is 304, but the bytes are others:\n%.600s\nand\n%.600s", what, key[0], header, old.body, now.body)
		case a.Code != http.StatusNotModified && length != "" && length != fmt.Sprint(a.Body.Len()):
			c.t.Errorf("%s: %s %q: %d, Content-Length %s, %d bytes", what, key[0], header, a.Code, length, a.Body.Len())
		case a.Code == http.StatusOK && fmt.Sprint(a.Code, a.Body.String()) != now.body:
			c.t.Errorf("%s: %s %q has other bytes than without a condition", what, key[0], header)
		}
		return a
	}
	// part wants a part of the bytes of the copy, or all of the new ones.
	part := func(header ...string) {
		if a := try(append([]string{"Range", "bytes=1-"}, header...)...); a.Code == http.StatusPartialContent && old.body != "200"+now.body[3:4]+a.Body.String() {
			c.t.Errorf("%s: %s %q is a part of other bytes", what, key[0], header)
		}
	}
	if old.etag != "" {
		if a := try("If-None-Match", old.etag); a.Code != http.StatusNotModified && old.etag == now.etag {
			c.t.Errorf("%s: %s with its ETag: %d", what, key[0], a.Code)
		}
		if a := try("If-Match", old.etag); a.Code < 300 && old.body != now.body {
			c.t.Errorf("%s: %s If-Match of other bytes: %d", what, key[0], a.Code)
		}
		part("If-Range", old.etag)
	}
	if at, err := http.ParseTime(old.modified); err == nil {
		for _, date := range []time.Time{at, at.Add(time.Second), at.AddDate(1, 0, 0)} {
			try("If-Modified-Since", date.Format(http.TimeFormat))
		}
		part("If-Range", old.modified)
		part("If-Unmodified-Since", old.modified)
		try("If-Unmodified-Since", at.AddDate(-1, 0, 0).Format(http.TimeFormat))
	}
}

// TestStatesBesideWriters: while somebody writes, answers that name the same state have the
// same bytes, also those that are made while they are sent.
func TestStatesBesideWriters(t *testing.T) {
	t.Parallel()
	w := newFreshWorld(t, 7)
	servers := w.servers()
	targets := []string{
		"/api/units/?format=ndjson", "/api/projects/demo/file/", "/api/translations/demo/app/cs/file/?format=csv", "/api/translations/demo/app/cs/file/",
		"/api/translations/demo/app/cs/units/", "/api/projects/demo/statistics/", "/api/changes/?format=ndjson", "/projects/demo/app/cs/", "/api/units/999999999/",
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	var mu sync.Mutex
	shown := map[[3]string]map[[32]byte]bool{}
	for n, token := range []string{"", w.token, ""} {
		readers.Go(func() {
			for i := n; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				target := targets[i%len(targets)]
				a := ask(servers[i%2], target, "Authorization", authorization(token))
				key := [3]string{target, token, a.Header().Get(generationHeader)}
				mu.Lock()
				if shown[key] == nil {
					shown[key] = map[[32]byte]bool{}
				}
				shown[key][sha256.Sum256(a.Body.Bytes())] = true
				mu.Unlock()
			}
		})
	}
	for n := range testsize.Of(8, 25, 25) {
		w.texts[0]["po/cs.po"] = []freshEntry{{id: "Word1 and Word1.", text: fmt.Sprint(n)}}
		w.push(0, "Ann <ann@example.org>", "po/cs.po")
		w.pull()
	}
	close(stop)
	readers.Wait()
	for _, key := range slices.SortedFunc(maps.Keys(shown), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }) {
		if n := len(shown[key]); n > 1 {
			t.Errorf("%s: %d contents as of %s", key[0], n, key[2])
		}
	}
}
