package api

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/signin"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
)

const signInBase = "https://l10n.example.org"

// signInWorld is a server with the demo whose people sign in at providers, and its log.
type signInWorld struct {
	*fakeProvider
	*Server
	w   *writer
	log bytes.Buffer
}

func newSignInWorld(t *testing.T, providers func(f *fakeProvider) []*signin.Provider, roles catalog.RoleBook) *signInWorld {
	t.Helper()
	s := &signInWorld{fakeProvider: newFakeProvider(t), w: demoWorld(t)}
	s.Server = bare(s.w, Options{Logger: slog.New(slog.NewTextHandler(&s.log, nil)), Settings: Settings{BaseURL: signInBase, SignIn: providers(s.fakeProvider), Roles: roles}})
	return s
}

// github are providers of one id, gh.
func github(members ...string) func(f *fakeProvider) []*signin.Provider {
	return func(f *fakeProvider) []*signin.Provider {
		return []*signin.Provider{f.provider("gh", "github", members...)}
	}
}

func oidcProvider(f *fakeProvider) []*signin.Provider {
	return []*signin.Provider{f.provider("sso", "oidc")}
}

// browser is a new one.
func (s *signInWorld) browser() *catalogtest.Visitor { return catalogtest.NewVisitor(s.w.TB, s.Server) }

// begin goes to a provider, and returns the address there.
func (s *signInWorld) begin(v *catalogtest.Visitor, id string) string {
	s.w.TB.Helper()
	rec := v.Get("/login/"+id+"/?next=/projects/secret/", "Sec-Fetch-Site", "same-origin")
	if rec.Code != http.StatusSeeOther || !strings.HasPrefix(rec.Header().Get("Location"), s.url) || !strings.HasSuffix(rec.Header().Get("Cache-Control"), "no-store") {
		s.w.TB.Fatalf("begin with %s: %d %v %s", id, rec.Code, rec.Header(), rec.Body)
	}
	return rec.Header().Get("Location")
}

// back comes from the provider.
func (s *signInWorld) back(v *catalogtest.Visitor, callback string) *httptest.ResponseRecorder {
	s.w.TB.Helper()
	return v.Get(strings.TrimPrefix(callback, signInBase), "Sec-Fetch-Site", "cross-site")
}

// signIn signs in whoever the provider has.
func (s *signInWorld) signIn(id string) (*catalogtest.Visitor, *httptest.ResponseRecorder) {
	s.w.TB.Helper()
	v := s.browser()
	return v, s.back(v, s.permit(s.begin(v, id)))
}

// refused fails unless an answer is the page to sign in with these words, and nobody is signed in.
func (s *signInWorld) refused(v *catalogtest.Visitor, rec *httptest.ResponseRecorder, status int, words string) {
	s.w.TB.Helper()
	if rec.Code != status || !strings.Contains(rec.Body.String(), words) || v.Cookies["__Host-session"] != "" {
		s.w.TB.Errorf("%d, want %d with %q: %v %s", rec.Code, status, words, v.Cookies, rec.Body)
	}
}

// token is what a browser's session may.
func (s *signInWorld) session(v *catalogtest.Visitor) catalog.Token {
	return s.accessOfSession(context.Background(), v.Cookies["__Host-session"]).Token
}

func (s *signInWorld) accounts() (list []string) {
	s.w.TB.Helper()
	err := s.db.Read(context.Background(), func(ctx context.Context, snap *store.Snapshot) error {
		all, err := snap.Access().Accounts(ctx)
		for _, a := range all {
			list = append(list, fmt.Sprintf("%s:%s #%s (%s) %s <%s>", a.Provider, a.Name, a.Subject, a.Names, a.AuthorName, a.AuthorEmail))
		}
		return err
	})
	must(s.t, err)
	return list
}

const elsewhere = "begun in another browser, or too long ago"

