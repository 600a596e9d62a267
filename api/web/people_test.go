package web_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/api/signin"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/access"
)

// providers are where accounts of tests are from.
var providers = []*signin.Provider{signin.New(signin.Options{ID: "gh", Kind: "github"})}

// account is a browser that is signed in with an account.
func (w *translating) account(name string) person {
	w.t.Helper()
	a := catalog.Account{Provider: "gh", Subject: "s-" + name, Name: name, AuthorName: strings.ToUpper(name[:1]) + name[1:], AuthorEmail: name + "@example.org"}
	secret, _, err := w.DB.Access().SignIn(w.t.Context(), &a, time.Hour)
	must(w.t, err)
	p := person{catalogtest.NewVisitor(w.t, w.s)}
	p.Cookies["session"] = secret
	return p
}

// TestSuggestForm: an account without a role gets a form in which it can only suggest, for
// strings that the file lacks, too; whatever else it sends is refused.
func TestSuggestForm(t *testing.T) {
	t.Parallel()
	w := newLacking(t)
	w.s.Update(api.Settings{SignIn: providers, Roles: catalog.RoleBook{Translators: map[string][]string{"cs": {"gh:jana"}}}})
	guest := w.account("guest")
	for name, address := range map[string]string{"in the file": w.address("app", "cs", "Open", ""), "not in the file": w.lacks("app", "Done.", "")} {
		rec := guest.Get(address)
		answers(t, name, 200, rec, `<button class="first" name="do" value="suggest"`)
		if body := rec.Body.String(); strings.Contains(body, `value="save"`) || strings.Contains(body, `name="fuzzy"`) {
			t.Errorf("%s: it may save: %s", name, body)
		}
		for _, do := range []string{"save", "sure:save", "accept:1", "reject:1", "other"} {
			f := guest.form(address, "Něco.")
			f.Set("do", do)
			if rec := guest.Post(address, f); rec.Code != http.StatusForbidden {
				t.Errorf("%s: %s: %d", name, do, rec.Code)
			}
		}
		f := guest.form(address, "Něco.")
		f.Set("do", "suggest")
		if rec := guest.Post(address, f); rec.Code != http.StatusSeeOther {
			t.Errorf("%s: suggesting: %d %s", name, rec.Code, rec.Body)
		}
	}
	if text, _ := w.target("app", "cs", "Open"); text != "" {
		t.Errorf("stored %q", text)
	}
	answers(t, "list", 200, guest.Get("/translate/demo/app/cs/?q=has:suggestion"), "Open", "Translate these strings")
	if rec := guest.Get(w.address("closed", "cs", "Open", "")); strings.Contains(rec.Body.String(), `<form id="edit"`) {
		t.Error("a component that takes nothing has a form")
	}
	answers(t, "a translator", 200, w.account("jana").Get(w.address("app", "cs", "Open", "")), `value="save"`, `value="suggest"`, `value="accept:`, "Něco.")
	w.Verify()
}

// full takes no more suggestions.
type full struct{ resource.Edits }

func (full) Suggest(context.Context, int64, int64, edit.Author, edit.Request) (int64, error) {
	return 0, &edit.BoundError{Message: "200 suggestions of yours wait"}
}

