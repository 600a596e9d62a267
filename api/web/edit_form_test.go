package web_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/testrepos"
)

// person is a visitor who fills in forms.
type person struct{ *catalogtest.Visitor }

// translating is a server with components that take edits ("app"), that take no
// suggestions ("silent") and that take nothing ("closed"), in Czech and Arabic.
type translating struct {
	*catalogtest.Puller
	t *testing.T
	s *api.Server
}

func newTranslating(t *testing.T, o api.Options) *translating {
	t.Helper()
	repo := testrepos.Empty(t)
	file := func(forms string) string {
		return "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: " + forms + "\\n\"\n\nmsgid \"Open\"\nmsgstr \"\"\n\n" +
			"#, c-format\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"\"\n\nmsgid \"Done.\"\nmsgstr \"\"\n\n#, read-only\nmsgid \"Fixed\"\nmsgstr \"Fixed\"\n\n#, c-format\nmsgid \"Line %s\\n\"\nmsgstr \"\"\n"
	}
	cs, ar := file("nplurals=3; plural=n==1 ? 0 : n>=2 && n<=4 ? 1 : 2;"), file("nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5;")
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": cs, "po/ar.po": ar, "doc/cs.po": cs, "quiet/cs.po": cs}})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{
		"app":    {Edits: catalog.Edits{Mode: catalog.PushDirect}, EnableSuggestions: true},
		"silent": {Edits: catalog.Edits{Mode: catalog.PushDirect}, Filemask: "quiet/*.po"},
		"closed": {Filemask: "doc/*.po"},
	})
	w.Sync()
	if o.Settings.SignIn == nil {
		o.Settings.SignIn = providers
	}
	o.DB, o.Languages, o.Edits, o.CacheBytes = w.DB, w.Languages, w.Editor, 1<<20
	return &translating{w, t, api.New(o)}
}

// signIn is a browser that is signed in with a new token.
func (w *translating) signIn(token catalog.Token) person {
	w.t.Helper()
	p := person{catalogtest.NewVisitor(w.t, w.s)}
	if rec := p.Post("/login/", url.Values{"token": {w.token(token)}}); rec.Code != http.StatusSeeOther {
		w.t.Fatalf("signing in: %d %s", rec.Code, rec.Body)
	}
	return p
}

func (w *translating) token(token catalog.Token) string {
	w.t.Helper()
	token.Created = time.Now()
	secret, err := w.DB.Access().CreateToken(w.t.Context(), token)
	must(w.t, err)
	return secret
}

var jana = catalog.Token{Name: "jana", Scope: catalog.ScopeWrite, AuthorName: "Jana Nováková", AuthorEmail: "jana@example.org"}

// address returns the address of a string, with more parameters.
func (w *translating) address(component, language, source, more string) string {
	w.t.Helper()
	found := ""
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if c.Slug == component && tr.Language == language && catalog.SplitForms(u.Source)[0] == source {
			found = "/translate/demo/" + component + "/" + language + "/?checksum=" + catalog.Checksum(u.Identity.Hash) + more
		}
	})
	if found == "" {
		w.t.Fatalf("no string %q", source)
	}
	return found
}

