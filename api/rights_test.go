package api_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/api/signin"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

// guarded is a component of rightsWorld. Everything that it holds has its mark.
type guarded struct {
	project, slug, mark string
	private, push       bool // push: whom the forge lets push may edit

	unit, suggestion int64 // its first string in Czech, and what waits there
	units, entries   int64 // how many it has
	last             int64 // its newest entry
	checksum         string
}

func (p *guarded) path() string { return p.project + "/" + p.slug + "/" }

// rightsWorld has public and private components in public and private projects, and people.
type rightsWorld struct {
	*catalogtest.Puller
	s      *api.Server
	parts  []*guarded
	people []*person
	seen   map[string]keptAnswer // answers of before, by target
	spam   int64                 // what an account without a role suggests in open/app
}

type keptAnswer struct{ tag, body string }

// person is somebody who asks: nobody, an account, or a token.
type person struct {
	name string
	// names are how the configuration may name the account.
	names    []string
	provider string // of the account
	blocked  bool
	subject  string
	// scope is that of the token; "" for an account that signed in itself.
	scope               catalog.Scope
	projects, languages []string // of a token; empty: all

	token, session string // secrets
}

func (p *person) account() bool { return p.provider != "" }

const rightsBase = "https://l10n.example.org"

var rightsProviders = []*signin.Provider{signin.New(signin.Options{ID: "gh", Kind: "github"}), signin.New(signin.Options{ID: "lab", Kind: "gitlab"})}

func newRightsWorld(t *testing.T) *rightsWorld {
	t.Helper()
	w := &rightsWorld{seen: map[string]keptAnswer{}, parts: []*guarded{
		{project: "open", slug: "app"},
		{project: "open", slug: "push", push: true},
		{project: "open", slug: "own", private: true},
		{project: "vault", slug: "box", private: true},
		{project: "vault", slug: "push", private: true, push: true},
		{project: "vault", slug: "shop"},
		{project: "cell", slug: "box", private: true},
	}}
	repo, components, of := testrepos.Empty(t), map[string]catalog.ComponentSettings{}, map[string]*guarded{}
	base, commits := testrepos.Change{Files: map[string]string{}}, []testrepos.Change(nil)
	for i, p := range w.parts {
		p.mark = "K" + p.project + p.slug
		po := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
		own := testrepos.Change{Author: "Author of " + p.mark + " <" + p.mark + "@example.org>", Files: map[string]string{}}
		for n := range 1<<i + 1 {
			for _, language := range []string{"cs", "de", "eo"}[:2+i/6] { // the last one has a language of its own
				base.Files[p.mark+"/"+language+".po"] = own.Files[p.mark+"/"+language+".po"]
				own.Files[p.mark+"/"+language+".po"] = po
			}
			po += fmt.Sprintf("\n# %[1]s note\n#: %[1]s.c:1\n#, c-format\nmsgctxt \"%[1]s %[2]d\"\nmsgid \"%[1]s %%d text\"\nmsgstr \"\"\n", p.mark, n)
		}
		commits = append([]testrepos.Change{own}, commits...) // the first component has the newest entry
		c := catalog.ComponentSettings{Name: p.mark, Filemask: p.mark + "/*.po", Edits: catalog.Edits{Mode: catalog.PushDirect}, EnableSuggestions: true, Access: catalog.AccessPublic}
		if p.private && p.project == "open" {
			c.Access = catalog.AccessPrivate
		} else if p.private {
			c.Access = ""
		}
		components[p.mark], of[p.mark] = c, p
	}
	w.Puller = catalogtest.PullerAt(t, t.TempDir())
	w.Open()
	b, specs, _ := catalogtest.BranchOf(repo.URL(), "", components)
	for i := range specs {
		p := of[specs[i].Slug]
		specs[i].Project, specs[i].Slug = p.project, p.slug
		b.Components[i].Spec = specs[i]
	}
	gittest.Must(t, w.DB.Configure(t.Context(), []catalog.Project{
		{Slug: "open", Settings: catalog.ProjectSettings{Name: "Open"}},
		{Slug: "vault", Settings: catalog.ProjectSettings{Name: "Vault", Access: catalog.AccessPrivate}},
		{Slug: "cell", Settings: catalog.ProjectSettings{Name: "Cell", Access: catalog.AccessPrivate}},
	}, specs, nil))
	w.Branch = b
	for _, c := range append([]testrepos.Change{base}, commits...) {
		repo.Commit(t, c)
		w.Sync()
	}
	w.s = api.New(api.Options{
		DB: w.DB, Languages: w.Languages, Edits: w.Editor, CacheBytes: 4 << 20, Now: catalogtest.Now, Logger: catalogtest.Logger(t, slog.LevelError),
		Settings: api.Settings{BaseURL: rightsBase, SignIn: rightsProviders},
	})
	w.addPeople(t)
	return w
}