// TestSignInWithAccount: somebody signs in, has the roles of the account at once, and the
// provider's token and all secrets are nowhere.
func TestSignInWithAccount(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, github(), catalog.RoleBook{Projects: map[string]catalog.ProjectRoles{"secret": {Readers: []string{"gh:jana"}}}})
	v := s.browser()
	if body := v.Get("/login/?next=/projects/secret/").Body.String(); !strings.Contains(body, `href="/login/gh/?next=%2fprojects%2fsecret%2f"`) || !strings.Contains(body, `name="token"`) {
		t.Errorf("the page to sign in: %s", body)
	}
	at := s.begin(v, "gh")
	if u, _ := url.Parse(at); u.Path != "/login/oauth/authorize" || u.Query().Get("redirect_uri") != signInBase+"/login/gh/callback" || u.Query().Get("scope") != "" {
		t.Errorf("sent to %s", at)
	}
	flow := v.Cookies["__Host-flow"]
	rec := s.back(v, s.permit(at))
	if rec.Code != http.StatusSeeOther || rec.Header().Get("Location") != "/projects/secret/" || v.Cookies["__Host-session"] == "" {
		t.Fatalf("signed in: %d %v %v %s", rec.Code, rec.Header(), v.Cookies, rec.Body)
	}
	for _, cookie := range rec.Result().Cookies() {
		if !cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" {
			t.Errorf("cookie %s", cookie)
		}
	}
	page := v.Get("/projects/secret/lib/")
	if page.Code != http.StatusOK || !strings.Contains(page.Body.String(), `<a href="/account/" rel="nofollow"><bdi>Jana N</bdi></a>`) {
		t.Errorf("the page of a private project: %d %s", page.Code, page.Body)
	}
	if got := s.accounts(); len(got) != 1 || got[0] != "gh:Jana #7 (jana) Jana N <7+Jana@users.noreply.127.0.0.1>" {
		t.Errorf("accounts %q", got)
	}
	if s := s.log.String(); strings.Count(s, "signed in") != 1 || !strings.Contains(s, "account=gh:Jana subject=7 new=true") {
		t.Errorf("log %s", s)
	}
	for _, secret := range []string{fakeToken, fakeSecret, flow, v.Cookies["__Host-session"]} {
		if strings.Contains(s.log.String()+page.Body.String(), secret) {
			t.Errorf("%s is shown", secret)
		}
	}
	now := *s.settings.Load()
	now.Roles = catalog.RoleBook{}
	s.Update(now)
	if page := v.Get("/projects/secret/lib/"); page.Code != http.StatusNotFound {
		t.Errorf("without the role: %d", page.Code)
	}
}

// TestWithoutSignIn: without providers there is no way to sign in but with a token.
func TestWithoutSignIn(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, func(*fakeProvider) []*signin.Provider { return nil }, catalog.RoleBook{})
	body := s.browser().Get("/login/").Body.String()
	for _, of := range []string{`class="providers"`, "/login/gh", "account/", "Sign in with", "GitHub"} {
		if strings.Contains(body, of) {
			t.Errorf("it mentions %q: %s", of, body)
		}
	}
	if !strings.Contains(body, "There are no accounts") || !strings.Contains(body, `name="token"`) {
		t.Error(body)
	}
	for _, path := range []string{"/login/gh/", "/login/gh/callback/?code=1&state=2"} {
		if rec := s.browser().Get(path); rec.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
}

// TestSignInState: nobody is signed in by a callback that is not of a sign-in of this browser,
// whether its state is missing, made up, used before, too old or another browser's.
func TestSignInState(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, github(), catalog.RoleBook{})
	for _, q := range []string{"", "?code=x", "?code=x&state=", "?code=x&state=ABCDEFGHIJKLMNOPQRSTUVWXYZ", "?state=x"} {
		v := s.browser()
		s.begin(v, "gh")
		s.refused(v, s.back(v, signInBase+"/login/gh/callback"+q), http.StatusForbidden, elsewhere)
	}
	victim, attacker := s.browser(), s.browser()
	s.begin(victim, "gh")
	callback := s.permit(s.begin(attacker, "gh"))
	s.refused(victim, s.back(victim, callback), http.StatusForbidden, elsewhere)           // it would be the attacker's account
	s.refused(s.browser(), s.back(s.browser(), callback), http.StatusForbidden, elsewhere) // without a cookie
	if s.tokens != 0 {
		t.Errorf("%d codes were sent to the provider", s.tokens)
	}
	if rec := s.back(attacker, callback); rec.Code != http.StatusSeeOther {
		t.Errorf("whose it is: %d", rec.Code)
	}
	delete(attacker.Cookies, "__Host-session")
	s.refused(attacker, s.back(attacker, callback), http.StatusForbidden, elsewhere) // once more
}

// TestSignInReplay: a callback counts once, also with the cookie, and a code at the provider too.
func TestSignInReplay(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, github(), catalog.RoleBook{})
	v := s.browser()
	callback := s.permit(s.begin(v, "gh"))
	flow := v.Cookies["__Host-flow"]
	s.back(v, callback)
	again := s.browser()
	again.Cookies["__Host-flow"] = flow
	s.refused(again, s.back(again, callback), http.StatusForbidden, elsewhere)
	if s.tokens != 1 {
		t.Errorf("%d tokens", s.tokens)
	}
}