// target is the stored text of a string.
func (w *translating) target(component, language, source string) (text string, state catalog.State) {
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if c.Slug == component && tr.Language == language && catalog.SplitForms(u.Source)[0] == source {
			text, state = u.Target, u.State
		}
	})
	return text, state
}

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`)
	textField   = regexp.MustCompile(`(?s)<textarea[^>]*>\n(.*?)</textarea>`)
)

// form is the form of a page as a browser would send it, with texts of its fields.
func (p person) form(target string, texts ...string) url.Values {
	p.TB.Helper()
	rec := p.Get(target)
	if rec.Code != http.StatusOK || !strings.Contains(rec.Body.String(), `<form id="edit"`) {
		p.TB.Fatalf("%s has no form: %d %s", target, rec.Code, rec.Body)
	}
	return formOf(rec.Body.String(), texts...)
}

func formOf(body string, texts ...string) url.Values {
	f := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(body, -1) {
		f.Set(m[1], html.UnescapeString(m[2]))
	}
	if texts == nil {
		for _, m := range textField.FindAllStringSubmatch(body, -1) {
			texts = append(texts, html.UnescapeString(m[1]))
		}
	}
	f["target"], f["do"] = texts, []string{"save"}
	return f
}

// answers fails unless an answer has a status and texts.
func answers(t *testing.T, name string, status int, rec *httptest.ResponseRecorder, texts ...string) {
	t.Helper()
	body := html.UnescapeString(rec.Body.String())
	if rec.Code != status {
		t.Errorf("%s: %d %v, want %d: %s", name, rec.Code, rec.Header(), status, body)
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			t.Errorf("%s lacks %q: %s", name, text, body)
		}
	}
}

// TestEditForm: a reader whose token may edit gets a form with a field for each plural
// form, saves, and goes on to the next string of the same search.
func TestEditForm(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{})
	p := w.signIn(jana)
	rec := p.Get("/translate/demo/app/cs/?q=state:empty")
	answers(t, "translation", 200, p.Get("/projects/demo/app/cs/"), `q=state%3A%3Ctranslated">Translate</a>`)
	answers(t, "list", 200, rec, "Translate these strings", `<script src="/edit.js" defer>`)
	open := w.address("app", "cs", "Open", "&q=state%3Aempty&offset=1")
	rec = p.Get(open)
	answers(t, "page", 200, rec, `<form id="edit" class="edit" method="post"`, `lang="cs" dir="ltr"`, "Suggest</button>", "Copy the source")
	if policy := rec.Header().Get("Content-Security-Policy"); policy != web.Policy+"; script-src 'self'; connect-src 'self'" {
		t.Errorf("policy %q", policy)
	}
	rec = p.Post(open, p.form(open, "Otevřít"))
	next := rec.Header().Get("Location")
	files := w.address("app", "cs", "%d file", "")
	if rec.Code != http.StatusSeeOther || !strings.Contains(next, strings.TrimPrefix(files, "/translate/demo/app/cs/?")) || !strings.Contains(next, "offset=1&") || !strings.Contains(next, "saved=") {
		t.Fatalf("saved: %d %q", rec.Code, next)
	}
	if text, state := w.target("app", "cs", "Open"); text != "Otevřít" || state != catalog.StateTranslated {
		t.Errorf("stored %q %d", text, state)
	}
	rec = p.Get(next)
	answers(t, "next", 200, rec, "Saved.", "autofocus", "For 1</label>", "For 2, 3, 4</label>", "For 0, 5, 6, 7, 8, …</label>")
	p.Post(next, p.form(next, "%d soubor", "%d soubory", "%d souborů"))
	if text, _ := w.target("app", "cs", "%d file"); text != catalog.JoinForms([]string{"%d soubor", "%d soubory", "%d souborů"}) {
		t.Errorf("stored %q", text)
	}
	done := w.address("app", "cs", "Done.", "")
	f := p.form(done, "Hotovo\r\nano")
	f.Set("fuzzy", "1") // checks are not asked about
	if rec = p.Post(done, f); rec.Header().Get("Location") != done+"&saved="+done[strings.Index(done, "=")+1:] {
		t.Errorf("without a search: %d %v", rec.Code, rec.Header())
	}
	if text, state := w.target("app", "cs", "Done."); text != "Hotovo\nano" || state != catalog.StateFuzzy {
		t.Errorf("stored %q %d", text, state)
	}
	line := w.address("app", "cs", "Line %s\n", "&q=state%3Aempty&offset=1")
	if got := p.form(line)["target"]; got[0] != "" {
		t.Errorf("fields %q", got)
	}
	rec = p.Post(line, p.form(line, "\nŘádek %s")) // nobody sees the line feeds of the ends
	if rec.Header().Get("Location") != "/translate/demo/app/cs/?q=state%3Aempty&saved="+line[strings.Index(line, "=")+1:strings.Index(line, "&")] {
		t.Errorf("the last one: %d %v", rec.Code, rec.Header())
	}
	rec = p.Get(rec.Header().Get("Location"))
	answers(t, "end", 200, rec, "Saved. That was the last string of this search.")
	rec = p.Get(line)
	answers(t, "line feed", 200, rec, "Řádek %s\n</textarea>", "Jana Nováková")
	w.Verify()
}

