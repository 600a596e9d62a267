package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
)

// canary is in everything that the private project of canaryWorld holds: names,
// texts, notes, files, authors, languages' headers.
const canary = "Kanari"

// canaryWorld is demoWorld with a private project full of canaries.
func canaryWorld(tb testing.TB) *writer {
	tb.Helper()
	w := newWriter(tb)
	vault := catalog.Project{Slug: "vault", Settings: projectDefaults(canary + " project")}
	vault.Settings.Access, vault.Settings.Web = catalog.AccessPrivate, "https://"+canary+".example.org/"
	box := componentDefaults(canary + " component")
	box.NewBase, box.ReportSourceBugs, box.License = "po/"+canary+".pot", canary+"@example.org", canary
	w.Configure([]catalog.Project{{Slug: "demo", Settings: projectDefaults("Demo")}, vault}, []store.ComponentSpec{
		{Project: "demo", Slug: "app", Settings: componentDefaults("App"), Repo: repoApp, Branch: "main"},
		{Project: "vault", Slug: "box", Settings: box, Repo: "https://git.example.org/" + canary + ".git", Branch: "main"},
	})
	units := []catalog.Unit{{Source: canary + " source", Target: canary + " target", Context: canary + " context", Note: canary + " note", Location: canary + ".c:1", Flags: canary, State: 20}}
	w.Import("demo/app", repoApp, "Jane", sourceFile(oddUnits()), czechFile(oddUnits()))
	source := sourceFile(units)
	source.Name = "po/" + canary + ".pot"
	w.Import("vault/box", "https://git.example.org/"+canary+".git", canary+" Author", source, poFile{Language: "eo", Name: "po/" + canary + "/eo.po", Forms: 2, Formula: "n != 1", Units: units})
	if _, err := w.DB.SetPullProblem(tb.Context(), []int64{w.IDs["vault/box"]}, catalog.Failure{Kind: catalog.FailureOther, Words: canary + " problem"}); err != nil {
		tb.Fatal(err)
	}
	return w
}

// FuzzAccess sends each request with a token that sees everything, and without
// it. The answer is never a 5xx. Without the token it has no private text in its
// body or headers, even if the answer to the token was just cached.
func FuzzAccess(f *testing.F) {
	w := canaryWorld(f)
	s := brief(serve(w, Options{CacheBytes: 8 << 20}))
	key := w.Token("t", catalog.ScopeRead)
	box := w.IDs["vault/box"]
	fill := strings.NewReplacer(":project", "vault", ":component", "box", ":language", "eo", ":username", "kanari-author",
		":code", "eo", ":uuid", resource.TaskID("vault", "box"), ":slug", "x", ":linked", "x", ":commits", head1+"..."+head2, "units/:id", "units/"+wire.FormatID(box*catalog.UnitsPerComponent+1),
		"changes/:id", "changes/22", "addons/:id", "addons/"+wire.FormatID(box))
	for _, rt := range resource.Routes(&s.env) {
		for _, query := range []string{"", "?format=csv&page_size=1000", "?q=a&ordering=-id&after_id=0", "?format=api&q=source:a&username=k&page=1"} {
			f.Add("GET", fill.Replace(rt.Path)+query, "Accept", "*/*")
		}
		f.Add("HEAD", strings.TrimSuffix(fill.Replace(rt.Path), "/"), "X-Forwarded-For", "127.0.0.1")
		f.Add("OPTIONS", fill.Replace(rt.Path), "Origin", "https://evil.example")
		f.Add("POST", fill.Replace(rt.Path), "X-HTTP-Method-Override", "GET")
	}
	for _, target := range []string{"/api/projects/VAULT/", "/api/projects/%76ault/", "/api/projects/vault%2Fbox/", "/api//projects//vault/", "/api/./projects/vault/", "/api/units/?q=project:vault", "/api/changes/?user=kanari-author", "/api/search/?q=kana", "/api/users/?username=kan"} {
		f.Add("GET", target, "Authorization", "Basic eDp5")
		f.Add("GET", target, "Authorization", "Token x")
	}
	f.Fuzz(func(t *testing.T, method, target, name, value string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || strings.Contains(value, key) || strings.Contains(strings.ToLower(target+value), "kanari ") {
			t.Skip()
		}
		ask := func(header http.Header) *httptest.ResponseRecorder {
			header.Add(name, value)
			r := (&http.Request{
				Method: method, URL: u, Host: "l10n.example.org", RequestURI: target, RemoteAddr: "192.0.2.1:1", Body: http.NoBody, Header: header,
			}).WithContext(t.Context())
			rec := httptest.NewRecorder()
			s.ServeHTTP(rec, r)
			if rec.Code >= 500 || rec.Code < 200 {
				t.Errorf("%d %s", rec.Code, rec.Body)
			}
			return rec
		}
		ask(http.Header{"Authorization": {"Token " + key}})
		rec := ask(http.Header{})
		for _, secret := range []string{canary, "/vault/box", "kanari-author"} {
			if strings.Contains(said(rec), secret) && !strings.Contains(target, secret) {
				t.Errorf("%s in the answer to everybody: %d %s", secret, rec.Code, said(rec))
			}
		}
	})
}