// TestSignInCodeOfAnother: a code of another browser's sign-in is worth nothing in this one: the
// provider is told who asked (PKCE).
func TestSignInCodeOfAnother(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, github(), catalog.RoleBook{})
	victim, attacker := s.browser(), s.browser()
	stolen, err := url.Parse(s.permit(s.begin(victim, "gh")))
	must(t, err)
	own, err := url.Parse(s.permit(s.begin(attacker, "gh")))
	must(t, err)
	rec := s.back(attacker, signInBase+"/login/gh/callback?"+url.Values{"state": {own.Query().Get("state")}, "code": {stolen.Query().Get("code")}}.Encode())
	s.refused(attacker, rec, http.StatusServiceUnavailable, "refused this server")
	if rec := s.back(victim, stolen.String()); rec.Code != http.StatusSeeOther {
		t.Errorf("whose it is: %d", rec.Code)
	}
}

// TestSignInNonce: an ID token of another sign-in is refused, and one without a nonce, of another
// issuer, for somebody else, too old, or not signed by the issuer.
func TestSignInNonce(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, oidcProvider, catalog.RoleBook{})
	s.user = map[string]any{"sub": "s-1", "name": "Jana"}
	if _, rec := s.signIn("sso"); rec.Code != http.StatusSeeOther {
		t.Fatalf("right: %d %s", rec.Code, rec.Body)
	}
	for name, claims := range map[string]map[string]any{
		"another nonce": {"nonce": "x"}, "no nonce": {"nonce": ""}, "another issuer": {"iss": "https://evil.example"}, "for another": {"aud": "other"}, "too old": {"exp": 1},
	} {
		s.claims = claims
		v, rec := s.signIn("sso")
		if rec.Code != http.StatusForbidden || v.Cookies["__Host-session"] != "" {
			t.Errorf("%s: %d", name, rec.Code)
		}
	}
	s.claims, s.signer = nil, newFakeProvider(t).key
	if v, rec := s.signIn("sso"); rec.Code != http.StatusForbidden || v.Cookies["__Host-session"] != "" {
		t.Errorf("signed by another key: %d", rec.Code)
	}
}

// TestSignInMixUp: a callback at another provider than the sign-in began with, or with the name of
// another issuer, signs in nobody, and its code is sent to none.
func TestSignInMixUp(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, func(f *fakeProvider) []*signin.Provider {
		return []*signin.Provider{f.provider("one", "gitea"), f.provider("two", "gitea"), f.provider("sso", "oidc")}
	}, catalog.RoleBook{})
	v := s.browser()
	callback := s.permit(s.begin(v, "one"))
	s.refused(v, s.back(v, strings.Replace(callback, "/one/", "/two/", 1)), http.StatusForbidden, elsewhere)
	s.refused(v, s.back(v, callback), http.StatusForbidden, elsewhere) // it is used up
	for _, id := range []string{"one", "sso"} {
		v := s.browser()
		s.refused(v, s.back(v, s.permit(s.begin(v, id))+"&iss="+url.QueryEscape("https://evil.example")), http.StatusForbidden, elsewhere)
	}
	if s.tokens != 0 {
		t.Errorf("%d codes were sent to a provider", s.tokens)
	}
	if rec := s.back(v, s.permit(s.begin(v, "one"))+"&iss="+url.QueryEscape(s.url)); rec.Code != http.StatusSeeOther {
		t.Errorf("its own name: %d", rec.Code)
	}
}

// TestSignInTabs: somebody begins in two tabs of a browser, and both end.
func TestSignInTabs(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, github(), catalog.RoleBook{})
	v := s.browser()
	first, second := s.begin(v, "gh"), s.begin(v, "gh")
	for _, at := range []string{first, second} {
		if rec := s.back(v, s.permit(at)); rec.Code != http.StatusSeeOther || rec.Header().Get("Location") != "/projects/secret/" {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
	}
}

