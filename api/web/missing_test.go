package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/testrepos"
)

// newLacking is a server with a component that takes edits ("app") and one that does not
// ("closed"), whose Czech file lacks strings of the template. It has the text of a similar one
// that the template has no more, and obsolete entries.
func newLacking(t *testing.T) *translating {
	t.Helper()
	const header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=3; plural=n==1 ? 0 : n>=2 && n<=4 ? 1 : 2;\\n\"\n"
	template := header + "\nmsgid \"Open\"\nmsgstr \"\"\n" + "\n#. A note\n#: src/a.c:7\n#, c-format\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n" +
		"\nmsgid \"Close the old window\"\nmsgstr \"\"\n\nmsgid \"Done.\"\nmsgstr \"\"\n"
	cs := header + "\nmsgid \"Open\"\nmsgstr \"\"\n\nmsgid \"Close the window\"\nmsgstr \"Zavřít okno\"\n" +
		"\n#, fuzzy\n#~ msgid \"Done.\"\n#~ msgstr \"Hotovo.\"\n\n#~ msgid \"Close that old window\"\n#~ msgstr \"Zavřít to okno\"\n\n#~ msgid \"Something else\"\n#~ msgstr \"Něco\"\n"
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/app.pot": template, "po/cs.po": cs, "doc/app.pot": template, "doc/cs.po": cs}})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{
		"app":    {NewBase: "po/app.pot", Edits: catalog.Edits{Mode: catalog.PushDirect}, EnableSuggestions: true},
		"closed": {NewBase: "doc/app.pot", Filemask: "doc/*.po"},
	})
	w.Sync()
	return &translating{w, t, api.New(api.Options{DB: w.DB, Languages: w.Languages, Edits: w.Editor, CacheBytes: 1 << 20})}
}

// lacks is the address of a string that the Czech file lacks.
func (w *translating) lacks(component, source, more string) string {
	w.t.Helper()
	return strings.Replace(w.address(component, "en", source, more), "/en/", "/cs/", 1)
}

// TestTranslateMissing: a reader goes through the untranslated strings and then through those
// that the file lacks; what is saved is a string of the file at once.
func TestTranslateMissing(t *testing.T) {
	t.Parallel()
	w := newLacking(t)
	p := w.signIn(jana)
	rec := p.Get("/translate/demo/app/cs/?q=state:empty")
	open := w.address("app", "cs", "Open", "&offset=1&q=state%3Aempty")
	answers(t, "list", 200, rec, "3 not in the file", `<a class="button" href="`+open+`">`)
	rec = p.Get(open)
	files := w.lacks("app", "%d file", "&offset=2&q=state%3Aempty")
	answers(t, "a string of the file", 200, rec, "1 of 4", `<a rel="next" href="`+files+`"`)
	rec = p.Post(open, p.form(open, "Otevřít"))
	next := w.lacks("app", "%d file", "&offset=1&q=state%3Aempty&gone=1&saved=")
	if !strings.HasPrefix(rec.Header().Get("Location"), next) {
		t.Fatalf("after the last string of the file: %d %v, want %s", rec.Code, rec.Header(), next)
	}
	rec = p.Get(rec.Header().Get("Location"))
	answers(t, "a missing string", 200, rec, "Saved.", "2 of 4", "The file does not have this string yet", "For 2, 3, 4</label>", "A note", "src/a.c:7", "c-format", "missing/?q=id:")
	rec = p.Post(files, p.form(files, "%d soubor", "%d soubory", "soubory"))
	answers(t, "an error", 400, rec, "The program could not use this text.")
	sent := p.form(files, "%d soubor", "%d soubory", "%d souborů")
	rec = p.Post(files, sent)
	next = w.lacks("app", "Close the old window", "&offset=1&q=state%3Aempty&gone=1&saved=")
	if !strings.HasPrefix(rec.Header().Get("Location"), next) {
		t.Fatalf("after a missing string: %d %s, want %s", rec.Code, rec.Header().Get("Location"), next)
	}
	if text, state := w.target("app", "cs", "%d file"); text != catalog.JoinForms([]string{"%d soubor", "%d soubory", "%d souborů"}) || state != catalog.StateTranslated {
		t.Errorf("stored %q %d", text, state)
	}
	answers(t, "the string afterwards", 200, p.Get(strings.Split(files, "&")[0]), "Jana Nováková", "%d souborů</textarea>")
	if rec = p.Post(files, sent); rec.Code != http.StatusSeeOther {
		t.Errorf("the same form twice: %d %s", rec.Code, rec.Body)
	}
	sent["target"], sent["fuzzy"] = []string{"%d jinak", "%d jinak", "%d jinak"}, []string{"1"} // checks are not asked about
	answers(t, "another text for what somebody has translated", 409, p.Post(files, sent), "Somebody changed this string meanwhile.")
	last := w.lacks("app", "Done.", "&offset=2&q=state%3Aempty")
	rec = p.Post(last, p.form(last, "Hotovo."))
	if to := rec.Header().Get("Location"); !strings.HasPrefix(to, "/translate/demo/app/cs/?q=state%3Aempty&saved=") {
		t.Errorf("after the last one: %d %s", rec.Code, to)
	}
	answers(t, "what is left", 200, p.Get("/translate/demo/app/cs/?q=state:empty"), "one not in the file", w.lacks("app", "Close the old window", "&offset=1&q=state%3Aempty"))
	w.Verify()
}

