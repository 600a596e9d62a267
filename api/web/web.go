// Package web has the pages for people: what stands where, how far every language is,
// what changed, what is broken, and every string with its history.
//
// A page is a function that reads a snapshot of the store into a view, and a template
// of templates/ that shows it. Both see only what api/resource lets a client see, and
// every page names the answers of the API with the same facts.
//
// Goals: everything works without scripts, from 320 px on, in the dark, in print, with
// a keyboard and a screen reader, from left to right and from right to left. Numbers
// are honest: the source language does not count, and strings that a file lacks do.
// Non-goals: the browsable API, which api/page makes of the API's answers.
//
// The page of a string has a form for sessions that may edit it (edit.go). It works
// without a script; edit.js adds keys, keeps texts that are not saved, and asks what saving would answer.
//
// Texts are English in the templates and in calls of T and N; `go generate` collects
// them for the translators (api/web/intl).
//
// There is one clock: the timestamp of an entry, which lists are ordered by, filters, curves, last
// changes and contributors count by, and pages show first; a commit that was made earlier has its
// own time beside it.
//
// What costs more than rows of the page is bounded. The history of one component is in the order of its commits and of time; that
// of a project stays in the order of ids, since an order by time would need an index that every
// pull would write. Only pages below /translate/ have a script, for sessions that may edit: only
// their policy allows one. A form has the fingerprint of the text that its reader saw, and the
// store refuses the edit if the string has another one by then. In a page from right to left
// every name that a sentence is made of is isolated (intl.Language).
package web

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web/intl"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

//go:generate go test . -run TestTranslationsDrift -update

//go:embed templates
var files embed.FS

//go:embed templates/style.css
var style string

// Policy is the Content-Security-Policy of the pages: their own style, and pictures of
// this server.
const Policy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// PolicyOf is the Content-Security-Policy of a page: those with strings to edit may load the
// script of this server, which asks it what checks say.
func PolicyOf(path string, signedIn bool) string {
	if signedIn && strings.HasPrefix(path, "/translate/") {
		return Policy + "; script-src 'self'; connect-src 'self'"
	}
	return Policy
}

// Edits reports whether forms are sent to a path.
func Edits(path string) bool {
	return strings.HasPrefix(path, "/translate/") || strings.HasPrefix(path, "/projects/") || strings.HasPrefix(path, "/new-lang/") || path == "/account/" || path == "/accounts/"
}

// What pages show at most, and what they look through for it.
const (
	newest            = 12 // changes, on pages about other things
	newestCommits     = 8  // on pages about other things
	commitParts       = 4  // translations of a commit that are named there
	changesOnPage     = 50 // also of somebody
	projectsOnPage    = 100
	componentsOnPage  = 80
	placesOnPage      = 100 // where a check fails
	stringsOnPage     = 50
	nearby            = 3  // strings before and after one
	suggestionsOnPage = 20 // each has a form
	groupsOnPage      = 30 // of a search: each unit that it finds is one string of a component

	maxColumns, maxRows      = 20, 80 // of a matrix
	maxCells                 = 1000
	trendDays, sparkDays     = 30, 90
	maxCurves                = 8  // of a chart; colours do not tell more apart
	curveRows                = 16 // days in the table beside a chart
	minWeekBars, maxWeekBars = 13, 104
	maxContributors          = 20
	maxAuthors               = 1000 // of the page with all of them
	maxProblems              = 50
	maxShown                 = 4000  // characters of one text
	maxElsewhere             = 40    // components that are searched for the same string
	maxLooked                = 2000  // strings that the template has no more, whose texts may serve for one that the file lacks
	maxNamed                 = 10    // things with a name that is looked for
	maxOffers                = 3     // of these texts
	maxPartStrings           = 5000  // of a file with a table by folder, which reads all
	minParts, maxParts       = 2, 60 // of that table; fewer say nothing
	maxNext                  = 1000  // length of the address to which signing in leads back
)