// TestSignInProcesses: a sign-in that began at one process ends at another, which has read the
// configuration anew; what a client tried at one counts at the others, too.
func TestSignInProcesses(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, github(), catalog.RoleBook{})
	ours := s.w.DB
	theirs, err := store.Open(t.Context(), s.w.Database(), store.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, theirs.Close()) })
	s.w.DB = theirs
	other := bare(s.w, Options{Settings: *s.settings.Load()})
	s.w.DB = ours
	v := s.browser()
	at := s.begin(v, "gh")
	now := *s.settings.Load()
	now.SignIn, now.Roles = []*signin.Provider{s.provider("new", "gitea"), s.provider("gh", "github")}, catalog.RoleBook{Admins: []string{"gh:jana"}}
	other.Update(now)
	v.Server = other
	if rec := s.back(v, s.permit(at)); rec.Code != http.StatusSeeOther || !other.accessOfSession(t.Context(), v.Cookies["__Host-session"]).SeesAll() {
		t.Fatalf("at another process: %d %s", rec.Code, rec.Body)
	}
	at = s.begin(v, "gh")
	now.SignIn = now.SignIn[:1]
	other.Update(now)
	if rec := s.back(v, s.permit(at)); rec.Code != http.StatusNotFound {
		t.Errorf("a provider that was removed meanwhile: %d", rec.Code)
	}
	sums := map[string]int{}
	send := func(_ context.Context, limit string, list []limit.Spent) (out []limit.Spent, _ error) {
		for _, spent := range list {
			sums[limit+spent.Client] += spent.Used
			spent.Used = sums[limit+spent.Client]
			out = append(out, spent)
		}
		return out, nil
	}
	for range newcomerRate.Count - 1 {
		s.newcomers.Take("x")
		s.attempts.TakeN("x", signInRate.Count/newcomerRate.Count)
	}
	other.newcomers.Take("x")
	other.attempts.TakeN("x", signInRate.Count/newcomerRate.Count)
	for _, of := range []struct {
		one, two *limit.Limiter
		count    int
	}{{s.mailed, other.mailed, askRate.Count}, {s.mailedAll, other.mailedAll, askAllRate.Count}, {s.stored, other.stored, storedRate.Count}} {
		of.one.TakeN("x", of.count-max(1, of.count/16))
		of.two.TakeN("x", max(1, of.count/16))
	}
	for _, server := range []*Server{s.Server, other} {
		must(t, server.ExchangeLimits(t.Context(), send))
	}
	newcomer, _ := other.newcomers.Take("x")
	attempt, _ := other.attempts.Take("x")
	mailed, _ := other.mailed.Take("x")
	all, _ := other.mailedAll.Take("x")
	stored, _ := other.stored.Take("x")
	if newcomer.Allowed || attempt.Allowed || mailed.Allowed || all.Allowed || stored.Allowed || len(sums) != 6 {
		t.Errorf("one more is allowed: %v %v %v %v %v, counted %v", newcomer.Allowed, attempt.Allowed, mailed.Allowed, all.Allowed, stored.Allowed, sums)
	}
}

// TestSignInLeadsHome: after signing in nobody is sent to another host.
func TestSignInLeadsHome(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, github(), catalog.RoleBook{})
	for _, next := range []string{"//evil.example", "https://evil.example/", `/\evil.example`, "javascript:alert(1)"} {
		v := s.browser()
		rec := v.Get("/login/gh/?next="+url.QueryEscape(next), "Sec-Fetch-Site", "same-origin")
		if rec = s.back(v, s.permit(rec.Header().Get("Location"))); rec.Header().Get("Location") != "/" {
			t.Errorf("%s leads to %s", next, rec.Header().Get("Location"))
		}
	}
}

// TestSignInFixation: who signs in gets a new session, and the one that the browser had ends.
func TestSignInFixation(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, github(), catalog.RoleBook{})
	attacker, _ := s.signIn("gh")
	planted := attacker.Cookies["__Host-session"]
	s.user = map[string]any{"id": 8, "login": "victim"}
	victim := s.browser()
	victim.Cookies["__Host-session"] = planted
	s.back(victim, s.permit(s.begin(victim, "gh")))
	if got := victim.Cookies["__Host-session"]; got == planted || got == "" || s.session(victim).Account.Subject != "8" || s.session(attacker).ID != 0 {
		t.Errorf("the session %q, planted %q, of %+v and %+v", got, planted, s.session(victim), s.session(attacker))
	}
}

// TestSignInBegunBySites: another site cannot begin a sign-in: a person is asked.
func TestSignInBegunBySites(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, github(), catalog.RoleBook{})
	for _, site := range []string{"cross-site", "same-site"} {
		v := s.browser()
		if rec := v.Get("/login/gh/?next=/x", "Sec-Fetch-Site", site); rec.Header().Get("Location") != "/login/?next=%2Fx" || len(v.Cookies) > 0 {
			t.Errorf("%s: %v", site, rec.Header())
		}
	}
}

