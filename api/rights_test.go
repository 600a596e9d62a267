package api_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
)

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

// anyLanguage stands for whether something may be done in one at least.
const anyLanguage = "any"

func (r *rights) translates(by map[string][]string, language string) bool {
	if language == anyLanguage {
		return r.in(slices.Collect(maps.Values(by))...)
	}
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
		return (len(r.projects) == 0 || slices.Contains(r.projects, p.project)) && (len(r.languages) == 0 || language == anyLanguage || slices.Contains(r.languages, language))
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

// TestWhoMayWhat: whoever asks, with whatever key, sees and may exactly what the table of
// docs/access.md says, under drawn configurations.
func TestWhoMayWhat(t *testing.T) {
	t.Parallel()
	w := newRightsWorld(t)
	requests := w.requests()
	rapid.Check(t, func(rt *rapid.T) {
		people := []*person{uniform(rt, w.often, "person"), uniform(rt, w.often, "person")}
		r := w.draw(rt, people)
		for _, r.person = range people {
			r.browser = r.token == "" || r.session != "" && rapid.Bool().Draw(rt, "by session")
			kinds := []kind{lists, lists, reads, reads, writes, writes, writes, writes, streams, clones}
			if r.browser {
				kinds = []kind{lists, lists, reads, reads, writes, forms, forms, forms, streams, clones, accountForms}
			}
			who := fmt.Sprintf("%s, session %v, roles %+v, providers %v, pushers %v", r.name, r.browser, r.book, r.providers, r.pushers)
			for range 7 {
				by := requests[uniform(rt, kinds, "kind")]
				list := by[w.parts[uniform(rt, []int{0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 6}, "component")]] // some take edits of few
				if len(list) == 0 || len(by[nil]) > 0 && rapid.IntRange(0, 3).Draw(rt, "everything") == 0 {
					list = by[nil]
				}
				q := uniform(rt, list, "request")
				if problem := w.judge(r, &q); problem != "" {
					rt.Fatalf("%s\n%s %s: %s", who, q.method, q.target, problem)
				}
			}
		}
	})
	w.Verify()
}

// uniform draws each of a list as often: rapid draws the first ones more often.
func uniform[T any](rt *rapid.T, list []T, what string) T {
	n := 0
	for _, bit := range rapid.SliceOfN(rapid.Bool(), 12, 12).Draw(rt, what) {
		if n *= 2; bit {
			n++
		}
	}
	return list[n%len(list)]
}

// draw draws a configuration, which names these people where it can, and some others.
func (w *rightsWorld) draw(rt *rapid.T, people []*person) *rights {
	names := []string{"gh:jana", "gh:#1", "gh:#2", "lab:jana", "lab:#1", "gh:bob", "gh:#9"}
	r := &rights{draw: func(most int) int { return rapid.IntRange(0, most).Draw(rt, "number") }, providers: []string{"gh"}, pushers: map[string]bool{}, book: catalog.RoleBook{Projects: map[string]catalog.ProjectRoles{}}}
	for _, slug := range []string{"", "open", "vault", "cell"} {
		roles := []string{"none", "none", "reader", "reader", "cs", "de", "*", "admin"}
		if slug == "" {
			roles = []string{"none", "none", "cs", "cs", "de", "de", "*", "admin"}
		}
		of := catalog.ProjectRoles{Translators: map[string][]string{}}
		for _, named := range [][]string{people[0].names, people[1].names, names} {
			role := uniform(rt, roles, "role in "+slug)
			if role == "none" || len(named) == 0 {
				continue
			}
			switch name := uniform(rt, named, "name"); role {
			case "reader":
				of.Readers = append(of.Readers, name)
			case "admin":
				of.Admins = append(of.Admins, name)
			default:
				of.Translators[role] = append(of.Translators[role], name)
			}
		}
		if slug == "" {
			r.book.Admins, r.book.Translators = of.Admins, of.Translators
		} else {
			r.book.Projects[slug] = of
		}
	}
	configured := rightsProviders[:1]
	if rapid.IntRange(0, 3).Draw(rt, "second provider") > 0 {
		r.providers, configured = []string{"gh", "lab"}, rightsProviders
	}
	for _, p := range w.people {
		if p.account() && p.scope == "" && uniform(rt, []bool{true, true, false}, p.name+" pushes") {
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
	if (q.feed || strings.HasPrefix(q.target, "/git/")) && r.browser {
		who.person, who.browser = &person{name: "nobody"}, false
	}
	switch {
	case q.method == "FORM":
		return w.judgeForm(r, q)
	case strings.Contains(q.target, "/stream/"):
		return w.judgeStream(r, q)
	case strings.HasPrefix(q.target, "/git/"):
		return w.judgeClone(&who, r, q)
	case q.scope == "":
		return w.judgeRead(&who, r, q)
	}
	may := who.may(q.scope, q.of, q.language)
	if may && (q.method == "DELETE" || q.body == "done") {
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
	case r.may(q.scope, q.of, q.language) && strings.HasPrefix(q.body, "do=look"):
		want = http.StatusOK
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

// judgeClone asks as git does, with a token as the password, as the user, or in a header.
func (w *rightsWorld) judgeClone(who, by *rights, q *request) string {
	req := catalogtest.Request("GET", q.target+"info/refs?service=git-upload-pack")
	switch n := by.draw(2); {
	case by.browser:
		req.AddCookie(&http.Cookie{Name: "__Host-session", Value: by.session})
	case by.token == "":
	case n == 0:
		req.SetBasicAuth("me", by.token)
	case n == 1:
		req.SetBasicAuth(by.token, "")
	default:
		req.Header.Set("Authorization", "Token "+by.token)
	}
	rec, want := httptest.NewRecorder(), http.StatusNotFound
	w.git.ServeHTTP(rec, req)
	switch {
	case who.refused(), who.nobody() && !who.sees(q.of):
		want = http.StatusUnauthorized
	case who.sees(q.of):
		want = http.StatusServiceUnavailable // it has no mirror
	}
	if rec.Code != want {
		return fmt.Sprintf("%d %s, want %d", rec.Code, rec.Body, want)
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
