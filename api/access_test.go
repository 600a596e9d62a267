package api

import (
	"context"
	"encoding/base64"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
)

// never are texts that must not be in any public answer of demoWorld.
var never = []string{"/demo/hidden", "/secret/lib", "mallory", "Mallory"}

// TestRoutesHidePrivate asks for private objects by every route of the table, with a
// token, and without one or with one of another project.
func TestRoutesHidePrivate(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	key := w.Token("t", catalog.ScopeRead)
	hideFrom(t, w, key, "", never)
	hideFrom(t, w, key, "Token "+w.Token("other", catalog.ScopeRead, "no-such", "dem"), never)
}

// hideFrom asks for demo/hidden by every route with a good key, and with another value of
// the header Authorization, to which no answer may have one of some texts.
func hideFrom(t *testing.T, w *writer, key, stranger string, never []string) {
	t.Helper()
	s := serve(w, Options{CacheBytes: 1 << 20})
	hidden := w.IDs["demo/hidden"]
	var change int64
	for _, id := range idsOf(getList(t, s, "/api/components/demo/hidden/changes/", "Authorization", "Token "+key)) {
		change = int64(id)
	}
	fill := strings.NewReplacer(":project", "demo", ":component", "hidden", ":language", "en", ":username", "mallory",
		":code", "en", ":uuid", resource.TaskID("demo", "hidden"), ":slug", "x", ":linked", "x", ":commits", head1+"..."+head2, ":widget", "svg-badge.svg")
	// The project is public, so everybody sees resources of the whole project.
	ofProject := func(path string) bool {
		return strings.Contains(path, ":project") && !strings.Contains(path, ":component")
	}
	shown := map[string]bool{}
	for _, rt := range resource.Routes(&s.env) {
		path := fill.Replace(rt.Path)
		switch {
		case strings.HasPrefix(path, "/api/units/"):
			path = strings.Replace(path, ":id", wire.FormatID(hidden*catalog.UnitsPerComponent+1), 1)
		case strings.HasPrefix(path, "/api/changes/"):
			path = strings.Replace(path, ":id", wire.FormatID(change), 1)
		case strings.HasPrefix(path, "/api/addons/"):
			path = strings.Replace(path, ":id", wire.FormatID(hidden), 1)
		}
		if rt.Kind == resource.KindEvents {
			path += "?after_id=x" // what follows is refused after the object was looked for
		}
		concerned := strings.Contains(path, "hidden") || strings.Contains(path, ":") || path != rt.Path && strings.ContainsAny(rt.Path, ":") &&
			!strings.Contains(rt.Path, ":code") && !ofProject(rt.Path)
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			for range 2 { // the second perhaps from the cache
				_, with := send(s, method, path, "Authorization", "Bearer "+key)
				_, rec := send(s, method, path, "Authorization", stranger)
				if concerned && rec.Code != http.StatusNotFound && rec.Code != http.StatusMethodNotAllowed {
					t.Errorf("%s %s: %d without a token", method, path, rec.Code)
				}
				for _, text := range never {
					if strings.Contains(said(rec), text) {
						t.Errorf("%s %s without a token has %s", method, path, text)
					}
				}
				if with.Code == http.StatusUnauthorized || with.Code >= 500 {
					t.Errorf("%s %s: %d with a token", method, path, with.Code)
				}
				if cc := with.Header().Get("Cache-Control"); with.Code == http.StatusOK && strings.Contains(cc, "max-age") {
					t.Errorf("%s %s: Cache-Control %s with a token", method, path, cc)
				}
				if with.Code == http.StatusOK && rec.Code == http.StatusNotFound {
					shown[rt.Path] = true
				}
			}
		}
	}
	if len(shown) < 20 {
		t.Errorf("only %d routes tell a token more than everybody: %v", len(shown), shown)
	}
}

// said is everything that an answer tells.
func said(rec *httptest.ResponseRecorder) string {
	return rec.Body.String() + strings.Join(slices.Concat(slices.Collect(maps.Values(rec.Header()))...), "\n")
}

// TestAuthorization: the answers to values of the header Authorization
// (docs/compatibility.md#authentication).
func TestAuthorization(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := serve(w, Options{CacheBytes: 1 << 20})
	const public, private = "/api/components/demo/app/", "/api/components/demo/hidden/"
	expect := func(status int, method, target, header, detail string) {
		t.Helper()
		_, rec := send(s, method, target, "Authorization", header)
		if rec.Code != status || detail != "" && oldForm(rec.Body.String()) != `{"detail":"`+detail+`"}` {
			t.Errorf("%s %s with %q: %d %.200s", method, target, header, rec.Code, rec.Body)
		}
		if challenge := rec.Header().Get("WWW-Authenticate"); (status == 401) != (challenge == "Token") {
			t.Errorf("%s %s with %q: WWW-Authenticate %q", method, target, header, challenge)
		}
	}
	expect(200, "GET", public, "Token anything", "") // while there are no tokens
	expect(404, "GET", private, "Token anything", "Not found.")
	read, admin := w.Token("reader", catalog.ScopeRead), w.Token("admin", catalog.ScopeAdmin)
	for _, key := range []string{read, admin} {
		for _, scheme := range []string{"Token ", "token ", "Bearer ", "BEARER  ", " Token "} {
			expect(200, "GET", private, scheme+key, "")
		}
		expect(403, "POST", public+"repository/", "Token "+key, rest.ErrReadOnly.Detail)
	}
	for _, target := range []string{public, private, "/api/"} {
		expect(401, "GET", target, "Token anything", "Invalid token.")
		expect(401, "HEAD", target, "Bearer "+read+"x", "")
		expect(401, "POST", target, "Token anything", "Invalid token.")
		expect(401, "GET", target, "Token", "Invalid token header. No credentials provided.")
		expect(401, "GET", target, "Token a b", "Invalid token header. Token string should not contain spaces.")
		expect(401, "GET", target, "Token "+strings.Repeat("x", 5000), "Invalid token.")
	}
	expect(200, "GET", public, "Basic eDp5", "")
	expect(404, "GET", private, "Basic eDp5", "Not found.")
	must(t, w.DB.Access().RevokeToken(t.Context(), "reader", time.Now()))
	expect(401, "GET", private, "Token "+read, "Invalid token.")
	expect(200, "GET", private, "Token "+admin, "")
	defer func() { // a server whose last token was revoked is not one that never had any
		must(t, w.DB.Access().RevokeToken(t.Context(), "admin", time.Now()))
		expect(401, "GET", public, "Token "+admin, "Invalid token.")
	}()
	if rec := call(t, s, "GET", private, "Authorization", "Token "+admin); rec.Header().Get("Cache-Control") != "private, no-cache" {
		t.Errorf("Cache-Control %q", rec.Header().Get("Cache-Control"))
	}
}

