package api

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// TestSignIn: a token becomes a session that shows private projects in pages and in the
// API, writes nothing, is kept by no cache, and ends by signing out, by revocation and by
// the clock.
func TestSignIn(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	key := w.Token("ada", catalog.ScopeAdmin)
	s := bare(w, Options{CacheBytes: 1 << 20})
	signIn := func() *catalogtest.Visitor {
		t.Helper()
		p := catalogtest.NewVisitor(t, s)
		rec := p.Post("/login/", url.Values{"token": {" " + key + "\n"}, "next": {"/projects/secret/?sort=left"}})
		if rec.Code != http.StatusSeeOther || rec.Header().Get("Location") != "/projects/secret/?sort=left" || rec.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("signing in: %d %v %s", rec.Code, rec.Header(), rec.Body)
		}
		if set := rec.Header().Get("Set-Cookie"); !regexp.MustCompile(`^session=[A-Z2-7]{26}; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax$`).MatchString(set) {
			t.Errorf("cookie %q", set)
		}
		return p
	}
	secrets := []string{"/projects/secret/lib/", "/translate/secret/lib/en/", "/api/components/secret/lib/", "/api/translations/secret/lib/en/units/"}
	sees := func(p *catalogtest.Visitor, want int) {
		t.Helper()
		for _, target := range secrets {
			for range 2 { // the second time from a cache, if it were kept
				rec := p.Get(target)
				if rec.Code != want {
					t.Errorf("%s: %d, want %d", target, rec.Code, want)
				}
				if rec.Code == http.StatusOK && rec.Header().Get("Cache-Control") != "private, no-store" {
					t.Errorf("%s: Cache-Control %q", target, rec.Header().Get("Cache-Control"))
				}
				if !slices.Contains(rec.Header()["Vary"], "Cookie") {
					t.Errorf("%s: Vary %q", target, rec.Header()["Vary"])
				}
			}
		}
	}
	stranger := catalogtest.NewVisitor(t, s)
	p := signIn()
	sees(stranger, http.StatusNotFound)
	sees(p, http.StatusOK)
	sees(stranger, http.StatusNotFound)
	for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if rec := p.Send(request(method, "/api/projects/demo/", "Sec-Fetch-Site", "same-origin")); rec.Code != http.StatusUnauthorized && rec.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s with a session: %d", method, rec.Code)
		}
	}
	if rec := p.Get("/exports/rss/secret/lib/"); rec.Code != http.StatusNotFound {
		t.Errorf("a session counts for feeds: %d", rec.Code)
	}
	clone := request(http.MethodGet, "/git/secret/lib/info/refs")
	clone.AddCookie(&http.Cookie{Name: "session", Value: p.Cookies["session"]})
	if v, err := s.Visitor(clone, true); err != nil || v != (Visitor{MayReturn: true}) {
		t.Errorf("a session counts for clones: %+v %v", v, err)
	}
	if rec := p.Get("/api/components/secret/lib/", "Authorization", "Token wrong"); rec.Code != http.StatusUnauthorized {
		t.Errorf("a session beside a wrong token: %d", rec.Code)
	}
	body := p.Get("/login/").Body.String()
	form := regexp.MustCompile(`name="form" value="([^"]+)"`).FindStringSubmatch(body)
	if form == nil || !strings.Contains(body, ">ada<") || strings.Contains(body, p.Cookies["session"]) {
		t.Fatalf("the page of who is signed in: %s", body)
	}
	other := signIn()
	if rec := other.Post("/logout/", url.Values{"form": {form[1]}}); rec.Code != http.StatusForbidden {
		t.Errorf("signing out with the form of another session: %d", rec.Code)
	}
	copied := &catalogtest.Visitor{TB: t, Server: s, Cookies: map[string]string{"session": p.Cookies["session"]}}
	if rec := p.Post("/logout/", url.Values{"form": {form[1]}}); rec.Code != http.StatusSeeOther || rec.Header().Get("Location") != "/login/" || len(p.Cookies) > 0 {
		t.Errorf("signing out: %d %v", rec.Code, rec.Header())
	}
	sees(p, http.StatusNotFound)
	sees(copied, http.StatusNotFound)
	sees(other, http.StatusOK)
	must(t, w.DB.Access().RevokeToken(t.Context(), "ada", time.Now()))
	sees(other, http.StatusNotFound)
}