// TestMissingPages: lists of missing strings lead to their forms, in the order of the list; a
// component that takes no edits has the source strings there, and no form.
func TestMissingPages(t *testing.T) {
	t.Parallel()
	w := newLacking(t)
	p, stranger := w.signIn(jana), person{catalogtest.NewVisitor(t, w.s)}
	files, done := w.lacks("app", "%d file", "&offset=3"), w.lacks("app", "Done.", "&offset=5")
	answers(t, "list", 200, p.Get("/translate/demo/app/cs/?missing=1"), `<a href="`+files+`"`, `<a href="`+done+`"`, `<a class="button" href="`+files+`">`)
	answers(t, "a search of it", 200, p.Get("/translate/demo/app/cs/?missing=1&q=done"), `<a href="`+w.lacks("app", "Done.", "&offset=1&q=done")+`"`)
	answers(t, "the second of three", 200, p.Get(w.lacks("app", "Close the old window", "&offset=4")), "4 of 5", `rel="prev" href="`+files+`"`, `rel="next" href="`+done+`"`)
	answers(t, "stranger", 200, stranger.Get(files), "Sign in to translate")
	rec := stranger.Get("/translate/demo/closed/cs/?missing=1")
	answers(t, "closed", 200, rec, `<a href="`+w.address("closed", "en", "Done.", "")+`"`)
	rec = p.Get(w.lacks("closed", "Done.", ""))
	if strings.Contains(rec.Body.String(), `id="edit"`) || strings.Contains(rec.Body.String(), "One string") {
		t.Errorf("a component that takes no edits has a form: %s", rec.Body)
	}
	if rec = p.Get(w.address("closed", "cs", "Close the window", "&offset=2")); strings.Contains(rec.Body.String(), `rel="next"`) {
		t.Errorf("a component that takes no edits goes on with missing strings: %s", rec.Body)
	}
	for _, wrong := range []string{"/translate/demo/app/cs/?missing=1&q=((", "/translate/demo/app/cs/?missing=1&page=9"} {
		answers(t, wrong, 200, p.Get(wrong))
	}
	only := p.Get("/translate/demo/app/cs/?q=done")
	answers(t, "a search that finds what the file lacks", 200, only, "No matching strings.", `<a class="button" href="`+w.lacks("app", "Done.", "&offset=1&q=done")+`">`)
	if _, err := w.Editor.Lock(t.Context(), w.component("app"), edit.Author{Name: "ada"}, true); err != nil {
		t.Fatal(err)
	}
	answers(t, "locked", 403, p.Post(done, url.Values{"form": {p.formToken()}, "target": {"x."}, "do": {"save"}}), "The component is locked")
	w.Verify()
}