// addPeople makes the accounts and tokens.
func (w *rightsWorld) addPeople(t *testing.T) {
	access := w.DB.Access()
	tokens := map[catalog.Scope]*person{}
	for _, p := range []*person{
		{scope: catalog.ScopeRead},
		{scope: catalog.ScopeSuggest},
		{scope: catalog.ScopeWrite},
		{scope: catalog.ScopeAdmin},
		{scope: catalog.ScopeRead, projects: []string{"vault"}},
		{scope: catalog.ScopeSuggest, projects: []string{"open"}},
		{scope: catalog.ScopeAdmin, projects: []string{"vault", "open"}},
		{scope: catalog.ScopeWrite, projects: []string{"vault"}, languages: []string{"cs"}},
		{scope: catalog.ScopeWrite, languages: []string{"de", "eo"}},
	} {
		p.name = fmt.Sprint("token ", p.scope, p.projects, p.languages)
		secret, err := access.CreateToken(t.Context(), catalog.Token{Name: p.name, Scope: p.scope, Projects: catalog.Names(p.projects...), Languages: catalog.Names(p.languages...), Created: catalogtest.Now()})
		gittest.Must(t, err)
		p.token, w.people = secret, append(w.people, p)
		if len(p.projects)+len(p.languages) == 0 {
			tokens[p.scope] = p
		}
	}
	// Of accounts, jana of gh has her name first, so another with that name has only its subject.
	for _, a := range []person{
		{names: []string{"gh:jana", "gh:#1"}, provider: "gh", subject: "1"},
		{names: []string{"gh:#2"}, provider: "gh", subject: "2"},
		{names: []string{"lab:jana", "lab:#1"}, provider: "lab", subject: "1"},
		{names: []string{"gh:bob", "gh:#3"}, provider: "gh", subject: "3", blocked: true},
	} {
		made := catalog.Account{Provider: a.provider, Subject: a.subject, Name: "jana", AuthorName: "Jana", AuthorEmail: "jana@example.org"}
		if a.blocked {
			made.Name = "bob"
		}
		var err error
		a.session, _, err = access.SignIn(t.Context(), &made, session.Lifetime)
		gittest.Must(t, err)
		a.name = "account " + a.provider + " " + a.subject
		w.people = append(w.people, &a)
		for _, scope := range catalog.Scopes() {
			own := a
			own.name, own.session, own.scope = fmt.Sprint("token ", scope, " of ", a.name), "", scope
			own.token, err = access.CreatePersonal(t.Context(), &made, catalog.Token{Name: string(scope), Scope: scope})
			gittest.Must(t, err)
			w.people = append(w.people, &own)
		}
		if a.blocked {
			gittest.Must(t, access.ChangeAccount(t.Context(), made.ID, "blocked", "test"))
		}
	}
	for _, p := range w.people { // a browser exchanges a token for a session
		if p.token == "" || p.blocked {
			continue
		}
		v := catalogtest.NewVisitor(t, w.s)
		if rec := v.Post("/login/", url.Values{"token": {p.token}}); rec.Code != http.StatusSeeOther {
			t.Fatalf("%s does not sign in: %d %s", p.name, rec.Code, rec.Body)
		}
		p.session = v.Cookies["__Host-session"]
	}
	w.people = append(w.people, &person{name: "nobody"})
	spammer := w.people[slices.IndexFunc(w.people, func(p *person) bool { return p.subject == "2" && p.scope == catalog.ScopeSuggest })]
	for _, p := range w.parts { // what the API shows an administrator of each
		get := func(target string) string {
			rec := w.ask(tokens[catalog.ScopeAdmin], false, "GET", target, "")
			if rec.Code != http.StatusOK {
				t.Fatalf("%s: %d %s", target, rec.Code, rec.Body)
			}
			return rec.Body.String()
		}
		p.checksum = regexp.MustCompile(`checksum=\w+`).FindString(get("/api/translations/" + p.path() + "de/units/")) // the same in all languages
		p.unit = number(get("/api/translations/"+p.path()+"cs/units/"), "id")
		rec := w.ask(tokens[catalog.ScopeAdmin], false, "POST", fmt.Sprintf("/api/units/%d/suggestions/", p.unit), `{"target": ["tip %d of `+p.mark+`"]}`)
		if rec.Code != http.StatusCreated {
			t.Fatalf("suggesting: %d %s", rec.Code, rec.Body)
		}
		p.suggestion = number(get(fmt.Sprintf("/api/units/%d/suggestions/", p.unit)), "id")
		if p.slug == "app" {
			rec = w.ask(spammer, false, "POST", fmt.Sprintf("/api/units/%d/suggestions/", p.unit), `{"target": ["Spam of %d"]}`)
			if w.spam = number(rec.Body.String(), "id"); rec.Code != http.StatusCreated {
				t.Fatalf("a stranger suggests: %d %s", rec.Code, rec.Body)
			}
		}
		p.units, p.entries = number(get("/api/translations/"+p.path()+"cs/units/"), "count"), number(get("/api/components/"+p.path()+"changes/"), "count")
		p.last = number(get("/api/components/"+p.path()+"changes/?ordering=-id"), "id")
	}
}

