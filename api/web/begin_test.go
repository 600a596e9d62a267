package web_test

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/testrepos"
)

// pusher pushes what the page that begins a language asks for.
type pusher struct {
	resource.Operations // another call would panic
	push                func() error
}

func (p *pusher) Push(context.Context, int64, *catalog.Token) (bool, error) { return false, p.push() }

// TestBeginLanguage: the page offers what a component lacks, says what a language begins with and
// who may, and ends at its first string; without a push it waits, and says so. Rights are those of
// the API.
func TestBeginLanguage(t *testing.T) {
	t.Parallel()
	repo := testrepos.Empty(t)
	template := catalogtest.PO("Open", "", "Close", "")
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/app.pot": template, "po/cs.po": catalogtest.PO("Open", "Otevřít"), "doc/app.pot": template, "bare/cs.po": template}})
	edits := catalog.Edits{Mode: catalog.PushDirect}
	puller := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{
		"app": {Edits: edits, NewBase: "po/app.pot"}, "closed": {NewBase: "doc/app.pot", Filemask: "doc/*.po"}, "bare": {Edits: edits, Filemask: "bare/*.po"},
	})
	puller.Sync()
	push := &pusher{push: func() error { return errors.New("the remote is away") }}
	w := &translating{puller, t, api.New(api.Options{DB: puller.DB, Languages: puller.Languages, Edits: puller.Editor, Operations: push, CacheBytes: 1 << 20})}
	stranger, writer, czech := person{catalogtest.NewVisitor(t, w.s)}, w.signIn(jana), w.signIn(catalog.Token{Name: "cs", Scope: catalog.ScopeWrite, Languages: "cs"})

	const app, polish = "/new-lang/demo/app/", "/new-lang/demo/app/?lang=pl"
	rec := stranger.Get(app)
	answers(t, "the choice", 200, rec, `<option value="pl">Polish (pl)`)
	for _, has := range []string{`value="cs"`, `value="en"`, "<script"} {
		if strings.Contains(rec.Body.String(), has) {
			t.Errorf("the choice has %s", has)
		}
	}
	rec = stranger.Get(polish)
	answers(t, "a stranger", 200, rec, "po/pl.po", "For 2, 3, 4, 22, 23, …", `href="/login/?next=%2Fnew-lang%2Fdemo%2Fapp%2F%3Flang%3Dpl"`)
	if strings.Contains(rec.Body.String(), `method="post"`) {
		t.Error("a stranger has a form")
	}
	answers(t, "another language's translator", 200, czech.Get(polish), "Your token does not permit you")
	answers(t, "a component that takes no edits", 200, writer.Get("/new-lang/demo/closed/?lang=pl"), "This server takes no edits of the component", "/api/components/demo/closed/new_template/")
	answers(t, "a component without a template", 200, writer.Get("/new-lang/demo/bare/?lang=pl"), "The component has no template here")
	for who, p := range map[string]person{"closed": writer, "app": czech} {
		target := "/new-lang/demo/" + who + "/?lang=pl"
		answers(t, "a form to "+who, http.StatusForbidden, p.Post(target, url.Values{"form": {p.formToken()}}))
	}
	answers(t, "a form of another session", http.StatusForbidden, writer.Post(polish, url.Values{"form": {czech.formToken()}}))
	answers(t, "no language", http.StatusBadRequest, writer.Post(app, url.Values{"form": {writer.formToken()}}))
	answers(t, "a page that does not exist", 404, stranger.Get("/projects/demo/app/pl/"), `href="/new-lang/demo/app/?lang=pl"`)
	answers(t, "an invitation", 200, stranger.Get("/engage/demo/"), `href="/new-lang/demo/app/"`)
	answers(t, "the component", 200, stranger.Get("/projects/demo/app/"), `href="/new-lang/demo/app/"`)
	rec = stranger.Get("/engage/demo/cs/")
	if answers(t, "an invitation in a language", 200, rec, `href="/new-lang/demo/closed/?lang=cs"`); strings.Contains(rec.Body.String(), `href="/new-lang/demo/app/`) {
		t.Error("a language is to begin where it is")
	}

	answers(t, "a language that nothing has", 200, stranger.Get("/languages/tlh/"), "No component has this language yet.", `href="/engage/demo/tlh/"`)
	answers(t, "an invitation to it", 200, stranger.Get("/engage/demo/tlh/"), "does not have this language yet.", `href="/new-lang/demo/closed/?lang=tlh"`, `href="/new-lang/demo/app/?lang=tlh"`)
	for _, target := range []string{"/languages/tlh/demo/", "/projects/demo/-/tlh/"} {
		if rec := stranger.Get(target); rec.Header().Get("Location") != "/engage/demo/tlh/" {
			t.Errorf("%s: %d %s", target, rec.Code, rec.Header().Get("Location"))
		}
	}
	answers(t, "a language that nobody knows", 404, stranger.Get("/languages/nonsense/"))

	begin := func(language string) {
		t.Helper()
		target := app + "?lang=" + language
		f := formOf(writer.Get(target).Body.String())
		if rec := writer.Post(target, f); rec.Code != http.StatusSeeOther || rec.Header().Get("Location") != target {
			t.Fatalf("%s: %d %s", language, rec.Code, rec.Body)
		}
	}
	begin("pl")
	answers(t, "without a push", 200, writer.Get(polish), `http-equiv="refresh"`, "on its way to the repository")
	push.push = func() error {
		repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": template}})
		w.Sync()
		return nil
	}
	begin("de")
	lock, err := w.Editor.Lock(t.Context(), w.component("app"), edit.Author{Name: "ada"}, true)
	if must(t, err); !lock {
		t.Error("not locked")
	}
	answers(t, "locked", 200, writer.Get(app+"?lang=fr"), "The component is locked")
	answers(t, "a form when it is locked", http.StatusForbidden, writer.Post(app+"?lang=fr", url.Values{"form": {writer.formToken()}}), "locked")
	want := w.address("app", "de", "Open", "&offset=1&q=state%3A%3Ctranslated")
	if rec := writer.Get(app + "?lang=de"); rec.Code != http.StatusFound || rec.Header().Get("Location") != want {
		t.Errorf("after the push: %d %s, want %s", rec.Code, rec.Header().Get("Location"), want)
	}
	writer.form(want)
	w.Verify()
}