// TestBoundsAreLogged: the log says whose suggestions are refused, some times a minute.
func TestBoundsAreLogged(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{})
	var log bytes.Buffer
	w.s = api.New(api.Options{DB: w.DB, Languages: w.Languages, Edits: full{w.Editor}, Settings: api.Settings{SignIn: providers}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	guest, address := w.account("guest"), w.address("app", "cs", "Open", "")
	f := guest.form(address, "Otevřít")
	f.Set("do", "suggest")
	for range 25 {
		answers(t, "one too many", 403, guest.Post(address, f), "200 suggestions of yours wait")
	}
	if n := strings.Count(log.String(), `msg="suggestion refused" account=1 problem="200 suggestions of yours wait"`); n != 20 {
		t.Errorf("%d lines: %s", n, log.String())
	}
}

// reviewForm is the form of the list as a browser would send it, with a button.
func (p person) reviewForm(target, do string) url.Values {
	p.TB.Helper()
	rec := p.Get(target)
	body := rec.Body.String()
	if rec.Code != http.StatusOK || !strings.Contains(body, `<form class="edit review"`) {
		p.TB.Fatalf("%s has no form: %d %s", target, rec.Code, body)
	}
	f := url.Values{"do": {do}}
	for _, m := range hiddenField.FindAllStringSubmatch(body, -1) {
		f.Add(m[1], html.UnescapeString(m[2]))
	}
	for _, m := range regexp.MustCompile(`(?s)<textarea id="t[\d-]+" name="(\w+)"[^>]*>\n(.*?)</textarea>`).FindAllStringSubmatch(body, -1) {
		f.Add(m[1], html.UnescapeString(m[2]))
	}
	return f
}

// TestReview: what accounts without a role suggest is shown to those who are signed in, and
// answered by those who may edit the language: accepted, with changes, rejected with a word,
// many at once, each on its own.
func TestReview(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{})
	w.s.Update(api.Settings{SignIn: providers, Roles: catalog.RoleBook{Translators: map[string][]string{"cs": {"gh:jana"}, "ar": {"gh:amal"}}}})
	guest, jana := w.account("guest"), w.account("jana")
	for _, s := range [][2]string{{"Open", "<a href=//spam.example>"}, {"Done.", "Hotovo"}, {"Line %s\n", "Řádek\n"}} {
		address := w.address("app", "cs", s[0], "")
		f := guest.form(address, s[1])
		f.Set("do", "suggest")
		if rec := guest.Post(address, f); rec.Code != http.StatusSeeOther {
			t.Fatalf("suggesting: %d %s", rec.Code, rec.Body)
		}
	}
	const list = "/projects/demo/-/cs/?suggestions=1"
	anybody := person{catalogtest.NewVisitor(t, w.s)}
	for _, page := range []string{list, "/projects/demo/app/cs/?suggestions=1", w.address("app", "cs", "Open", ""), "/changes/", "/api/edits/1/", "/api/translations/demo/app/cs/edits/", "/api/changes/"} {
		if body := html.UnescapeString(anybody.Get(page).Body.String()); strings.Contains(body, "spam.example") || strings.Contains(body, "Hotovo") {
			t.Errorf("%s shows a stranger's text: %s", page, body)
		}
	}
	for q, found := range map[string]bool{"has:suggestion": true, "suggestion:spam": false, "suggestion:Hotovo": false} {
		if body := anybody.Get("/translate/demo/app/cs/?q=" + q).Body.String(); strings.Contains(body, "checksum=") != found {
			t.Errorf("%s finds a string: %v", q, !found)
		}
	}
	rec := guest.Get(list)
	if body := rec.Body.String(); !strings.Contains(body, "&lt;a href=//spam.example&gt;") || strings.Contains(body, `"edit review"`) {
		t.Errorf("who may not answer: %s", body)
	}
	jana.reviewForm(list, "reject:1")
	if rec := guest.Post(list, url.Values{"form": {guest.form(w.address("app", "cs", "Open", ""))["form"][0]}, "do": {"accept:2"}}); rec.Code != http.StatusConflict {
		t.Errorf("a guest accepts: %d", rec.Code)
	}
	if rec := w.account("amal").Get(list); strings.Contains(rec.Body.String(), `"edit review"`) {
		t.Error("a translator of another language may answer")
	}
	// A text that the program cannot use stops only itself.
	f := jana.reviewForm(list, "accept")
	f["id"] = []string{"2", "3"}
	rec = jana.Post(list, f)
	answers(t, "many", 409, rec, "One suggestion was answered.", "The program could not use this text. Mend it, or mark it as needing editing: Placeholders: 0 here, 1 in the source.", "Řádek")
	if text, _ := w.target("app", "cs", "Done."); text != "Hotovo" {
		t.Errorf("accepted %q", text)
	}
	if rec := jana.Post(list, f); rec.Code != 409 || !strings.Contains(rec.Body.String(), "Somebody answered it meanwhile.") {
		t.Errorf("again: %d %s", rec.Code, rec.Body)
	}
	// A changed text is looked at before it is stored.
	answers(t, "said before", 200, jana.Get(list+"&ui=de"), "Platzhalter: 0, in der Quelle 1.")
	f = jana.reviewForm(list+"&ui=en", "accept:3")
	f["target3"] = []string{"Řádek  %s\r\n"}
	rec = jana.Post(list, f)
	answers(t, "changed, fails", 409, rec, "This text fails checks. It is not stored yet:", "Řádek  %s")
	again := regexp.MustCompile(`name="asked3" value="([^"]*)"`).FindStringSubmatch(rec.Body.String())
	f.Set("asked3", again[1])
	if rec = jana.Post(list, f); rec.Code != http.StatusSeeOther || rec.Header().Get("Location") != list[:len(list)-len("suggestions=1")]+"answered=1&suggestions=1" {
		t.Errorf("agreed: %d %v %s", rec.Code, rec.Header(), rec.Body)
	}
	if text, _ := w.target("app", "cs", "Line %s\n"); text != "Řádek  %s\n" {
		t.Errorf("accepted %q", text)
	}
	f = jana.reviewForm(list, "reject:1")
	f.Set("why1", " no \n links ")
	if rec = jana.Post(list, f); rec.Code != http.StatusSeeOther {
		t.Errorf("rejected: %d", rec.Code)
	}
	answers(t, "journal", 200, anybody.Get("/api/edits/1/"), `"rejected: no links"`)
	answers(t, "nothing left", 200, jana.Get(list), "No suggestion waits.")
	for _, do := range []string{"", "other", "accept:x"} {
		f := url.Values{"form": {f.Get("form")}, "do": {do}}
		if rec := jana.Post(list, f); rec.Code < 400 || rec.Code >= 500 {
			t.Errorf("%q: %d", do, rec.Code)
		}
	}
	w.Verify()
}