// Cookie names the cookie, and the parameter, with the language that a reader chose for the pages.
// besideCookie names those with the language whose text is shown beside the source.
const (
	Cookie       = "ui"
	besideCookie = "beside"
)

// languageCode matches what besideCookie may hold: a code, or "-" for none.
var languageCode = regexp.MustCompile(`^[\w@.-]{1,50}$`)

// Pages makes the pages. It is immutable and safe for concurrent use.
type Pages struct {
	env    *resource.Env
	now    func() time.Time
	table  *intl.Table
	sets   map[string]*template.Template // by tag of the language
	manual []theme
	others func() []Provider
	mails  func() bool
}

// Provider is a way to sign in with an account of elsewhere, at /login/ID/.
type Provider struct{ ID, Name string }

// New makes the pages of a server. now is its clock, others are the providers, and mails reports
// whether it sends mail. The templates and translations are
// a part of the program, so one that cannot be read is a panic.
func New(env *resource.Env, now func() time.Time, others func() []Provider, mails func() bool) *Pages {
	table, err := intl.New()
	if err != nil {
		panic(err)
	}
	p := &Pages{env: env, now: now, table: table, sets: map[string]*template.Template{}, manual: readManual(), others: others, mails: mails}
	for _, l := range table.All {
		p.sets[l.Tag] = template.Must(template.New("pages").Funcs(p.funcs(l)).ParseFS(files, "templates/*.html"))
	}
	return p
}

func (p *Pages) funcs(l *intl.Language) template.FuncMap {
	return template.FuncMap{
		"t": l.T, "n": l.N, "num": l.Number, "pct": l.Percent, "signed": l.Signed, "day": l.Day, "time": l.Time,
		"iso":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"name":   func(code string) string { return p.nameOf(l, code) },
		"tag":    intl.TagOf,
		"dir":    func(code string) string { return p.env.Language(code).Direction },
		"show":   visible,
		"lines":  func(text string) string { return visible(forms(text)) },
		"texts":  showForms,
		"bidi":   bidi,
		"path":   path,
		"list":   func(items ...any) []any { return items },
		"int64":  func(n int) int64 { return int64(n) },
		"num64":  func(n int) string { return l.Number(int64(n)) },
		"remote": func(repo string) bool { return strings.Contains(repo, "://") && !strings.HasPrefix(repo, "file:") },
		"isList": func(body any) bool { _, ok := body.(stringList); return ok },
	}
}

type link struct {
	Name, URL string
	// Current says that it leads to what is shown.
	Current bool
	// Count is shown behind the name if it is not 0.
	Count int64
	// Lang is the language of Name if it is not that of the page.
	Lang string
}

// view is what the templates show: the frame, and in Body what a page is about.
type view struct {
	L       *intl.Language
	Title   string // of the window, the narrowest first
	Heading string
	Sub     string // a line below the heading
	Crumbs  []link
	API     string // the path of the API's answer with the same facts
	APIs    []link // further answers
	Feeds   []link
	UI      []link // the languages of the pages
	Query   string // in the search field of the frame
	Refresh int    // seconds after which the page is loaded again; 0: never
	Live    bool   // it shows what changes without the store: it is never kept
	Keep    rest.Keep
	Compare string // the page that compares commits of Changes
	Style   template.CSS
	Body    any

	// Template names the page's template, if its route names another one.
	Template string
	Next     string // where the reader is sent instead

	// What several pages have.
	Problems  []problem
	Importing []importing
	About     tally
	Pages     paging
	Curve     curve
	Activity  activity
	Changes   []change
	Commits   []commit
	Downloads []link
	Badges    []badge

	Path     string
	SignedIn bool   // whether the reader has a session
	Account  string // the name of the reader's account or token; "" without one
	SignIn   string // the page where it begins or ends

	accepted []string
	params   rest.Params
	now      time.Time // the end of the day in UTC: all day long, and by every process, pages are the same
}

