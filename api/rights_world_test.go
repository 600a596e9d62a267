package api_test

import (
	"cmp"
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

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/gitexport"
	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/api/signin"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/gitsource"
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
	often  []*person // who asks, as often as they are in it
	git    http.Handler
	seen   map[string]keptAnswer // answers of before, by target
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
	// scope is what the token permits; "" if the account signed in itself.
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
	w.git = gitexport.New(func(r *http.Request, project, component string) (gitexport.Mirror, string, error) {
		_, client, ask, err := w.s.Clonable(r, project, component)
		switch {
		case ask:
			err = gitexport.ErrCredentials
		case err == nil:
			err = gitsource.ErrNotFetched
		}
		return nil, client, err
	}, w.s.Client, nil)
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
	for _, p := range w.people {
		n := 1
		switch {
		case p.blocked, !p.account() && p.token != "" && len(p.languages) == 0:
		case p.scope == catalog.ScopeAdmin:
			n = 6
		case p.scope == "", p.scope == catalog.ScopeWrite:
			n = 4
		}
		w.often = append(w.often, slices.Repeat([]*person{p}, n)...)
	}
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
		if !p.private {
			rec = w.ask(spammer, false, "POST", fmt.Sprintf("/api/units/%d/suggestions/", p.unit), `{"target": ["Spam of %d"]}`)
			if rec.Code != http.StatusCreated {
				t.Fatalf("a stranger suggests: %d %s", rec.Code, rec.Body)
			}
		}
		p.units, p.entries = number(get("/api/translations/"+p.path()+"cs/units/"), "count"), number(get("/api/components/"+p.path()+"changes/"), "count")
		p.last = number(get("/api/components/"+p.path()+"changes/?ordering=-id"), "id")
	}
}

// number returns the first number that a JSON text has under a name, or -1.
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

// kind is a kind of request: lists of everything, what is about a component, what writes, forms,
// streams, forms of accounts, and clones.
type kind int

const (
	lists kind = iota
	reads
	writes
	forms
	streams
	accountForms
	clones
)

// requests are the requests by kind and component; nil: about everything.
func (w *rightsWorld) requests() map[kind]map[*guarded][]request {
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
			"/projects/" + p.path(), "/projects/" + p.path() + "cs/", "/translate/" + p.path() + "cs/", "/translate/" + p.path() + "cs/?q=text", "/changes/browse/" + p.path(), "/new-lang/" + p.path() + "?lang=ia", "/user/author-of-" + strings.ToLower(p.mark) + "/", "/projects/" + p.path() + "cs/?suggestions=1",
		} {
			list = append(list, request{target: target, of: p})
		}
		for _, target := range []string{"/exports/rss/" + p.path(), "/exports/stats/" + p.path(), "/exports/atom/" + p.path() + "cs/", "/widget/" + p.path() + "svg-badge.svg"} {
			list = append(list, request{target: target, of: p, feed: true})
		}
		for _, language := range []string{"cs", "de"} {
			in := "/api/translations/" + p.path() + language + "/"
			for do, scope := range map[string]catalog.Scope{"suggest": catalog.ScopeSuggest, "save": catalog.ScopeWrite, "look": catalog.ScopeSuggest} {
				list = append(list, request{method: "FORM", target: "/translate/" + p.path() + language + "/?" + p.checksum, body: "do=" + do + "&target=x&target=y", of: p, scope: scope, language: language})
			}
			list = append(list, request{"POST", in + "file/", `{}`, p, false, catalog.ScopeSuggest, language, false, "", nil}, request{"POST", in + "units/", `{}`, p, false, catalog.ScopeWrite, language, false, "", nil})
		}
		list = append(list, request{method: "FORM", target: "/new-lang/" + p.path() + "?lang=ia", of: p, scope: catalog.ScopeWrite, language: "ia"})
		for _, page := range []string{"/projects/" + p.path() + "cs/?suggestions=1", "/projects/" + p.project + "/-/cs/?suggestions=1"} {
			list = append(list, request{method: "FORM", target: page, body: fmt.Sprintf("do=accept:%[1]d&target%[1]d=x", p.suggestion), of: p, scope: catalog.ScopeWrite, language: "cs"})
		}
		list = append(list, request{target: "/api/components/" + p.path() + "changes/stream/", of: p}, request{target: "/api/projects/" + p.project + "/changes/stream/", of: p}, request{target: "/git/" + p.path(), of: p})
		answer, edit := fmt.Sprintf("/api/suggestions/%d/", p.suggestion), fmt.Sprintf("/api/edits/%d/", p.suggestion)
		for _, q := range []request{
			{method: "POST", target: unit + "suggestions/", scope: catalog.ScopeSuggest},
			{method: "PATCH", target: unit, scope: catalog.ScopeWrite},
			{method: "PUT", target: unit, scope: catalog.ScopeWrite},
			{method: "POST", target: answer + "accept/", body: `{"approve": true}`, scope: catalog.ScopeWrite},
			{method: "POST", target: answer + "accept/", body: `{"approve": 1}`, scope: catalog.ScopeWrite},
			{method: "POST", target: answer + "reject/", body: `[`, scope: catalog.ScopeSuggest},
			{method: "DELETE", target: edit, scope: catalog.ScopeWrite},
			{method: "POST", target: edit + "restore/", body: "done", scope: catalog.ScopeWrite},
			{method: "POST", target: "/api/components/" + p.path() + "translations/", scope: catalog.ScopeWrite, language: anyLanguage},
			{method: "POST", target: "/api/projects/" + p.project + "/lock/", scope: catalog.ScopeAdmin},
			{method: "POST", target: "/api/projects/" + p.project + "/repository/", scope: catalog.ScopeAdmin},
			{method: "POST", target: "/api/components/" + p.path() + "lock/", scope: catalog.ScopeAdmin},
			{method: "POST", target: "/api/components/" + p.path() + "repository/", scope: catalog.ScopeAdmin},
			{method: "POST", target: "/api/components/" + p.path() + "requests/", scope: catalog.ScopeAdmin},
			{method: "POST", target: "/api/translations/" + p.path() + "cs/repository/", scope: catalog.ScopeAdmin},
			{method: "DELETE", target: "/api/translations/" + p.path() + "cs/", scope: catalog.ScopeAdmin},
		} {
			if q.of, q.language = p, cmp.Or(q.language, "cs"); q.body == "" && q.method != "DELETE" {
				q.body = `{}`
			}
			list = append(list, q)
		}
	}
	all := map[kind]map[*guarded][]request{}
	for _, q := range list {
		kind := lists
		switch {
		case q.method == "FORM" && q.of == nil:
			kind = accountForms
		case q.method == "FORM":
			kind = forms
		case q.method != "":
			kind = writes
		case strings.Contains(q.target, "/stream/"):
			kind = streams
		case strings.HasPrefix(q.target, "/git/"):
			kind = clones
		case q.of != nil:
			kind = reads
		}
		if all[kind] == nil {
			all[kind] = map[*guarded][]request{}
		}
		all[kind][q.of] = append(all[kind][q.of], q)
	}
	return all
}