// number is the first number of a name in JSON; -1: there is none.
func number(body, name string) int64 {
	m := regexp.MustCompile(`"` + name + `": ?(\d+)`).FindStringSubmatch(body)
	if m == nil {
		return -1
	}
	n, _ := strconv.ParseInt(m[1], 10, 64)
	return n
}

// ask sends a request with somebody's token or session.
func (w *rightsWorld) ask(p *person, browser bool, method, target, body string, header ...string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.serve(w.TB.Context(), rec, p, browser, method, target, body, header...)
	return rec
}

func (w *rightsWorld) serve(ctx context.Context, to http.ResponseWriter, p *person, browser bool, method, target, body string, header ...string) {
	r := catalogtest.Request(method, target, header...).WithContext(ctx)
	r.Body = io.NopCloser(strings.NewReader(body))
	if body != "" && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	switch {
	case browser:
		if !strings.HasPrefix(target, "/api/") {
			r.Header.Set("Accept", catalogtest.Browser)
		}
		r.AddCookie(&http.Cookie{Name: "__Host-session", Value: p.session})
	case p.token != "":
		r.Header.Set("Authorization", "Token "+p.token)
	}
	w.s.ServeHTTP(to, r)
}

// rights are what docs/access.md says of somebody, under a configuration.
type rights struct {
	*person
	browser   bool // it shows a session
	book      catalog.RoleBook
	providers []string        // that are configured
	pushers   map[string]bool // whom the forge lets push
	draw      func(most int) int
}

// alive: a blocked account's sessions and tokens end at once; without its provider they stop
// working.
func (r *rights) alive() bool {
	return !r.account() || !r.blocked && slices.Contains(r.providers, r.provider)
}