// TestTokenSeesAll: with a token, counts include private objects, those of its projects.
func TestTokenSeesAll(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := serve(w, Options{CacheBytes: 1 << 20})
	key := w.Token("t", catalog.ScopeRead)
	demo := w.Token("demo's", catalog.ScopeRead, "demo")
	for target, want := range map[string][3]int64{
		"/api/components/": {4, 6, 5}, "/api/projects/demo/components/": {3, 4, 4}, "/api/projects/secret/components/": {1, 2, 1}, "/api/users/": {2, 3, 3},
	} {
		for range 2 {
			if got := getList(t, s, target).Count; got != want[0] {
				t.Errorf("%s: %d, want %d", target, got, want[0])
			}
			if got := getList(t, s, target, "Authorization", "Token "+key).Count; got != want[1] {
				t.Errorf("%s with a token: %d, want %d", target, got, want[1])
			}
			if got := getList(t, s, target, "Authorization", "Token "+demo).Count; got != want[2] {
				t.Errorf("%s with a token of demo: %d, want %d", target, got, want[2])
			}
		}
	}
}

// TestVisitor: what handlers outside this package learn about a request.
func TestVisitor(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := serve(w, Options{})
	basic := func(user, password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	expect := func(header string, withBasic bool, want Visitor) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, "/git/demo/app/info/refs", http.NoBody)
		r.Header.Set("Authorization", header)
		if got, err := s.Visitor(r, withBasic); err != nil || got != want {
			t.Errorf("%q: %+v %v, want %+v", header, got, err, want)
		}
	}
	for _, header := range []string{"", "Token x", basic("a", "b")} { // while there are no tokens
		expect(header, true, Visitor{})
	}
	key := w.Token("reader", catalog.ScopeRead)
	stranger, reader, refused := Visitor{MayReturn: true}, Visitor{Token: catalog.Token{ID: 1, Name: "reader", Scope: catalog.ScopeRead, Created: catalogtest.Now()}, MayReturn: true}, Visitor{Refused: true, MayReturn: true}
	for header, want := range map[string]Visitor{
		"": stranger, "Digest x": stranger, "Basic !": stranger,
		"Token " + key: reader, "bearer " + key: reader, basic("anybody", key): reader, basic(key, ""): reader,
		"Token x": refused, "Token": refused, basic(key, "x"): refused, basic("", ""): refused,
	} {
		expect(header, true, want)
	}
	expect(basic("anybody", key), false, stranger)
	expect("Token "+key, false, reader)
}

// TestGitExport: git_export is set if the server can be cloned from.
func TestGitExport(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	for without, want := range map[bool]string{false: `"git_export":"http://l10n.example.org/git/demo/app/"`, true: `"git_export":""`} {
		s := serve(w, Options{WithoutGitExport: without})
		for _, target := range []string{"/api/components/demo/app/", "/api/projects/demo/components/", "/api/components/", "/api/translations/demo/app/cs/"} {
			if got := get(t, s, target); !strings.Contains(got, want) {
				t.Errorf("%s: no %s in %s", target, want, got)
			}
		}
	}
}

// TestFirstCommit: an author's first commit is in a private component, so only
// clients with a token get its time as date_joined.
func TestFirstCommit(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	long := catalogtest.Now().AddDate(-5, 0, 0)
	hidden := w.IDs["demo/hidden"]
	w.Step(hidden, repoHidden, "main", head2, func(ctx context.Context, tx *store.StepTx) error {
		karel, err := tx.User(ctx, "Karel", "karel@example.org", long)
		if err != nil {
			return err
		}
		return tx.AddDelta(ctx, store.Delta{ComponentID: hidden, AuthorID: karel, Commit: head2, CommitTime: long, Entries: []store.Entry{{Action: catalog.ActionHook}}})
	})
	s := serve(w, Options{CacheBytes: 1 << 20})
	key := w.Token("t", catalog.ScopeRead)
	for _, path := range []string{"/api/users/karel/", "/api/users/?username=karel"} {
		for range 2 {
			if rec := call(t, s, http.MethodGet, path, "Authorization", "Token "+key); !strings.Contains(rec.Body.String(), `"date_joined":"2021-`) {
				t.Errorf("%s with a token: %s", path, rec.Body)
			}
			if rec := call(t, s, http.MethodGet, path); !strings.Contains(rec.Body.String(), `"date_joined":"2026-`) {
				t.Errorf("%s without a token: %s", path, rec.Body)
			}
		}
	}
}