// TestOwnPage: an account sees what became of its work and why, ends sessions, makes tokens that
// can do no more than it can at that time, and deletes itself; only its bound names stay.
func TestOwnPage(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{})
	roles := catalog.RoleBook{Translators: map[string][]string{"cs": {"gh:jana"}}}
	w.s.Update(api.Settings{SignIn: providers, Roles: roles})
	const page = "/account/"
	answers(t, "stranger", 401, person{catalogtest.NewVisitor(t, w.s)}.Get(page), "Sign in to see this page.")
	jana, other := w.account("jana"), w.account("jana")
	form := func(p person, do string, more ...string) url.Values {
		f := url.Values{"do": {do}, "form": {hiddenField.FindStringSubmatch(p.Get(page).Body.String())[2]}}
		for i := 0; i < len(more); i += 2 {
			f.Set(more[i], more[i+1])
		}
		return f
	}
	open := w.address("app", "cs", "Open", "")
	f := jana.form(open, "Otevřít")
	f.Set("do", "suggest")
	jana.Post(open, f)
	const list = "/projects/demo/-/cs/?suggestions=1"
	f = w.signIn(catalog.Token{Name: "boss", Scope: catalog.ScopeAdmin}).reviewForm(list, "reject:1")
	answers(t, "waits", 200, jana.Get(page), "Otevřít", "waits for an answer", "jana@example.org", "write public cs")
	f.Set("why1", "imperative, please")
	boss := w.signIn(catalog.Token{Name: "boss 2", Scope: catalog.ScopeAdmin})
	f.Set("form", boss.reviewForm(list, "")["form"][0])
	boss.Post(list, f)
	answers(t, "rejected", 200, jana.Get(page), "rejected: imperative, please")
	// Tokens.
	for scope, status := range map[string]int{"read": 200, "write": 200, "admin": 403, "": 403} {
		answers(t, "token of scope "+scope, status, jana.Post(page, form(jana, "token", "name", "my "+scope, "scope", scope)))
	}
	answers(t, "the same name", 409, jana.Post(page, form(jana, "token", "name", "my write", "scope", "write")), "choose another name")
	secret := regexp.MustCompile(`rgt_\w+`).FindString(jana.Post(page, form(jana, "token", "name", "laptop", "scope", "write", "days", "7")).Body.String())
	if body := jana.Get(page).Body.String(); !strings.Contains(body, ": laptop</code> write It ends") || strings.Contains(body, secret) {
		t.Errorf("tokens: %s", body)
	}
	patch := func(component, language string) int {
		r := catalogtest.Request("PATCH", w.unitPath(component, language, "Done."), "Authorization", "Token "+secret, "Content-Type", "application/json")
		r.Body = io.NopCloser(strings.NewReader(`{"target": ["Hotovo."], "state": 20}`))
		rec := httptest.NewRecorder()
		w.s.ServeHTTP(rec, r)
		return rec.Code
	}
	if cs, ar := patch("app", "cs"), patch("app", "ar"); cs != 200 || ar != 403 {
		t.Errorf("a personal token edits Czech: %d, Arabic: %d", cs, ar)
	}
	w.s.Update(api.Settings{SignIn: providers}) // the role is taken away
	if cs := patch("app", "cs"); cs != 403 {
		t.Errorf("without the role: %d", cs)
	}
	w.s.Update(api.Settings{SignIn: providers, Roles: roles})
	// A session by the personal token manages nothing.
	by := person{catalogtest.NewVisitor(t, w.s)}
	by.Post("/login/", url.Values{"token": {secret}})
	if rec := by.Get(page); rec.Code != 200 || strings.Contains(rec.Body.String(), "Make a token") {
		t.Errorf("by a personal token: %d", rec.Code)
	}
	for _, do := range []string{"token", "delete", "revoke:1", "other"} {
		answers(t, do, 403, by.Post(page, form(by, do, "sure", "1", "scope", "write", "name", "x")))
	}
	// Sessions.
	ids := regexp.MustCompile(`value="(end:\w+)"`).FindAllStringSubmatch(other.Get(page).Body.String(), -1)
	if len(ids) != 3 {
		t.Fatalf("sessions %v", ids)
	}
	for _, m := range ids {
		if m[1] != "end:"+(*access.Reader)(nil).SessionID(jana.Cookies["session"]) {
			jana.Post(page, form(jana, m[1]))
		}
	}
	if a, b, c := jana.Get(page).Code, other.Get(page).Code, by.Get(page).Code; a != 200 || b != 401 || c != 401 {
		t.Errorf("sessions after two were ended: %d %d %d", a, b, c)
	}
	// Another account ends and revokes nothing of it.
	guest := w.account("guest")
	guest.Post(page, form(guest, "end:"+(*access.Reader)(nil).SessionID(jana.Cookies["session"])))
	answers(t, "revokes another's", 404, guest.Post(page, form(guest, "revoke:5")))
	answers(t, "still there", 200, jana.Get(page))
	suggest := func() int64 {
		f := guest.form(open, "Otevři")
		f.Set("do", "suggest")
		guest.Post(open, f)
		m := regexp.MustCompile(`value="withdraw:(\d+)"`).FindStringSubmatch(guest.Get(page).Body.String())
		if m == nil {
			t.Fatalf("no suggestion on %s", guest.Get(page).Body)
		}
		id, err := strconv.ParseInt(m[1], 10, 64)
		must(t, err)
		return id
	}
	id := suggest()
	answers(t, "takes back another's", 404, jana.Post(page, form(jana, fmt.Sprintf("withdraw:%d", id))))
	answers(t, "waits all the same", 200, guest.Get(page), "waits for an answer")
	answers(t, "takes back its own", 303, guest.Post(page, form(guest, fmt.Sprintf("withdraw:%d", id))))
	answers(t, "taken back", 200, guest.Get(page), "taken back")
	id = suggest()
	answers(t, "the string", 200, boss.Get(open), fmt.Sprintf(`name="why%d"`, id))
	reject := boss.form(open, "")
	reject.Set("do", fmt.Sprintf("reject:%d", id))
	reject.Set(fmt.Sprintf("why%d", id), "too short")
	boss.Post(open, reject)
	answers(t, "rejected on the string's page", 200, guest.Get(page), "rejected: too short")
	answers(t, "delete, not sure", 403, jana.Post(page, form(jana, "delete")))
	answers(t, "delete", 303, jana.Post(page, form(jana, "delete", "sure", "1")))
	if a, cs := jana.Get(page).Code, patch("app", "cs"); a != 401 || cs != 401 {
		t.Errorf("after it was deleted: %d %d", a, cs)
	}
	if text, _ := w.target("app", "cs", "Done."); text != "Hotovo." {
		t.Errorf("its edit: %q", text)
	}
	// Somebody else who takes the name has not its role.
	a := catalog.Account{Provider: "gh", Subject: "another", Name: "jana"}
	_, _, err := w.DB.Access().SignIn(t.Context(), &a, time.Hour)
	must(t, err)
	if !a.Taken() || len(roles.Of(&a)) != 0 {
		t.Errorf("the name is free: %+v", a)
	}
	w.Verify()
}