// nobody: the request counts as one without a key.
func (r *rights) nobody() bool { return r.token == "" && !r.account() || r.browser && !r.alive() }

// refused: the request has a token that does not count.
func (r *rights) refused() bool { return !r.browser && r.token != "" && !r.alive() }

func (r *rights) in(lists ...[]string) bool {
	return slices.ContainsFunc(slices.Concat(lists...), func(name string) bool { return slices.Contains(r.names, name) })
}

func (r *rights) translates(by map[string][]string, language string) bool {
	return r.in(by[language], by["*"])
}

// sees: readers, translators and admins of a project see what is private in it, and tokens for it.
func (r *rights) sees(p *guarded) bool {
	of := r.book.Projects[p.project]
	switch {
	case !p.private:
		return true
	case r.nobody():
		return false
	case r.account():
		return r.in(r.book.Admins, of.Admins, of.Readers, of.Translators["cs"], of.Translators["de"], of.Translators["*"])
	}
	return len(r.projects) == 0 || slices.Contains(r.projects, p.project)
}

// may says who may suggest, write (edit, and answer suggestions) and administer.
func (r *rights) may(what catalog.Scope, p *guarded, language string) bool {
	of := r.book.Projects[p.project]
	switch {
	case r.nobody(), r.scope != "" && !r.scope.Permits(what), !r.sees(p):
		return false
	case !r.account():
		return (len(r.projects) == 0 || slices.Contains(r.projects, p.project)) && (len(r.languages) == 0 || slices.Contains(r.languages, language))
	case r.in(r.book.Admins, of.Admins):
		return true
	case what == catalog.ScopeAdmin:
		return false
	case what == catalog.ScopeSuggest && !p.private:
		return true
	}
	return r.translates(of.Translators, language) || !p.private && r.translates(r.book.Translators, language) || p.push && r.pushers[r.provider+" "+r.subject]
}

// administers: who has the scope admin for everything.
func (r *rights) administers() bool {
	if r.account() {
		return r.alive() && r.in(r.book.Admins) && (r.scope == "" || r.scope == catalog.ScopeAdmin)
	}
	return r.scope == catalog.ScopeAdmin && len(r.projects) == 0
}

// request is one that people of every kind make, and what must come of it.
type request struct {
	method, target, body string
	of                   *guarded // what it is about; nil: everything
	feed                 bool     // a session does not count
	scope                catalog.Scope
	language             string // that scope and language are needed to write
	all                  bool   // the list has everything that is shown; others have nothing that is hidden
	// counts is what a component adds to the field of a name.
	field  string
	counts func(*guarded) int64
}