// TestEditFormRules: who has no form, and what is answered to one that is sent anyway.
func TestEditFormRules(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{})
	writer := w.signIn(jana)
	open := w.address("app", "cs", "Open", "")
	good := writer.form(open, "Otevřít")
	stranger := person{catalogtest.NewVisitor(t, w.s)}
	rec := stranger.Get(open)
	answers(t, "stranger", 200, rec, "Sign in to translate")
	for _, tt := range []struct {
		name   string
		p      person
		target string
		change func(url.Values)
		header []string
		status int
		want   string
	}{
		{"stranger", stranger, open, nil, nil, 303, ""},
		{"scope read", w.signIn(catalog.Token{Name: "read", Scope: catalog.ScopeRead}), open, nil, nil, 403, "token of scope write"},
		{"language", w.signIn(catalog.Token{Name: "de", Scope: catalog.ScopeWrite, Languages: catalog.Names("de")}), open, nil, nil, 403, "for other projects or languages"},
		{"project", w.signIn(catalog.Token{Name: "x", Scope: catalog.ScopeWrite, Projects: catalog.Names("x")}), open, nil, nil, 403, "for other projects or languages"},
		{"component", writer, w.address("closed", "cs", "Open", ""), nil, nil, 403, "read-only"},
		{"read-only", writer, w.address("app", "cs", "Fixed", ""), nil, nil, 403, "This string cannot be edited here."},
		{"source", writer, w.address("app", "en", "Open", ""), nil, nil, 403, "This string cannot be edited here."},
		{"no token of the form", writer, open, func(f url.Values) { f.Del("form") }, nil, 403, "not sent by this page"},
		{"another site", writer, open, nil, []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, 403, "not sent by this page"},
		{"no browser", writer, open, nil, []string{}, 403, "not sent by this page"},
		{"string is gone", writer, "/translate/demo/app/cs/?checksum=1234567890abcdef", nil, nil, 409, "not in this translation any more. Your text is not stored: Otevřít"},
		{"suggestions are off", writer, w.address("silent", "cs", "Open", ""), func(f url.Values) { f.Set("do", "suggest") }, nil, 403, "This string cannot be edited here."},
		{"number of forms", writer, open, func(f url.Values) { f.Add("target", "x") }, nil, 400, "Number of plurals does not match"},
		{"control character", writer, open, func(f url.Values) { f.Set("target", "a\x00b") }, nil, 400, "This text cannot be stored: It has the control character U+0000."},
		{"too long", writer, open, func(f url.Values) { f.Set("target", strings.Repeat("x", 4*edit.MaxText)) }, nil, 400, "cannot be read"},
		{"nobody's suggestion", writer, open, func(f url.Values) { f.Set("do", "accept:7") }, nil, 404, "Otevřít"},
		{"nothing", writer, open, func(f url.Values) { f.Del("do") }, nil, 200, "Otevřít"},
	} {
		if rec := tt.p.Get(tt.target); tt.status != 200 && tt.p != writer && strings.Contains(rec.Body.String(), `id="edit"`) {
			t.Errorf("%s has a form", tt.name)
		}
		f := url.Values{}
		for name, values := range good {
			f[name] = append([]string(nil), values...)
		}
		if tt.p != writer && tt.p != stranger {
			f.Set("form", tt.p.formToken())
		}
		if tt.change != nil {
			tt.change(f)
		}
		rec := tt.p.Post(tt.target, f, tt.header...)
		answers(t, tt.name, tt.status, rec, tt.want)
		if text, _ := w.target("app", "cs", "Open"); text != "" {
			t.Fatalf("%s stored %q", tt.name, text)
		}
	}
	if rec := stranger.Post(open, good); rec.Header().Get("Location") != "/login/?next="+url.QueryEscape(open) {
		t.Errorf("a stranger is sent to %q", rec.Header().Get("Location"))
	}
	r := request(http.MethodPost, strings.TrimSuffix(w.unitPath("app", "cs", "Open"), "/")+"/suggestions/", "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
	if rec := writer.Send(r); rec.Code != http.StatusUnauthorized {
		t.Errorf("a session writes through the API: %d %s", rec.Code, rec.Body)
	}
	if _, err := w.Editor.Lock(t.Context(), w.component("app"), edit.Author{Name: "ada"}, true); err != nil {
		t.Fatal(err)
	}
	rec = writer.Post(open, good)
	answers(t, "locked", 403, rec, "The component is locked", "Otevřít</textarea>")
	w.Verify()
}