// TestSignInRenamed: an account that was renamed is the same, and keeps the roles of all of its names.
func TestSignInRenamed(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, github(), catalog.RoleBook{Admins: []string{"gh:jana"}})
	s.signIn("gh")
	s.user["login"] = "jana2"
	v, _ := s.signIn("gh")
	if got := s.accounts(); len(got) != 1 || !strings.HasPrefix(got[0], "gh:jana2 #7 (jana jana2)") || len(s.session(v).Account.Roles) != 1 {
		t.Errorf("%q, %+v", got, s.session(v))
	}
}

// TestSignInTakenName: who takes a name that another account had has no role by it, and the log
// says so; a role by the subject counts. The same name at another provider is nobody's.
func TestSignInTakenName(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, func(f *fakeProvider) []*signin.Provider {
		return []*signin.Provider{f.provider("gh", "github"), f.provider("gt", "gitea")}
	}, catalog.RoleBook{Admins: []string{"gh:jana"}, Translators: map[string][]string{"cs": {"gh:#8"}}})
	first, _ := s.signIn("gh")
	other, _ := s.signIn("gt")
	s.user = map[string]any{"id": 8, "login": "JANA"}
	taken, _ := s.signIn("gh")
	if a, b, c := s.session(first).Account.Roles, s.session(other).Account.Roles, s.session(taken).Account.Roles; len(a) != 1 || len(b) != 0 || len(c) != 1 || c[0].Scope != catalog.ScopeWrite {
		t.Errorf("roles %v, at another provider %v, of the taken name %v", a, b, c)
	}
	if log := s.log.String(); strings.Count(log, "bound to another") != 1 || !strings.Contains(log, "account=gh:JANA subject=8") {
		t.Error(log)
	}
}

// TestSignInBlocked: a blocked account is told so, its sessions have ended, and the log names it.
func TestSignInBlocked(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, github(), catalog.RoleBook{Admins: []string{"gh:jana"}})
	before, _ := s.signIn("gh")
	must(t, s.db.Access().ChangeAccount(t.Context(), s.session(before).Account.ID, "blocked", "test"))
	v, rec := s.signIn("gh")
	s.refused(v, rec, http.StatusForbidden, "Your account is blocked here.")
	if s.session(before).ID != 0 || !strings.Contains(s.log.String(), "a blocked account wants to sign in") {
		t.Errorf("the session %+v, the log %s", s.session(before), s.log.String())
	}
}

// TestSignInAddress: an address of OpenID Connect is the account's name and the author's address
// only if the issuer says that it is verified.
func TestSignInAddress(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, oidcProvider, catalog.RoleBook{Admins: []string{"sso:jana@example.org"}})
	for i, test := range []struct {
		email, verified any
		want            string
	}{
		{"jana@example.org", false, ""},
		{"jana@example.org", nil, ""},
		{"jana@example.org", "false", ""},
		{"jana@example.org", 1, ""},
		{"a@b <x>", true, ""},
		{nil, true, ""},
		{"jana@example.org", true, "jana@example.org"},
		{"eva@example.org", "true", "eva@example.org"},
	} {
		subject := fmt.Sprint("s", i)
		s.user = map[string]any{"sub": subject, "name": "J", "email": test.email, "email_verified": test.verified}
		v, rec := s.signIn("sso")
		a := s.session(v).Account
		if rec.Code != http.StatusSeeOther || a.Name != test.want || a.AuthorEmail != test.want || a.Subject != subject || (len(a.Roles) > 0) != (test.want == "jana@example.org") {
			t.Errorf("%v, %v: %d %+v", test.email, test.verified, rec.Code, a)
		}
	}
	s.claims = map[string]any{"email": nil}
	s.user = map[string]any{"sub": "s9", "name": "", "preferred_username": "jana@corp", "email": "late@example.org", "email_verified": true}
	if v, _ := s.signIn("sso"); s.session(v).Account == nil || s.session(v).Account.Name != "late@example.org" || s.session(v).Account.AuthorName != "jana@corp" {
		t.Errorf("by the address of users: %+v", s.session(v).Account)
	}
	s.claims = map[string]any{"email": nil, "sub": "s10"}
	v, rec := s.signIn("sso")
	s.refused(v, rec, http.StatusForbidden, elsewhere) // users of another subject
}