// requests are the requests: lists of everything, what is about a component, what writes, forms, those
// of accounts, and streams.
func (w *rightsWorld) requests() (all [6][]request) {
	units, entries := func(p *guarded) int64 { return p.units }, func(p *guarded) int64 { return p.entries }
	list := []request{
		{target: "/api/components/", all: true},
		{target: "/api/components/?format=csv", all: true},
		{target: "/api/translations/?page_size=100", all: true},
		{target: "/api/units/?page_size=1000", all: true},
		{target: "/api/units/?q=language:cs&page_size=2", field: "count", counts: units},
		{target: "/api/changes/?page_size=1000", all: true},
		{target: "/api/changes/?page_size=1", field: "count", counts: entries},
		{target: "/api/changes/?ordering=-id"},
		{target: "/api/users/?page_size=100", all: true},
		{target: "/api/search/?q=K"},
		{target: "/api/languages/cs/statistics/", field: "total", counts: units},
		{target: "/api/statistics/"},
		{target: "/api/checks/"},
		{target: "/api/projects/"},
		{target: "/api/languages/"},
		{target: "/api/addons/"},
		{target: "/"},
		{target: "/projects/"},
		{target: "/changes/"},
		{target: "/search/?q=text"},
		{target: "/search/?q=has:suggestion"},
		{target: "/languages/cs/"},
		{target: "/checks/"},
		{target: "/languages/"},
		{target: "/exports/rss/", feed: true},
		{target: "/exports/atom/", feed: true},
		{target: "/api/changes/stream/"},
		{method: "FORM", target: "/account/", body: "do=other"},
		{method: "FORM", target: "/accounts/", body: "do=block:99999"},
	}
	for _, scope := range catalog.Scopes() {
		list = append(list, request{method: "FORM", target: "/account/", body: "do=token&scope=" + string(scope)})
	}
	for _, p := range w.parts {
		unit := fmt.Sprintf("/api/units/%d/", p.unit)
		for _, target := range []string{
			"/api/components/" + p.path(), "/api/components/" + p.path() + "changes/", "/api/components/" + p.path() + "file/", "/api/translations/" + p.path() + "cs/", "/api/translations/" + p.path() + "cs/units/", "/api/translations/" + p.path() + "de/file/",
			"/api/translations/" + p.path() + "cs/edits/", "/api/components/" + p.path() + "repository/", "/api/translations/" + p.path() + "cs/statistics/history/",
			unit, unit + "suggestions/", unit + "changes/", fmt.Sprintf("/api/changes/%d/", p.last), fmt.Sprintf("/api/edits/%d/", p.suggestion), "/translate/" + p.path() + "cs/?" + p.checksum, "/api/users/author-of-" + strings.ToLower(p.mark) + "/",
			"/projects/" + p.path(), "/projects/" + p.path() + "cs/", "/translate/" + p.path() + "cs/", "/translate/" + p.path() + "cs/?q=text", "/changes/browse/" + p.path(), "/user/author-of-" + strings.ToLower(p.mark) + "/", "/projects/" + p.path() + "cs/?suggestions=1",
		} {
			list = append(list, request{target: target, of: p})
		}
		for _, target := range []string{"/exports/rss/" + p.path(), "/exports/stats/" + p.path(), "/exports/atom/" + p.path() + "cs/", "/widget/" + p.path() + "svg-badge.svg"} {
			list = append(list, request{target: target, of: p, feed: true})
		}
		for _, language := range []string{"cs", "de"} {
			in := "/api/translations/" + p.path() + language + "/"
			for do, scope := range map[string]catalog.Scope{"suggest": catalog.ScopeSuggest, "save": catalog.ScopeWrite} {
				list = append(list, request{method: "FORM", target: "/translate/" + p.path() + language + "/?" + p.checksum, body: "do=" + do + "&target=x&target=y", of: p, scope: scope, language: language})
			}
			list = append(list, request{"POST", in + "file/", `{}`, p, false, catalog.ScopeSuggest, language, false, "", nil}, request{"POST", in + "units/", `{}`, p, false, catalog.ScopeWrite, language, false, "", nil})
		}
		for _, page := range []string{"/projects/" + p.path() + "cs/?suggestions=1", "/projects/" + p.project + "/-/cs/?suggestions=1"} {
			list = append(list, request{method: "FORM", target: page, body: fmt.Sprintf("do=accept:%[1]d&target%[1]d=x", p.suggestion), of: p, scope: catalog.ScopeWrite, language: "cs"})
		}
		list = append(list, request{target: "/api/components/" + p.path() + "changes/stream/", of: p}, request{target: "/api/projects/" + p.project + "/changes/stream/", of: p})
		answer := fmt.Sprintf("/api/suggestions/%d/", p.suggestion)
		for _, q := range []request{
			{method: "POST", target: unit + "suggestions/", scope: catalog.ScopeSuggest},
			{method: "PATCH", target: unit, scope: catalog.ScopeWrite},
			{method: "PUT", target: unit, scope: catalog.ScopeWrite},
			{method: "POST", target: answer + "accept/", body: `{"approve": true}`, scope: catalog.ScopeWrite},
			{method: "POST", target: "/api/components/" + p.path() + "lock/", scope: catalog.ScopeAdmin},
			{method: "POST", target: "/api/components/" + p.path() + "repository/", scope: catalog.ScopeAdmin},
			{method: "POST", target: "/api/components/" + p.path() + "requests/", scope: catalog.ScopeAdmin},
			{method: "POST", target: "/api/translations/" + p.path() + "cs/repository/", scope: catalog.ScopeAdmin},
			{method: "DELETE", target: "/api/translations/" + p.path() + "cs/", scope: catalog.ScopeAdmin},
		} {
			if q.of, q.language = p, "cs"; q.body == "" && q.method != "DELETE" {
				q.body = `{}`
			}
			list = append(list, q)
		}
	}
	for _, q := range list {
		kind := 0
		switch {
		case q.method == "FORM" && q.of == nil:
			kind = 5
		case q.method == "FORM":
			kind = 3
		case q.method != "":
			kind = 2
		case strings.Contains(q.target, "/stream/"):
			kind = 4
		case q.of != nil:
			kind = 1
		}
		all[kind] = append(all[kind], q)
	}
	return all
}