// TestSmallThings: a string that is gone is said to be, other languages are in the order of their
// names, nobody created a component by a commit, a project says nothing of strings before its first
// import, and who signs in with a token is told what it permits.
func TestSmallThings(t *testing.T) {
	t.Parallel()
	repo, files := testrepos.Empty(t), map[string]string{}
	for _, code := range []string{"cs", "hr", "de"} {
		files["po/"+code+".po"] = catalogtest.PO("Open", code)
	}
	repo.Commit(t, testrepos.Change{Files: files})
	puller := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {}})
	w := &translating{puller, t, api.New(api.Options{DB: puller.DB, Languages: puller.Languages})}
	p := w.signIn(jana)
	answers(t, "before the import", 200, p.Get("/"), `data-name="Strings left"></td>`, `data-name="Failing checks"></td>`)
	w.Sync()
	answers(t, "after it", 200, p.Get("/"), `data-name="Strings left">0</td>`)
	const gone = "This string is not here any more."
	answers(t, "gone", 200, p.Get("/translate/demo/app/cs/?checksum=0123456789abcdef"), gone)
	if strings.Contains(p.Get("/translate/demo/app/cs/").Body.String(), gone) {
		t.Error("a list says that a string is gone")
	}
	body := p.Get(w.address("app", "de", "Open", "")).Body.String()
	if _, others, _ := strings.Cut(body, `id="others"`); strings.Index(others, "Croatian") > strings.Index(others, "Czech") {
		t.Error("languages are in the order of codes")
	}
	created, _, _ := strings.Cut(p.Get("/changes/browse/demo/app/?kind=files&order=oldest").Body.String(), "Component created")
	if created = created[strings.LastIndex(created, "<li"):]; !strings.Contains(created, "change event") || strings.Contains(created, "/user/") {
		t.Errorf("created: %q", created)
	}
	if _, history, _ := strings.Cut(body, `id="history"`); strings.Count(history, `href="/projects/demo/app/de/"`) > 0 || !strings.Contains(body, "<h1><bdi>German · app · Demo</bdi></h1>") {
		t.Errorf("a string names its translation once: %s", body)
	}
	answers(t, "the name of a token", 200, p.Get("/"), "<bdi>"+jana.Name+"</bdi></a></nav>")
	for curve, want := range map[string]int{"": 3, "hr,de": 2, "cs": 1, "xx": 0} {
		if body := p.Get("/projects/demo/app/?curve=" + curve).Body.String(); strings.Count(body, `<path class="line c`)-strings.Count(body, `class="spark"`) != 2*want {
			t.Errorf("%q: want %d curves: %s", curve, want, body)
		}
	}
	files["po/zh_CN.po"], files["po/zh_Hans.po"] = files["po/cs.po"], files["po/cs.po"]
	w.Commit(repo, testrepos.Change{Files: files})
	answers(t, "two languages of one name", 200, p.Get(w.address("app", "de", "Open", "")), "<bdi>Chinese (Simplified) (zh_CN)</bdi>", "<bdi>Chinese (Simplified)</bdi>")
	answers(t, "a token's session", 200, p.Get("/login/"), "<dt>Scope</dt><dd><code>write</code>")
}

// TestReusedIsNamed: the page of a string whose translation stands for another one leads to it.
func TestReusedIsNamed(t *testing.T) {
	t.Parallel()
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": catalogtest.PO("Open", `Das "Auf"`, "Upwards", `Das "Auf"`, "Down", "Ab")}})
	puller := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {AllowTranslationPropagation: true}})
	puller.Sync()
	w := &translating{puller, t, bare(puller.Store, api.Options{})}
	p := person{catalogtest.NewVisitor(t, w.s)}
	link := regexp.MustCompile(`href="(/search/[^"]+)">Strings with the same translation`)
	m := link.FindStringSubmatch(p.Get(w.address("app", "de", "Open", "")).Body.String())
	if m == nil || link.MatchString(p.Get(w.address("app", "de", "Down", "")).Body.String()) {
		t.Fatalf("links %q", m)
	}
	rec := p.Get(html.UnescapeString(m[1]))
	if answers(t, "the search", 200, rec, "Upwards", "Open"); strings.Contains(rec.Body.String(), "Down") {
		t.Error("it finds others")
	}
}