// TestCanaries: a token shows the texts that FuzzAccess looks for.
func TestCanaries(t *testing.T) {
	t.Parallel()
	w := canaryWorld(t)
	s := serve(w, Options{})
	key := w.Token("t", catalog.ScopeAdmin)
	for _, path := range []string{
		"/api/projects/vault/", "/api/components/vault/box/", "/api/translations/vault/box/eo/", "/api/translations/vault/box/eo/units/",
		"/api/changes/?ordering=-id", "/api/changes/22/", "/api/projects/", "/api/units/", "/api/users/", "/api/search/?q=kan", "/api/components/vault/box/repository/", "/api/users/kanari-author/",
	} {
		if rec := call(t, s, http.MethodGet, path, "Authorization", "Token "+key); rec.Code != 200 || !strings.Contains(rec.Body.String(), canary) {
			t.Errorf("%s with a token: %d %s", path, rec.Code, rec.Body)
		}
		if rec := call(t, s, http.MethodGet, path); strings.Contains(rec.Body.String(), canary) {
			t.Errorf("%s without: %d %s", path, rec.Code, rec.Body)
		}
	}
	if got := get(t, s, "/api/languages/"); strings.Contains(got, `"eo"`) {
		t.Errorf("a language of the private project alone: %s", got)
	}
}

// TestStreamsByToken: of two streams of one list, only the one with a token has
// private entries, until the token is revoked.
func TestStreamsByToken(t *testing.T) {
	t.Parallel()
	w := canaryWorld(t)
	base := listen(t, serve(w, Options{}))
	key := w.Token("t", catalog.ScopeRead)
	follow := func(header string) *client {
		c := mustConnect(t, base+"/api/changes/stream/", "", "Authorization", header)
		if _, ok := c.next(); !ok {
			t.Fatal("the stream does not begin")
		}
		return c
	}
	everybody, reader := follow("Basic x"), follow("Token "+key)
	event := func(component, repo, head string) {
		id := w.IDs[component]
		w.Step(id, repo, "main", head, func(ctx context.Context, tx *store.StepTx) error {
			return tx.AddDelta(ctx, store.Delta{ComponentID: id, Commit: head, CommitTime: catalogtest.Now(), Entries: []store.Entry{{Action: catalog.ActionCreateComponent}}})
		})
	}
	event("vault/box", "https://git.example.org/"+canary+".git", head2)
	if e, ok := reader.change(); !ok || !strings.Contains(e.data, "/vault/box/") {
		t.Errorf("with a token: %v %+v", ok, e)
	}
	must(t, w.DB.Access().RevokeToken(t.Context(), "t", time.Now()))
	event("demo/app", repoApp, head2)
	if e, ok := everybody.change(); !ok || !strings.Contains(e.data, "/demo/app/") {
		t.Errorf("without a token the next is %v %+v", ok, e)
	}
	if e, ok := reader.change(); ok {
		t.Errorf("with a revoked token: %+v", e)
	}
}