// formToken is what forms of the session have.
func (p person) formToken() string {
	return formOf(p.Get("/login/").Body.String()).Get("form")
}

func (w *translating) component(slug string) (id int64) {
	w.EachUnit(func(c *catalog.Component, _ *catalog.Translation, _ *catalog.Unit) {
		if c.Slug == slug {
			id = c.ID
		}
	})
	return id
}

// unit is the unit and the translation of a string.
func (w *translating) unit(component, language, source string) (unit, translation int64) {
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if c.Slug == component && tr.Language == language && catalog.SplitForms(u.Source)[0] == source {
			unit, translation = u.ID, tr.ID
		}
	})
	return unit, translation
}

func (w *translating) unitPath(component, language, source string) string {
	id, _ := w.unit(component, language, source)
	return "/api/units/" + strconv.FormatInt(id, 10) + "/"
}

// TestEditFormChecks: errors stop, warnings ask once about the checks that they name, and
// a conflict shows both texts.
func TestEditFormChecks(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{})
	p := w.signIn(jana)
	stored := func(source, want string) {
		t.Helper()
		if text, _ := w.target("app", "cs", source); text != want {
			t.Errorf("%s is %q, want %q", source, text, want)
		}
	}
	line := w.address("app", "cs", "Line %s\n", "")
	rec := p.Post(line, p.form(line, "Řádek %d\n"))
	answers(t, "error", 400, rec, "The program could not use this text.", "Its placeholder 1 is of another kind than in the source.", "Řádek %d\n</textarea>")
	f := formOf(rec.Body.String())
	f.Set("do", "sure:save")
	if rec = p.Post(line, f); rec.Code != 400 {
		t.Errorf("an error that the reader is sure about: %d", rec.Code)
	}
	stored("Line %s\n", "")
	done := w.address("app", "cs", "Done.", "")
	rec = p.Post(done, p.form(done, "Hotovo"))
	answers(t, "warning", 409, rec, "This text fails checks.", `/checks/end_stop/`, `value="sure:save"`, "Hotovo</textarea>")
	stored("Done.", "")
	f = formOf(rec.Body.String(), " Hotovo")
	f.Set("do", "sure:save")
	if rec = p.Post(done, f); rec.Code != 409 {
		t.Errorf("a check about which nobody was asked: %d", rec.Code)
	}
	f = formOf(rec.Body.String())
	f.Set("do", "sure:save")
	if rec = p.Post(done, f); rec.Code != http.StatusSeeOther {
		t.Errorf("a sure reader: %d %s", rec.Code, rec.Body)
	}
	stored("Done.", " Hotovo")

	open := w.address("app", "cs", "Open", "")
	mine := p.form(open, "Otevřít")
	unit, translation := w.unit("app", "cs", "Open")
	_, err := w.Editor.Edit(t.Context(), w.component("app"), translation, edit.Author{Name: "Karel"}, []edit.Request{{UnitID: unit, Target: []string{"Otevři"}, State: catalog.StateTranslated}})
	must(t, err)
	copied := p.Post(open, url.Values{"form": mine["form"], "seen": mine["seen"], "target": mine["target"], "copy": {"source"}})
	if got := formOf(copied.Body.String()); got.Get("target") != "Open" || got.Get("seen") != mine.Get("seen") {
		t.Errorf("the source is copied: %v", got)
	}
	rec = p.Post(open, mine)
	answers(t, "conflict", 409, rec, "Somebody changed this string meanwhile.", "Karel", "Otevřít</textarea>", "<del>Otevřít</del>", "<ins>Otevři</ins>")
	stored("Open", "Otevři")
	f = formOf(rec.Body.String())
	if rec = p.Post(open, f); rec.Code != http.StatusSeeOther {
		t.Errorf("saved again: %d %s", rec.Code, rec.Body)
	}
	if rec = p.Post(open, f); rec.Code != http.StatusSeeOther {
		t.Errorf("the same form twice: %d %s", rec.Code, rec.Body)
	}
	stored("Open", "Otevřít")
}