// TestAccountsPage: administrators of the server block accounts, whose sessions and tokens end at
// once, reject what they suggested, and give names to those who have them now; nobody else does.
func TestAccountsPage(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{})
	w.s.Update(api.Settings{SignIn: providers, Roles: catalog.RoleBook{Admins: []string{"gh:boss"}, Translators: map[string][]string{"cs": {"gh:jana"}}, Projects: map[string]catalog.ProjectRoles{"demo": {Admins: []string{"gh:chief"}}}}})
	const page = "/accounts/"
	boss, guest, jana := w.account("boss"), w.account("guest"), w.account("jana")
	for name, p := range map[string]person{"guest": guest, "an admin of a project": w.account("chief"), "a token of scope write": w.signIn(catalog.Token{Name: "writer", Scope: catalog.ScopeWrite})} {
		f := url.Values{"do": {"block:1"}, "form": {hiddenField.FindStringSubmatch(p.Get("/account/").Body.String())[2]}}
		if a, b := p.Get(page).Code, p.Post(page, f).Code; a != 403 || b != 403 {
			t.Errorf("%s: %d %d", name, a, b)
		}
	}
	open := w.address("app", "cs", "Open", "")
	f := guest.form(open, "Spam")
	f.Set("do", "suggest")
	guest.Post(open, f)
	do := func(what string) *httptest.ResponseRecorder {
		t.Helper()
		f := url.Values{"do": {what}, "form": {hiddenField.FindStringSubmatch(boss.Get(page).Body.String())[2]}}
		return boss.Post(page, f)
	}
	answers(t, "list", 200, boss.Get(page), "gh:guest", "admin *", "write public cs")
	answers(t, "reject", 303, do("reject:2"))
	answers(t, "journal", 200, boss.Get("/api/edits/1/"), `"rejected"`)
	guest.Post(open, f)
	answers(t, "block", 303, do("block:2"))
	answers(t, "blocked", 401, guest.Get("/account/"))
	ended, _, err := w.Editor.Expire(t.Context(), time.Now())
	must(t, err)
	if ended != 1 {
		t.Errorf("%d suggestions of a blocked account were rejected", ended)
	}
	a := catalog.Account{Provider: "gh", Subject: "s-guest", Name: "guest"}
	if _, _, err := w.DB.Access().SignIn(t.Context(), &a, time.Hour); !errors.Is(err, catalog.ErrConflict) {
		t.Errorf("a blocked account signs in: %v", err)
	}
	answers(t, "unblock", 303, do("unblock:2"))
	_, _, err = w.DB.Access().SignIn(t.Context(), &a, time.Hour)
	must(t, err)
	taken := catalog.Account{Provider: "gh", Subject: "new", Name: "Jana"}
	_, _, err = w.DB.Access().SignIn(t.Context(), &taken, time.Hour)
	must(t, err)
	answers(t, "taken", 200, boss.Get(page), "another account had this name first")
	answers(t, "rebind", 303, do("rebind:gh:Jana"))
	answers(t, "a name that nobody took", 404, do("rebind:gh:guest"))
	answers(t, "the role is gone", 200, jana.Get(open), `value="suggest"`)
	if strings.Contains(jana.Get(open).Body.String(), `value="save"`) {
		t.Error("the one who had the name keeps the role")
	}
	answers(t, "history", 200, boss.Get(page), "blocked", "unblocked", "rebound", "gh:boss")
	answers(t, "nobody", 404, do("block:99"))
	answers(t, "nothing", 403, do("other:2"))
	w.Verify()
}