// build reads what a page shows.
type build func(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error

// route makes the route of a page. of is the path of the API's answer with the same
// facts: programs that ask for JSON are sent there.
func (p *Pages) route(pattern, name, template string, of func(r *rest.Request) string, fill build) resource.Route {
	return resource.Route{
		Path: pattern, Allow: resource.AllowRead, Name: name, About: "A page for people.", Kind: resource.KindPage,
		Handle: func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
			if !acceptsPage(r.HTTP) {
				return rest.Redirect(of(r)), nil
			}
			v := p.newView(r.HTTP, r.Params)
			v.API = of(r)
			if err := fill(ctx, snap, r, v); err != nil {
				return nil, err
			}
			if v.Next != "" {
				return rest.Redirect(v.Next), nil
			}
			body, err := p.execute(cmp.Or(v.Template, template), v)
			return &rest.Document{ContentType: rest.TypeHTML, Body: body, Live: v.Live, Keep: v.Keep}, err
		},
	}
}

// of makes the page of what find finds for the client; about sets its frame.
func of[T any](
	find func(context.Context, *store.Snapshot, *rest.Request) (T, error), about func(*view, *T),
	fill func(context.Context, *store.Snapshot, *rest.Request, *view, *T) error,
) build {
	return func(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error {
		object, err := find(ctx, snap, r)
		if err != nil {
			return err
		}
		about(v, &object)
		return fill(ctx, snap, r, v, &object)
	}
}

// acceptsPage reports whether a client takes HTML: most that name nothing or anything
// are people's.
func acceptsPage(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return accept == "" || strings.Contains(accept, "text/html") || strings.Contains(accept, "*/*") || strings.Contains(accept, "text/*")
}

// reader returns the language of the pages for a request, and the languages that its
// sender reads.
func (p *Pages) reader(r *http.Request, params rest.Params) (*intl.Language, []string) {
	asked, _ := params.Get("ui")
	chosen := ""
	if c, err := r.Cookie(Cookie); err == nil {
		chosen = c.Value
	}
	accepted := intl.Accepted(r.Header.Get("Accept-Language"))
	l := p.table.Choose(asked, chosen, accepted)
	if l.Tag == asked || l.Tag == chosen { // what was chosen goes before what the browser says
		accepted = append([]string{l.Tag}, slices.DeleteFunc(accepted, func(code string) bool { return code == l.Tag })...)
	}
	return l, accepted
}

// Key is everything of a request, besides its URL and what it may see, that a page
// depends on. It is short: there are few languages, and at most eight accepted ones.
func (p *Pages) Key(r *http.Request) string {
	l, accepted := p.reader(r, rest.ParseQuery(r.URL.RawQuery))
	html := "json"
	if acceptsPage(r) {
		html = "html"
	}
	return html + "|" + l.Tag + "|" + strings.Join(accepted, ",") + "|" + p.now().UTC().Format(time.DateOnly) + "|" + beside(r)
}

// beside is the code of the language whose text a reader has beside the source; "" without one.
func beside(r *http.Request) string {
	code, asked := rest.ParseQuery(r.URL.RawQuery).Get(besideCookie)
	if c, err := r.Cookie(besideCookie); err == nil && !asked {
		code = c.Value
	}
	if !Edits(r.URL.Path) || !languageCode.MatchString(code) {
		return ""
	}
	return code
}

// ChosenCookie is the cookie that keeps a language that a request asks for with the
// parameter ui, otherwise beside; "" if it asks for none that is known.
func (p *Pages) ChosenCookie(rawQuery string) string {
	if !strings.Contains(rawQuery, Cookie+"=") && !strings.Contains(rawQuery, besideCookie+"=") {
		return ""
	}
	params, name := rest.ParseQuery(rawQuery), Cookie
	asked, _ := params.Get(Cookie)
	if p.table.Named(asked) == nil {
		name = besideCookie
		if asked, _ = params.Get(name); !languageCode.MatchString(asked) {
			return ""
		}
	}
	c := http.Cookie{Name: name, Value: asked, Path: "/", MaxAge: 365 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	return c.String()
}

// Paths reports whether a path may be a page's: everything that is neither the API's
// nor an export.
func Paths(path string) bool {
	below := func(prefix string) bool { return strings.HasPrefix(path, prefix) }
	return path != "/api" && !slices.ContainsFunc([]string{"/api/", "/exports/", "/widget/", "/widgets/"}, below)
}

func (p *Pages) newView(r *http.Request, params rest.Params) *view {
	l, accepted := p.reader(r, params)
	v := &view{
		L: l, accepted: accepted, Path: r.URL.EscapedPath(), params: params, Style: template.CSS(style),
		now:      p.now().UTC().Truncate(24 * time.Hour).Add(24*time.Hour - 1),
		SignedIn: rest.AccessOf(r.Context()).Session != "", SignIn: path("login"),
	}
	if a := rest.AccessOf(r.Context()); a.Token.Account != nil && v.SignedIn {
		v.Account, v.SignIn = catalog.PersonName(a.Token.AuthorName), "/account/"
	} else if v.SignedIn {
		v.Account = a.Token.Name
	} else if here := r.URL.RequestURI(); v.Path != v.SignIn && v.Path != "/logout/" && len(here) < maxNext {
		v.SignIn += "?next=" + url.QueryEscape(here)
	}
	for _, other := range p.table.All {
		v.UI = append(v.UI, link{Name: other.Name, URL: v.with("ui", other.Tag), Current: other == l, Lang: other.Tag})
	}
	return v
}

// with is the page's own address with another value of a parameter; "" removes it.
// The number of the page is forgotten, and the place in a search unless only a language is chosen.
func (v *view) with(name, value string) string {
	q, forgotten := url.Values{}, []string{name, "page", "format", "saved", Cookie, besideCookie}
	if name != Cookie && name != besideCookie {
		forgotten = append(forgotten, "offset", "gone")
	}
	for _, p := range v.params {
		if !slices.Contains(forgotten, p.Name) {
			q.Set(p.Name, p.Value)
		}
	}
	if value != "" {
		q.Set(name, value)
	}
	if len(q) == 0 {
		return v.Path
	}
	return v.Path + "?" + q.Encode()
}

func (v *view) param(name string) string {
	value, _ := v.params.Get(name)
	return value
}

// pageOf is the path with the number of another page.
func (v *view) pageOf(name string, n int) string {
	if n <= 1 {
		return v.with(name, "")
	}
	return v.with(name, fmt.Sprint(n))
}

// named sets the heading; the title of the window has more names after it.
func (v *view) named(heading string, more ...string) {
	v.Heading, v.Title = heading, strings.Join(append([]string{heading}, more...), " · ")
}

// feeds sets the feeds of a page about something.
func (v *view) feeds(of ...string) {
	v.Feeds = []link{
		{Name: "Atom", URL: path(append([]string{"exports", "atom"}, of...)...)},
		{Name: "RSS", URL: path(append([]string{"exports", "rss"}, of...)...)},
	}
}

type choice struct{ value, name string }

// choices are links to values of a parameter.
func (v *view) choices(parameter, current string, of ...choice) (list []link) {
	for _, c := range of {
		list = append(list, link{Name: c.name, URL: v.with(parameter, c.value), Current: current == c.value})
	}
	return list
}

// Kept are parameters that a form keeps, with their values as URL.
func (v *view) Kept(parameters ...string) (list []link) {
	for _, name := range parameters {
		if value := v.param(name); value != "" {
			list = append(list, link{Name: name, URL: value})
		}
	}
	return list
}

// number is a parameter from 1 on, 1 if it is none.
func (v *view) number(name string) int {
	n := 0
	if _, err := fmt.Sscan(v.param(name), &n); err != nil || n < 1 || n > 1<<30 {
		return 1
	}
	return n
}

// order is the name of the order that the page's address asks for; "" is by name.
func (v *view) order() string {
	if by := v.param("sort"); orders[by] != nil {
		return by
	}
	return ""
}

// Orders are the choices of orders.
func (v *view) Orders() []link {
	return v.choices(
		"sort", v.order(), choice{"", v.L.T("name")}, choice{"done", v.L.T("translated")}, choice{"left", v.L.T("strings left")},
		choice{"failing", v.L.T("failing checks")}, choice{"changed", v.L.T("last change")},
	)
}

// Filters are the choices of rows.
func (v *view) Filters() []link {
	return v.choices("only", v.param("only"),
		choice{"", v.L.T("everything")}, choice{"unfinished", v.L.T("unfinished")}, choice{"failing", v.L.T("with failing checks")})
}

// filtered reports whether the filter that the page's address names leaves out what t counts.
func (v *view) filtered(t *tally) bool {
	only := v.param("only")
	return only == "unfinished" && t.Left() == 0 || only == "failing" && t.Failing == 0
}

// reads ranks a language: above 0 if it is the reader's, the best language highest.
func (v *view) reads(code string) int {
	if i := slices.Index(v.accepted, code); i >= 0 {
		return len(v.accepted) - i
	}
	return 0
}

func (p *Pages) execute(name string, v *view) ([]byte, error) {
	var b bytes.Buffer
	if err := p.sets[v.L.Tag].ExecuteTemplate(&b, name, v); err != nil {
		return nil, fmt.Errorf("show page %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// Problem shows an error that a request was answered with.
func (p *Pages) Problem(r *http.Request, status int, detail string) ([]byte, error) {
	v := p.newView(r, rest.ParseQuery(r.URL.RawQuery))
	v.Heading = fmt.Sprintf("%d %s", status, http.StatusText(status))
	switch status {
	case http.StatusNotFound:
		v.Heading = v.L.T("This page does not exist")
	case http.StatusServiceUnavailable:
		v.Heading, v.Refresh = v.L.T("Not ready yet"), 5
	}
	v.Title, v.API = v.Heading, "/api/"
	segments := strings.Split(strings.Trim(r.URL.EscapedPath(), "/"), "/")
	if len(segments) > 1 && (segments[0] == "projects" || segments[0] == "translate" || segments[0] == "engage") {
		if slug, err := url.PathUnescape(segments[1]); err == nil {
			v.Crumbs = []link{{Name: slug, URL: path("projects", slug)}}
		}
		if len(segments) == 4 && status == http.StatusNotFound {
			if l, ok := p.env.Languages.ByCode(segments[3]); ok {
				v.Next = "/new-lang/" + segments[1] + "/" + segments[2] + "/?lang=" + l.Code
			}
		}
	}
	if detail != rest.ErrNotFound.Detail { // which says no more than the heading
		v.Body = detail
	}
	return p.execute("problem", v)
}

// paging says which part of a list is shown, and where the others are.
type paging struct {
	From, To, Count             int
	First, Previous, Next, Last string
}

// offset is the number of entries before the part.
func (p paging) offset() int { return max(p.From-1, 0) }

// cutPage cuts the part of a list that the parameter name asks for.
func cutPage[T any](v *view, name string, list []T, size int) (paging, []T) {
	pg := window(v, name, int64(len(list)), size)
	return pg, list[pg.offset():pg.To]
}

// window finds the part of a list of count entries that the parameter name asks for.
func window(v *view, name string, count int64, size int) paging {
	pages := max(1, (int(count)+size-1)/size)
	n := min(v.number(name), pages)
	pg := paging{From: (n-1)*size + 1, To: min(n*size, int(count)), Count: int(count)}
	if count == 0 {
		pg.From = 0
	}
	if n > 1 {
		pg.First, pg.Previous = v.pageOf(name, 1), v.pageOf(name, n-1)
	}
	if n < pages {
		pg.Next, pg.Last = v.pageOf(name, n+1), v.pageOf(name, pages)
	}
	return pg
}