// TestSignInAccounts: what forges say of an account, and of what it is a member.
func TestSignInAccounts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, kind     string
		members        []string
		user, public   map[string]any
		answers        map[string]string
		want           string // the account; "": none
		scope, refused string
	}{
		{"GitHub", "github", nil, map[string]any{"id": 12, "login": "Eva", "name": " "}, nil, nil, "p:Eva #12 (eva) Eva <12+Eva@users.noreply.127.0.0.1>", "", ""},
		{"GitLab", "gitlab", nil, map[string]any{"id": 12, "username": "eva", "name": "Eva", "commit_email": "eva@example.org"}, nil, nil, "p:eva #12 (eva) Eva <12-eva@users.noreply.127.0.0.1>", "read_user", ""},
		{"GitLab with a host for addresses", "gitlab", nil, map[string]any{"id": 12, "username": "eva", "name": "Eva", "commit_email": "12-eva@noreply.example.org"}, nil, nil, "p:eva #12 (eva) Eva <12-eva@noreply.example.org>", "read_user", ""},
		{"Gitea", "gitea", nil, map[string]any{"id": 12, "login": "Eva", "full_name": "Eva N", "email": "eva@example.org"}, nil, nil, "p:Eva #12 (eva) Eva N <eva@noreply.127.0.0.1>", "read:user", ""},
		{"Forgejo that shows its addresses", "forgejo", nil, map[string]any{"id": 12, "login": "eva"}, map[string]any{"id": 12, "email": "eva@noreply.git.example.org"}, nil, "p:eva #12 (eva) eva <eva@noreply.git.example.org>", "read:user", ""},
		{"Gitea that shows another", "gitea", nil, map[string]any{"id": 12, "login": "eva"}, map[string]any{"id": 13, "email": "x@noreply.git.example.org"}, nil, "p:eva #12 (eva) eva <eva@noreply.127.0.0.1>", "read:user", ""},
		{"no id", "github", nil, map[string]any{"login": "eva"}, nil, nil, "", "", "cannot be reached"},
		{"of an organisation", "github", []string{"other", "org"}, nil, nil, map[string]string{"/api/v3/user/memberships/orgs/org": `{"state":"active"}`}, "p:Jana #7 (jana) Jana N <7+Jana@users.noreply.127.0.0.1>", "read:org", ""},
		{"invited only", "github", []string{"org"}, nil, nil, map[string]string{"/api/v3/user/memberships/orgs/org": `{"state":"pending"}`}, "", "read:org", "Only members"},
		{"of no team", "github", []string{"org/l10n"}, nil, nil, map[string]string{"/api/v3/user/memberships/orgs/org": `{"state":"active"}`}, "", "read:org", "Only members"},
		{"of a team", "github", []string{"org/l10n"}, nil, nil, map[string]string{"/api/v3/orgs/org/teams/l10n/memberships/Jana": `{"state":"active"}`}, "p:Jana #7 (jana) Jana N <7+Jana@users.noreply.127.0.0.1>", "read:org", ""},
		{"of a group", "gitlab", []string{"Org/sub"}, map[string]any{"id": 7, "username": "j"}, nil, map[string]string{"/oauth/userinfo": `{"groups":["x","org/sub"]}`}, "p:j #7 (j) j <7-j@users.noreply.127.0.0.1>", "read_user openid", ""},
		{"of another group", "gitlab", []string{"org"}, map[string]any{"id": 7, "username": "j"}, nil, map[string]string{"/oauth/userinfo": `{"groups":["org/sub"]}`}, "", "read_user openid", "Only members"},
		{"of a team of Gitea", "gitea", []string{"org/l10n"}, nil, nil, map[string]string{"/api/v1/user/teams?limit=50&page=1": `[{"name":"Owners","organization":{"name":"x"}}]`, "/api/v1/user/teams?limit=50&page=2": `[{"name":"L10N","organization":{"username":"Org"}}]`}, "p:Jana #7 (jana) Jana N <jana@noreply.127.0.0.1>", "read:user read:organization", ""},
		{"of an organisation of Gitea", "gitea", []string{"org"}, nil, nil, map[string]string{"/api/v1/user/teams?limit=50&page=1": `[{"name":"Owners","organization":{"name":"org"}}]`}, "p:Jana #7 (jana) Jana N <jana@noreply.127.0.0.1>", "read:user read:organization", ""},
		{"of no team of Gitea", "gitea", []string{"org/l10n"}, nil, nil, map[string]string{"/api/v1/user/teams?limit=50&page=1": `[{"name":"l10n","organization":{"name":"x"}}]`, "/api/v1/user/teams?limit=50&page=2": `[]`}, "", "read:user read:organization", "Only members"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSignInWorld(t, func(f *fakeProvider) []*signin.Provider {
				return []*signin.Provider{f.provider("p", test.kind, test.members...)}
			}, catalog.RoleBook{})
			if test.user != nil {
				s.user = test.user
			}
			s.public, s.answers = test.public, test.answers
			v := s.browser()
			at, err := url.Parse(s.begin(v, "p"))
			must(t, err)
			if got := at.Query().Get("scope"); got != test.scope {
				t.Errorf("scope %q", got)
			}
			rec := s.back(v, s.permit(at.String()))
			if got := cmp.Or(strings.Join(s.accounts(), "\n"), ""); got != test.want {
				t.Errorf("%q, want %q: %s", got, test.want, s.log.String())
			}
			if test.want == "" && (rec.Code < 400 || !strings.Contains(rec.Body.String(), test.refused)) {
				t.Errorf("%d %s", rec.Code, rec.Body)
			}
		})
	}
}