// TestMissingReadOnly: a missing string that nobody may translate has a page, and no form.
func TestMissingReadOnly(t *testing.T) {
	t.Parallel()
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: map[string]string{
		"po/app.pot": catalogtest.PO("a", "") + "\n#, read-only\nmsgid \"Name\"\nmsgstr \"\"\n\nmsgid \"x\\004y\"\nmsgstr \"\"\n", "po/cs.po": catalogtest.PO("a", "A"),
	}})
	puller := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot", Edits: catalog.Edits{Mode: catalog.PushDirect}}})
	puller.Sync()
	w := &translating{puller, t, api.New(api.Options{DB: puller.DB, Languages: puller.Languages, Edits: puller.Editor, CacheBytes: 1 << 20})}
	p := w.signIn(jana)
	for _, source := range []string{"Name", "x\x04y"} {
		rec := p.Get(w.lacks("app", source, ""))
		if answers(t, source, 200, rec, "The file does not have this string yet"); strings.Contains(rec.Body.String(), `id="edit"`) {
			t.Errorf("there is a form: %s", rec.Body)
		}
	}
}

// TestOffers: the text of the obsolete entry of a missing string is a suggestion, which needs
// editing when it is copied if the entry was fuzzy; those of
// similar strings that the template has no more come first, the most similar one before, with
// the difference of the sources, and need editing when they are copied.
func TestOffers(t *testing.T) {
	t.Parallel()
	w := newLacking(t)
	p := w.signIn(jana)
	done := w.lacks("app", "Done.", "")
	rec := p.Get(done)
	answers(t, "obsolete", 200, rec, "Suggestions</h2>", "#~ po/cs.po", "Hotovo.</p>")
	if strings.Contains(rec.Body.String(), "Previous texts") {
		t.Errorf("texts of strings that are not similar: %s", rec.Body)
	}
	f := p.form(done)
	f.Set("copy", "s0")
	const needsEditing = `name="fuzzy" value="1" data-key="Ctrl+U" checked`
	answers(t, "the suggestion of a fuzzy entry is copied", 200, p.Post(done, f), "Hotovo.</textarea>", needsEditing)
	window := w.lacks("app", "Close the old window", "")
	body := p.Get(window).Body.String()
	offers := regexp.MustCompile(`(?s)Previous texts</h2>.*?</section>`).FindString(body)
	first, second := strings.Index(offers, "Zavřít to okno"), strings.Index(offers, "Zavřít okno")
	if first < 0 || second < first || strings.Contains(offers, "Něco") || !strings.Contains(offers, "<del>that</del><ins>the</ins>") || !strings.Contains(offers, "<ins>old ") {
		t.Errorf("offers: %s", offers)
	}
	f = p.form(window)
	f.Set("copy", "p1")
	rec = p.Post(window, f)
	answers(t, "an offer is copied", 200, rec, "Zavřít okno</textarea>", needsEditing)
	f = formOf(rec.Body.String())
	f.Set("fuzzy", "1")
	if rec = p.Post(window, f); rec.Code != http.StatusSeeOther {
		t.Errorf("saved: %d %s", rec.Code, rec.Body)
	}
	if u := w.UnitOf("cs", "Close the old window"); u.Target != "Zavřít okno" || u.State != catalog.StateFuzzy || u.PreviousSource != "Close the window" {
		t.Errorf("stored %q %d, made for %q", u.Target, u.State, u.PreviousSource)
	}
	_, file := send(w.s, http.MethodGet, "/api/translations/demo/app/cs/file/")
	answers(t, "file", 200, file, "#, fuzzy\n#| msgid \"Close the window\"\nmsgid \"Close the old window\"\nmsgstr \"Zavřít okno\"\n")
	f = p.form(done, "Je hotovo.")
	f.Set("do", "suggest")
	if rec = p.Post(done, f); rec.Code != http.StatusSeeOther {
		t.Errorf("suggest: %d %s", rec.Code, rec.Body)
	}
	rec = p.Get(done)
	f = p.form(done)
	if f.Set("copy", "s1"); strings.Contains(p.Post(done, f).Body.String(), needsEditing) {
		t.Error("the suggestion of a person is copied as needing editing")
	}
	accept := regexp.MustCompile(`accept:\d+`).FindString(rec.Body.String())
	answers(t, "both suggestions", 200, rec, "Hotovo.</p>", "Je hotovo.</p>", "The file does not have this string yet")
	f = p.form(done)
	f.Set("do", accept)
	if rec = p.Post(done, f); rec.Code != http.StatusSeeOther {
		t.Errorf("accept: %d %s", rec.Code, rec.Body)
	}
	if text, _ := w.target("app", "cs", "Done."); text != "Je hotovo." {
		t.Errorf("accepted: %q", text)
	}
	w.Verify()
}