// TestEditFormSuggestions: readers suggest, copy, accept and reject.
func TestEditFormSuggestions(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{Settings: api.Settings{TokenRate: limit.Rate{Count: 14, Per: time.Hour}}})
	p, open := w.signIn(jana), w.address("app", "cs", "Open", "")
	for _, text := range []string{"Otevřít", "Otevři"} {
		f := p.form(open, text)
		f.Set("do", "suggest")
		if rec := p.Post(open, f); rec.Code != http.StatusSeeOther {
			t.Fatalf("suggest: %d %s", rec.Code, rec.Body)
		}
	}
	rec := p.Get(open)
	answers(t, "suggestions", 200, rec, `value="accept:1"`, `value="reject:2"`, `name="copy" value="s0"`)
	f := formOf(rec.Body.String())
	f.Set("copy", "s1")
	rec = p.Post(open, f)
	answers(t, "copy", 200, rec, "Otevři</textarea>")
	f = formOf(rec.Body.String(), "Mine")
	f.Set("do", "reject:2")
	rec = p.Post(open, f)
	answers(t, "reject", 200, rec, "Mine</textarea>")
	if strings.Contains(rec.Body.String(), "reject:2") {
		t.Error("a rejected suggestion is shown")
	}
	f.Set("do", "accept:1")
	if rec = p.Post(open, f); rec.Code != http.StatusSeeOther {
		t.Errorf("accept: %d %s", rec.Code, rec.Body)
	}
	if text, _ := w.target("app", "cs", "Open"); text != "Otevřít" {
		t.Errorf("accepted: %q", text)
	}
	silent := w.address("silent", "cs", "Open", "")
	if rec = p.Get(silent); strings.Contains(rec.Body.String(), "Suggest</button>") || !strings.Contains(rec.Body.String(), `id="edit"`) {
		t.Error("suggestions that are turned off are offered")
	}
	for range 15 {
		rec = p.Post(open, f)
	}
	answers(t, "limit", 429, rec, "throttled")
	w.Verify()
}

// TestEditScript: the script is served as one, and has nothing of a reader.
func TestEditScript(t *testing.T) {
	t.Parallel()
	_, rec := send(newTranslating(t, api.Options{}).s, http.MethodGet, "/edit.js")
	source, err := os.ReadFile("templates/edit.js")
	must(t, err)
	if h := rec.Header(); h.Get("Content-Type") != "text/javascript; charset=utf-8" || h.Get("X-Content-Type-Options") != "nosniff" || rec.Body.String() != string(source) {
		t.Errorf("%d %v", rec.Code, h)
	}
}