// TestWhoMayWhat: whoever asks, with whatever key, sees and may exactly what the table of
// docs/access.md says, under drawn configurations.
func TestWhoMayWhat(t *testing.T) {
	t.Parallel()
	w := newRightsWorld(t)
	requests, extra := w.requests(), []*person(nil)
	for _, p := range w.people {
		if p.token == "" { // nobody, and accounts themselves
			extra = append(extra, p, p)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := w.draw(rt)
		for range 2 {
			r.person = rapid.SampledFrom(append(w.people, extra...)).Draw(rt, "person")
			r.browser = r.token == "" || r.session != "" && rapid.Bool().Draw(rt, "by session")
			who := fmt.Sprintf("%s, session %v, roles %+v, providers %v, pushers %v", r.name, r.browser, r.book, r.providers, r.pushers)
			for range 10 {
				q := rapid.SampledFrom(rapid.SampledFrom(requests[:]).Draw(rt, "kind")).Draw(rt, "request")
				if problem := w.judge(r, &q); problem != "" {
					rt.Fatalf("%s\n%s %s: %s", who, q.method, q.target, problem)
				}
			}
		}
	})
	w.Verify()
}

// draw draws a configuration.
func (w *rightsWorld) draw(rt *rapid.T) *rights {
	names := []string{"gh:jana", "gh:jana", "gh:#1", "gh:#2", "lab:jana", "lab:#1", "gh:bob", "gh:#9"}
	some := func(what string) []string { return rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(rt, what) }
	translators := func(where string) map[string][]string {
		return map[string][]string{rapid.SampledFrom([]string{"cs", "de", "*"}).Draw(rt, where+" language"): some(where + " translators")}
	}
	number := func(most int) int { return rapid.IntRange(0, most).Draw(rt, "number") }
	r := &rights{draw: number, providers: []string{"gh"}, pushers: map[string]bool{}, book: catalog.RoleBook{Projects: map[string]catalog.ProjectRoles{}}}
	if r.book.Translators = translators("server"); rapid.IntRange(0, 3).Draw(rt, "admins of all") == 0 {
		r.book.Admins = some("admins")
	}
	for _, slug := range []string{"open", "vault", "cell"} {
		if rapid.Bool().Draw(rt, "roles in "+slug) {
			r.book.Projects[slug] = catalog.ProjectRoles{Admins: some(slug + " admins"), Readers: some(slug + " readers"), Translators: translators(slug)}
		}
	}
	configured := rightsProviders[:1]
	if rapid.IntRange(0, 3).Draw(rt, "second provider") > 0 {
		r.providers, configured = []string{"gh", "lab"}, rightsProviders
	}
	for _, p := range w.people {
		if p.account() && p.scope == "" && rapid.Bool().Draw(rt, p.name+" pushes") {
			r.pushers[p.provider+" "+p.subject] = true
		}
	}
	w.s.Update(api.Settings{BaseURL: rightsBase, SignIn: configured, Roles: r.book, Pushes: func(a *catalog.Account, c *store.ComponentRow) (bool, func(context.Context)) {
		return c.Slug == "push" && r.pushers[a.Provider+" "+a.Subject], nil
	}})
	return r
}