// TestFullFileThatLacks: a translation whose file is translated completely and lacks 40 strings
// of the template says both wherever one is shown: in answers the numbers of the file and what
// is missing, on pages how far it is from the template, and how many strings are not in the file,
// with a way to them.
func TestFullFileThatLacks(t *testing.T) {
	t.Parallel()
	template := []string{"a", "", "b", ""}
	for i := range 40 {
		template = append(template, fmt.Sprint("new ", i), "")
	}
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/app.pot": catalogtest.PO(template...), "po/cs.po": catalogtest.PO("a", "A", "b", "B")}})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot", LanguageRegex: "^cs$"}})
	w.Sync()
	s := api.New(api.Options{DB: w.DB, Languages: w.Languages})
	const share, lacks, list = "4.7%", "40 not in the file", `href="/translate/demo/app/cs/?missing=1"`
	for target, want := range map[string][]string{
		"/projects/demo/": {share, lacks}, "/projects/demo/app/": {share, list + ">40</a>"}, "/projects/demo/app/cs/": {share, list + ">Not in the file <b>40</b>"},
		"/languages/cs/": {share, list + ">40</a>"}, "/languages/cs/demo/": {share, list + ">40</a>"}, "/translate/demo/app/cs/": {"all strings <b>2</b>", list + ">" + lacks},
		"/engage/demo/cs/": {list, "40 strings left, " + lacks}, "/": {share, ">40</td>"}, "/languages/": {share, ">40</td>"},
		"/engage/demo/": {share, `Not in the file</dt><dd class="num">40`}, "/projects/demo/-/cs/": {share, list + ">40</a>"},
	} {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		answers(t, target, 200, rec, want...)
	}
	for _, widget := range []string{
		"svg-badge.svg", "app/svg-badge.svg", "app/cs/svg-badge.svg", "-/cs/svg-badge.svg", "app/cs/287x66-grey.svg", "app/cs/88x31-grey.svg", "app/cs/open-graph.svg", "app/multi-auto.svg", "app/horizontal-auto.svg",
	} {
		_, rec := send(s, http.MethodGet, "/widget/demo/"+widget)
		answers(t, widget, 200, rec, "translated: 4%")
	}
	for _, target := range []string{"/exports/stats/demo/", "/exports/stats/demo/app/", "/exports/stats/demo/?format=csv", "/exports/stats/demo/app/?format=csv"} {
		_, rec := send(s, http.MethodGet, target)
		answers(t, target, 200, rec, "100.0", "missing", "40")
	}
	for _, target := range []string{"/api/translations/demo/app/cs/", "/api/translations/demo/app/cs/statistics/", "/api/translations/?q=", "/api/components/demo/app/translations/", "/api/components/demo/app/statistics/"} {
		_, rec := send(s, http.MethodGet, target)
		answers(t, target, 200, rec, `"translated_percent":100.0`, `"missing":40`)
	}
	for _, target := range []string{"/api/projects/demo/matrix/", "/api/projects/demo/statistics/", "/api/projects/demo/languages/", "/api/languages/cs/statistics/", "/api/statistics/"} {
		_, rec := send(s, http.MethodGet, target)
		answers(t, target, 200, rec, `"missing":40`)
	}
}