// TestSessionsWriteNothing: with a session of a token of scope admin, no route of the API
// writes, and no feed and no badge shows more than to strangers.
func TestSessionsWriteNothing(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	stored := struct { // a call would panic
		resource.Edits
		resource.Operations
	}{}
	s := bare(w, Options{Edits: stored, Operations: stored})
	p, stranger := catalogtest.NewVisitor(t, s), catalogtest.NewVisitor(t, s)
	p.Post("/login/", url.Values{"token": {w.Token("ada", catalog.ScopeAdmin)}})
	writes, feeds := 0, 0
	for _, project := range []string{"demo", "secret"} {
		fill := strings.NewReplacer(":project", project, ":component", map[string]string{"demo": "app", "secret": "lib"}[project], ":language", "en", ":code", "en", ":username", "ada", ":id", "1", ":widget", "svg-badge.svg")
		for _, rt := range resource.Routes(&s.env) {
			target := fill.Replace(rt.Path)
			for method := range rt.Writes {
				writes++
				if rec := p.Send(request(method, target, "Sec-Fetch-Site", "same-origin")); rec.Code != http.StatusUnauthorized && rec.Code != http.StatusMethodNotAllowed {
					t.Errorf("%s %s with a session: %d", method, target, rec.Code)
				}
			}
			if !strings.HasPrefix(target, "/api/") {
				feeds++
				if rec, theirs := p.Get(target), stranger.Get(target); rec.Code != theirs.Code || rec.Body.String() != theirs.Body.String() {
					t.Errorf("%s with a session: %d, without it %d", target, rec.Code, theirs.Code)
				}
			}
		}
	}
	if writes < 30 || feeds < 30 {
		t.Errorf("only %d writes and %d feeds and badges", writes, feeds)
	}
}

// TestSignInRefused: what does not become a session, and says why.
func TestSignInRefused(t *testing.T) {
	t.Parallel()
	none := bare(demoWorld(t), Options{})
	w := demoWorld(t)
	key := w.Token("t", catalog.ScopeRead)
	s := bare(w, Options{Settings: Settings{BaseURL: "https://l10n.example.org"}})
	for _, test := range []struct {
		name   string
		h      http.Handler
		token  string
		header []string
		status int
		want   string
	}{
		{"no token", s, "", nil, http.StatusBadRequest, "Enter a token."},
		{"unknown", s, "rgt_x", nil, http.StatusForbidden, "This token is not known, or it has ended."},
		{"several words", s, "a b", nil, http.StatusForbidden, "This token is not known, or it has ended."},
		{"no tokens yet", none, "x", nil, http.StatusForbidden, "This server has no tokens yet."},
		{"another site", s, key, []string{"Origin", "https://evil.example"}, http.StatusForbidden, "not sent by this page"},
		{"no browser", s, key, []string{}, http.StatusForbidden, "not sent by this page"},
		{"in Czech", s, "", []string{"Origin", "https://l10n.example.org", "Cookie", "ui=cs"}, http.StatusBadRequest, `lang="cs"`},
		{"too long", s, strings.Repeat("x", maxForm), nil, http.StatusBadRequest, "The form cannot be read."},
		{"right", s, key, []string{"Origin", "https://l10n.example.org"}, http.StatusSeeOther, ""},
	} {
		p := catalogtest.NewVisitor(t, test.h)
		rec := p.Post("/login/", url.Values{"token": {test.token}, "next": {"//evil.example/"}}, test.header...)
		h := rec.Header()
		if rec.Code != test.status || !strings.Contains(rec.Body.String(), test.want) || strings.Contains(rec.Body.String(), "evil.example") {
			t.Errorf("%s: %d %v %s", test.name, rec.Code, h, rec.Body)
		}
		if made := rec.Code == http.StatusSeeOther; made != (p.Cookies["__Host-session"] != "") || made != (h.Get("Location") == "/") || !made && h.Get("Content-Security-Policy") != web.Policy {
			t.Errorf("%s: %v", test.name, h)
		}
	}
}

// TestLocalPath: after signing in nobody is sent to another host.
func TestLocalPath(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"": "/", "/": "/", "/projects/a%2Fb/?q=x%20y&lang=cs": "/projects/a%2Fb/?q=x%20y&lang=cs", "/x#y": "/x",
		"//evil.example": "/", "/\\evil.example": "/", "https://evil.example/": "/", "javascript:alert(1)": "/", "evil.example": "/",
		"/%2F/evil.example": "/", "/\t/evil.example": "/", "/\n": "/", "///evil.example": "/", "/%zz": "/",
	} {
		if got := web.LocalPath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}