// judge sends a request, and says what is wrong with the answer.
func (w *rightsWorld) judge(r *rights, q *request) string {
	who := *r
	if q.feed && r.browser {
		who.person, who.browser = &person{name: "nobody"}, false
	}
	switch {
	case q.method == "FORM":
		return w.judgeForm(r, q)
	case strings.Contains(q.target, "/stream/"):
		return w.judgeStream(r, q)
	case q.scope == "":
		return w.judgeRead(&who, r, q)
	}
	may := who.may(q.scope, q.of, q.language)
	if may && q.method == "DELETE" {
		return ""
	}
	rec := w.ask(r.person, r.browser, q.method, q.target, q.body)
	want := []int{http.StatusForbidden}
	switch {
	case who.refused(), r.browser, who.nobody(): // a session counts for no request to the API that writes
		want = []int{http.StatusUnauthorized}
	case !who.sees(q.of):
		want = []int{http.StatusNotFound, http.StatusForbidden}
	case may:
		want = []int{http.StatusBadRequest}
	}
	if !slices.Contains(want, rec.Code) {
		return fmt.Sprintf("%d %.300s, want %d", rec.Code, rec.Body, want)
	}
	return ""
}

func (w *rightsWorld) judgeRead(who, by *rights, q *request) string {
	before := w.seen[q.target]
	rec := w.ask(by.person, by.browser, "GET", q.target, "", "If-None-Match", before.tag)
	body := rec.Body.String()
	if rec.Code == http.StatusNotModified { // it is told that it has what somebody was sent
		rec.Code, body = http.StatusOK, before.body
	} else if tag := rec.Header().Get("ETag"); rec.Code == http.StatusOK && tag != "" {
		w.seen[q.target] = keptAnswer{tag, body}
	}
	if who.refused() {
		if rec.Code != http.StatusUnauthorized {
			return fmt.Sprintf("%d to a token that does not count", rec.Code)
		}
		return ""
	}
	if q.of != nil {
		if want := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[who.sees(q.of)]; rec.Code != want {
			return fmt.Sprintf("%d, want %d", rec.Code, want)
		}
	} else if rec.Code != http.StatusOK {
		return fmt.Sprintf("%d %.300s", rec.Code, body)
	}
	cell := w.parts[len(w.parts)-1]
	switch eo := strings.Contains(body, `"eo"`) || strings.Contains(body, "/languages/eo/"); {
	case eo && !who.sees(cell), !eo && who.sees(cell) && q.target == "/api/languages/":
		return fmt.Sprintf("a language of a private component alone: %v", eo)
	case q.of != cell && strings.Contains(body, "/projects/cell/") && !who.sees(cell): // errors repeat the address
		return "it shows a private project"
	case who.nobody() && strings.Contains(body, "Spam of"):
		return "it shows a stranger's text"
	}
	sum := int64(0)
	for _, p := range w.parts {
		shown := strings.Contains(strings.ToLower(body), strings.ToLower(p.mark)) || strings.Contains(body, "/"+p.path())
		switch sees := who.sees(p); {
		case shown && !sees && p != q.of:
			return fmt.Sprintf("it shows %s: %.2000s", p.mark, body)
		case !shown && sees && q.all:
			return fmt.Sprintf("it lacks %s: %.2000s", p.mark, body)
		case sees && q.counts != nil:
			sum += q.counts(p)
		}
	}
	if q.counts != nil && number(body, q.field) != sum {
		return fmt.Sprintf("%s is not %d: %.300s", q.field, sum, body)
	}
	return ""
}