// TestForgeHangs: while the forge does not say who may push, the pages of those who wait for it hold
// neither a reader of the store nor a turn of searches; when it does, they have their forms.
func TestForgeHangs(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{})
	open, list := w.address("app", "cs", "Open", ""), "/projects/demo/-/cs/?suggestions=1"
	guest := w.account("guest")
	f := guest.form(open, "Otevřít")
	f.Set("do", "suggest")
	guest.Post(open, f)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var known atomic.Bool
	const people = 50
	asked, says := make(chan struct{}, 4*people), make(chan struct{})
	w.s.Update(api.Settings{SignIn: providers, Pushes: func(*catalog.Account, *store.ComponentRow) (bool, func(context.Context)) {
		if known.Load() {
			return true, nil
		}
		return false, func(context.Context) { asked <- struct{}{}; <-says }
	}})
	var group sync.WaitGroup
	answer := sync.OnceFunc(func() { close(says) })
	defer answer()
	for i := range people {
		p, target, want := w.account(fmt.Sprintf("a%d", i)), open, `value="save"`
		switch i % 3 {
		case 0:
			target += "&page_size=2000" // which is made in turn
		case 1:
			target += "&q=Open&offset=1"
		case 2:
			target, want = list, `value="accept:`
		}
		group.Go(func() {
			if i == 0 {
				if rec := p.Post(open, url.Values{"do": {"save"}, "target": {"Otevři"}, "form": {session.FormToken(p.Cookies["session"])}}); rec.Code != http.StatusConflict || !strings.Contains(rec.Body.String(), "Somebody changed this string") {
					t.Errorf("a form: %d %s", rec.Code, rec.Body)
				}
			} else if rec := p.Get(target); !strings.Contains(rec.Body.String(), want) {
				t.Errorf("%s: %d without %s: %s", target, rec.Code, want, rec.Body)
			}
		})
	}
	for range people {
		select {
		case <-asked:
		case <-ctx.Done():
			t.Fatal("not all of them ask the forge outside of a snapshot")
		}
	}
	answers(t, "another's page", 200, person{catalogtest.NewVisitor(t, w.s)}.Get(open), "Open")
	answers(t, "another's search", 200, person{catalogtest.NewVisitor(t, w.s)}.Get("/search/?q=Open"), "Open")
	var hold func(n int) error
	hold = func(n int) error {
		return w.DB.Read(ctx, func(context.Context, *store.Snapshot) error {
			if n == 1 {
				return nil
			}
			return hold(n - 1)
		})
	}
	must(t, hold(w.DB.Readers()))
	known.Store(true)
	answer()
	group.Wait()
}