// TestSignInAway: a provider that is away, or answers nonsense or without end, is named on a page
// with 503; those who are signed in stay so, and no secret is in the log.
func TestSignInAway(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(" ", 600<<10)
	for name, break_ := range map[string]func(s *signInWorld){
		"down":                    func(s *signInWorld) { s.status = http.StatusBadGateway },
		"a token without end":     func(s *signInWorld) { s.token = `{"access_token":"` + fakeToken + `"` + long + `}` },
		"no token":                func(s *signInWorld) { s.token = `{"access":"` + fakeToken + `"}` },
		"an account without end":  func(s *signInWorld) { s.user = map[string]any{"id": 7, "login": "jana", "bio": long} },
		"an account that is none": func(s *signInWorld) { s.user = map[string]any{"id": "seven", "login": 3} },
	} {
		s := newSignInWorld(t, github(), catalog.RoleBook{Admins: []string{"gh:jana"}})
		before, _ := s.signIn("gh")
		v := s.browser()
		callback := s.permit(s.begin(v, "gh"))
		break_(s)
		rec := s.back(v, callback)
		s.refused(v, rec, http.StatusServiceUnavailable, "<bdi>"+strings.TrimPrefix(s.url, "http://")+"</bdi>: The provider cannot be reached")
		if rec.Header().Get("Retry-After") == "" || before.Get("/projects/secret/lib/").Code != http.StatusOK {
			t.Errorf("%s: %v", name, rec.Header())
		}
		if log := s.log.String(); !strings.Contains(log, "sign-in refused") || strings.Contains(log, fakeToken) || strings.Contains(log, fakeSecret) {
			t.Errorf("%s: %s", name, log)
		}
	}
	s := newSignInWorld(t, oidcProvider, catalog.RoleBook{})
	s.status = http.StatusBadGateway
	v := s.browser()
	s.refused(v, v.Get("/login/sso/"), http.StatusServiceUnavailable, "cannot be reached")
	s.refused(v, v.Get("/login/sso/"), http.StatusServiceUnavailable, "cannot be reached")
	if len(s.asked) != 1 {
		t.Errorf("asked %q", s.asked)
	}
}

// TestSignInRefusedByProvider: what the provider says instead of a code.
func TestSignInRefusedByProvider(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, github(), catalog.RoleBook{})
	for said, want := range map[string]struct {
		status int
		words  string
	}{"access_denied": {http.StatusForbidden, "did not permit"}, "invalid_scope\n\x1b[31m": {http.StatusServiceUnavailable, "refused this server"}} {
		v := s.browser()
		u, err := url.Parse(s.begin(v, "gh"))
		must(t, err)
		s.refused(v, s.back(v, signInBase+"/login/gh/callback?"+url.Values{"error": {said}, "state": {u.Query().Get("state")}}.Encode()), want.status, want.words)
	}
	if strings.Contains(s.log.String(), "\x1b") {
		t.Error(s.log.String())
	}
}