// judgeForm sends a form as a page of this server does, and now and then as others do.
func (w *rightsWorld) judgeForm(r *rights, q *request) string {
	token, site := session.FormToken(r.session), "same-origin"
	foreign := r.draw(9)
	switch {
	case !r.browser:
		return ""
	case foreign == 0:
		site = "cross-site"
	case foreign == 1:
		token = session.FormToken(r.session + "x")
	}
	rec := w.ask(r.person, true, "POST", q.target, q.body+"&form="+url.QueryEscape(token), "Sec-Fetch-Site", site, "Content-Type", "application/x-www-form-urlencoded")
	body, want := rec.Body.String(), http.StatusForbidden
	own := r.account() && r.scope == "" // a session of the account itself
	switch _, scope, _ := strings.Cut(q.body, "scope="); {
	case r.nobody():
		want = http.StatusSeeOther // to sign in
	case foreign < 2:
	case q.target == "/accounts/" && r.administers():
		want = http.StatusNotFound
	case q.of == nil && scope != "" && own && r.mayMake(w, catalog.Scope(scope)):
		want = http.StatusConflict // it has no name
	case q.of == nil:
	case !r.sees(q.of) && strings.Contains(q.target, "/-/"):
		want = 0
	case !r.sees(q.of):
		want = http.StatusNotFound
	case strings.Contains(q.body, "accept"):
		want = http.StatusConflict
	case r.may(q.scope, q.of, q.language):
		want = http.StatusBadRequest
	}
	if rec.Code != want && want != 0 {
		return fmt.Sprintf("%s: %d %.300s, want %d", q.body, rec.Code, body, want)
	}
	if used := strings.Contains(body, "The program could not use this text."); strings.Contains(q.body, "accept") && used != (foreign >= 2 && r.may(q.scope, q.of, q.language)) {
		return fmt.Sprintf("%s: it may: %v; %.300s", q.body, used, body)
	}
	return ""
}

// mayMake: an account makes tokens that can do no more than it can.
func (r *rights) mayMake(w *rightsWorld, scope catalog.Scope) bool {
	return scope != catalog.ScopeAdmin || slices.ContainsFunc(w.parts, func(p *guarded) bool { return r.may(scope, p, "cs") })
}

// judgeStream reads a stream from the first entry to the newest that is shown.
func (w *rightsWorld) judgeStream(r *rights, q *request) string {
	ctx, cancel := context.WithTimeout(w.TB.Context(), 20*time.Second)
	defer cancel()
	last := int64(0)
	for _, p := range w.parts {
		if in := q.of == nil || p == q.of || strings.Contains(q.target, "/projects/"+p.project+"/"); in && r.sees(p) {
			last = max(last, p.last)
		}
	}
	out := &streamWriter{ResponseRecorder: httptest.NewRecorder(), until: fmt.Sprintf("id: %d\n", last), enough: cancel}
	if last == 0 {
		return ""
	}
	w.serve(ctx, out, r.person, r.browser, "GET", q.target+"?after_id=0", "")
	body := out.Body.String()
	switch {
	case r.refused():
		if out.Code == http.StatusUnauthorized {
			return ""
		}
		return fmt.Sprintf("%d to a token that does not count", out.Code)
	case q.of != nil && !r.sees(q.of) && strings.Contains(q.target, "/components/"):
		if out.Code == http.StatusNotFound {
			return ""
		}
		return fmt.Sprintf("%d for what is hidden", out.Code)
	case !strings.Contains(body, out.until):
		return fmt.Sprintf("%d, it ends before %q: %.300s", out.Code, out.until, body)
	}
	for _, p := range w.parts {
		if strings.Contains(body, p.mark) && !r.sees(p) {
			return "it shows " + p.mark
		}
	}
	return ""
}

// streamWriter ends a request when an entry was sent.
type streamWriter struct {
	*httptest.ResponseRecorder
	until  string
	enough func()
}

func (s *streamWriter) Flush() {
	if strings.Contains(s.Body.String(), s.until+"event") {
		s.enough()
	}
}