// TestAddressesStay: whoever follows all links of all pages and answers finds nobody's address: not
// of who edited, suggested, accepted, gave another address or was blocked; but one's own on the own page.
func TestAddressesStay(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{})
	roles := catalog.RoleBook{Translators: map[string][]string{"*": {"gh:jana"}}, Admins: []string{"gh:boss"}}
	w.s.Update(api.Settings{SignIn: providers, Roles: roles})
	jana, guest, boss := w.account("jana"), w.account("guest"), w.account("boss")
	edit := func(p person, source, text, do string) {
		address := w.address("app", "cs", source, "")
		f := p.form(address, text)
		f.Set("do", do)
		if rec := p.Post(address, f); rec.Code != http.StatusSeeOther {
			t.Fatalf("%s %s: %d %s", do, source, rec.Code, rec.Body)
		}
	}
	edit(guest, "Open", "Otevři", "suggest")
	edit(jana, "Done.", "Hotovo.", "save")
	id := regexp.MustCompile(`accept:(\d+)`).FindStringSubmatch(jana.Get(w.address("app", "cs", "Open", "")).Body.String())[1]
	list := "/projects/demo/-/cs/?suggestions=1"
	jana.Post(list, jana.reviewForm(list, "accept:"+id))
	edit(guest, "Open", "Otevřete", "suggest")
	links, varies := regexp.MustCompile(`(?:href="|"http://[^/"]+)(/[^"#]*)`), regexp.MustCompile(`\d+|=[^&]*`)
	for name, p := range map[string]person{"": {catalogtest.NewVisitor(t, w.s)}, "guest": guest, "jana": jana, "boss": boss} {
		queue, seen, shapes, own := []string{"/", "/api/", "/account/", "/account/people/", list, w.address("app", "cs", "Open", ""), "/user/jana/"}, map[string]bool{}, map[string]int{}, false
		for len(queue) > 0 && len(shapes) < 300 {
			target := html.UnescapeString(queue[0])
			queue = queue[1:]
			if path, _, _ := strings.Cut(target, "?"); seen[target] || strings.HasPrefix(path, "/docs/") || strings.HasSuffix(path, "/file/") || strings.HasPrefix(path, "/logout/") || strings.Contains(target, "ui=") {
				continue
			}
			shape := varies.ReplaceAllString(target, "#")
			if seen[target], shapes[shape] = true, shapes[shape]+1; shapes[shape] > 2 {
				continue
			}
			accepts := []string{"text/html", "application/json"}
			if name != "" {
				accepts = accepts[:1]
			}
			for _, accept := range accepts {
				r := catalogtest.Request(http.MethodGet, target)
				for cookie, value := range p.Cookies {
					r.AddCookie(&http.Cookie{Name: cookie, Value: value})
				}
				r.Header.Set("Accept", accept)
				rec := httptest.NewRecorder()
				w.s.ServeHTTP(rec, r)
				body := html.UnescapeString(rec.Body.String())
				for _, who := range []string{"guest", "jana", "boss"} {
					if !strings.Contains(body, who+"@example.org") {
						continue
					}
					if own = own || who == name; who != name || !strings.HasPrefix(target, "/account/") {
						at := strings.Index(body, who+"@example.org")
						t.Errorf("%q sees the address of %s at %s: %q", name, who, target, body[max(0, at-200):at+20])
					}
				}
				for _, m := range links.FindAllStringSubmatch(rec.Body.String(), -1) {
					queue = append(queue, m[1])
				}
			}
		}
		if own != (name != "") {
			t.Errorf("%q sees the own address: %t", name, own)
		}
	}
}