// TestSignInBounds: a client brings 20 new accounts a day and tries 200 times an hour; who has an
// account signs in all the same.
func TestSignInBounds(t *testing.T) {
	t.Parallel()
	s := newSignInWorld(t, github(), catalog.RoleBook{})
	for i := range newcomerRate.Count {
		s.user["id"] = 100 + i
		if _, rec := s.signIn("gh"); rec.Code != http.StatusSeeOther {
			t.Fatalf("account %d: %d", i, rec.Code)
		}
	}
	s.user["id"] = 99
	v, rec := s.signIn("gh")
	s.refused(v, rec, http.StatusTooManyRequests, "Too many have signed in")
	s.user["id"] = 100
	if _, rec := s.signIn("gh"); rec.Code != http.StatusSeeOther {
		t.Errorf("an account of before: %d", rec.Code)
	}
	for range signInRate.Count - 2*(newcomerRate.Count+2) {
		s.browser().Get("/login/gh/")
	}
	if rec := s.browser().Get("/login/gh/"); rec.Code != http.StatusTooManyRequests {
		t.Errorf("one try too many: %d", rec.Code)
	}
}

// TestStreamsOfAccounts: a stream shows what the roles of its account show, whoever else has one at
// the address, and ends before its next entry when the account is blocked, signs out everywhere,
// loses a role, or its provider is not configured any more.
func TestStreamsOfAccounts(t *testing.T) {
	t.Parallel()
	const every = 7
	readers := make([]string, every)
	for i := range readers {
		readers[i] = fmt.Sprintf("gh:#%d", i)
	}
	roles := func(from int) catalog.RoleBook {
		return catalog.RoleBook{Projects: map[string]catalog.ProjectRoles{"secret": {Readers: readers[from:]}}}
	}
	s := newSignInWorld(t, func(f *fakeProvider) []*signin.Provider {
		return []*signin.Provider{f.provider("gh", "github"), f.provider("tea", "gitea")}
	}, roles(1))
	base, heads := listen(t, s.Server), []string{head2, head1}
	entry := func(component, repo string) {
		s.w.Step(s.w.IDs[component], repo, "main", heads[0], func(ctx context.Context, tx *store.StepTx) error {
			return tx.AddDelta(ctx, store.Delta{ComponentID: s.w.IDs[component], Entries: []store.Entry{{Action: catalog.ActionHook}}})
		})
		heads[0], heads[1] = heads[1], heads[0]
	}
	stream := func(name, secret string) *client {
		return mustConnect(t, base+"/api/changes/stream/", "", name, secret)
	}
	account := func(provider string, id int) *catalogtest.Visitor {
		s.user = map[string]any{"id": id, "login": fmt.Sprintf("a%d", id)}
		v, _ := s.signIn(provider)
		return v
	}
	browsers, streams := map[string]*catalogtest.Visitor{}, map[string]*client{}
	for i, name := range []string{"reader", "blocked", "by a token", "signed out", "without a role"} {
		browsers[name] = account("gh", every-1-i)
	}
	browsers["stranger"], browsers["without a provider"] = account("gh", 0), account("tea", 9)
	of := func(name string) *catalog.Token { token := s.session(browsers[name]); return &token }
	secret, err := s.db.Access().CreatePersonal(t.Context(), of("by a token").Account, catalog.Token{Name: "x", Scope: catalog.ScopeRead})
	must(t, err)
	for name, v := range browsers {
		streams[name] = stream("Cookie", "__Host-session="+v.Cookies["__Host-session"])
	}
	streams["by a token"].close()
	streams["by a token"] = stream("Authorization", "Token "+secret)
	entry("secret/lib", repoSecret)
	private := []string{"reader", "blocked", "by a token", "signed out", "without a role"}
	for _, name := range private { // so that what it may see is known before the public entry comes
		if e, ok := streams[name].change(); !ok || !strings.Contains(e.data, "/secret/lib/") {
			t.Errorf("%s: %v %+v", name, ok, e)
		}
	}
	entry("demo/app", repoApp)
	for name, c := range streams {
		if e, ok := c.change(); !ok || !strings.Contains(e.data, "/demo/app/") {
			t.Errorf("%s: %v %+v", name, ok, e)
		}
	}
	for _, name := range []string{"blocked", "by a token"} {
		must(t, s.db.Access().ChangeAccount(t.Context(), of(name).Account.ID, "blocked", "test"))
	}
	must(t, s.db.Access().EndSessions(t.Context(), of("signed out"), ""))
	now := *s.settings.Load()
	now.Roles, now.SignIn = roles(3), now.SignIn[:1]
	s.Update(now)
	entry("demo/app", repoApp)
	for name, c := range streams {
		if e, ok := c.change(); ok != (name == "reader" || name == "stranger") {
			t.Errorf("%s in the end: %v %+v", name, ok, e)
		}
	}
	if rec := browsers["without a provider"].Get("/account/"); rec.Code != http.StatusUnauthorized {
		t.Errorf("the own page without a provider: %d", rec.Code)
	}
}
