package web_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// verdict is what the page of a form that was not stored says of its text.
var verdict = regexp.MustCompile(`(?s)<div class="wrong" role="alert" id="past">(.*?)</div>\n<p class="note" id="draft"`)

// TestLiveIsSaving: of any text for any string, in any language of the pages, the answer while one
// types is what the answer to saving it says, and nothing if that stores it; it stores nothing.
func TestLiveIsSaving(t *testing.T) {
	t.Parallel()
	w, lacking := newTranslating(t, api.Options{}), newLacking(t)
	type one struct {
		p       person
		address string
		forms   int
	}
	var all []one
	p := w.signIn(jana)
	for _, language := range []string{"cs", "ar"} {
		for _, source := range []string{"Open", "Done.", "Line %s\n"} {
			all = append(all, one{p, w.address("app", language, source, ""), 1})
		}
		all = append(all, one{p, w.address("app", language, "%d file", ""), map[string]int{"cs": 3, "ar": 6}[language]})
	}
	p = lacking.signIn(jana)
	all = append(all, one{p, lacking.lacks("app", "Done.", ""), 1}, one{p, lacking.lacks("app", "%d file", ""), 3})
	answers := map[int]int{}
	rapid.Check(t, func(rt *rapid.T) {
		on := rapid.SampledFrom(all).Draw(rt, "string")
		target := on.address + "&ui=" + rapid.SampledFrom([]string{"en", "de", "ar"}).Draw(rt, "ui")
		parts := rapid.SampledFrom([]string{"", " ", ".", "\n", "x", "%d", "%s", "%1$s", "%", "!", "Hotovo.", "soubor", "\x01", "\u200b", "\xff", "  ", "تم"})
		texts := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) string {
			return strings.Join(rapid.SliceOfN(parts, 0, 3).Draw(rt, "parts"), "")
		}), on.forms, on.forms).Draw(rt, "texts")
		page := on.p.Get(target)
		f := formOf(page.Body.String(), texts...)
		if rapid.IntRange(0, 3).Draw(rt, "fuzzy") == 0 {
			f.Set("fuzzy", "1")
		}
		f.Set("do", "look")
		said := on.p.Post(target, f)
		if state := "X-Repoglot-Generation"; said.Header().Get(state) != page.Header().Get(state) {
			rt.Fatalf("looking at %q stored something", texts)
		}
		f.Set("do", "save")
		saved := on.p.Post(target, f)
		answers[saved.Code]++
		want := ""
		if m := verdict.FindStringSubmatch(saved.Body.String()); m != nil {
			want = m[1]
		}
		if got := said.Body.String(); said.Code != http.StatusOK || got != want || (want == "") != (saved.Code == http.StatusSeeOther) {
			rt.Fatalf("%q: looking %d %q, saving %d %q", texts, said.Code, got, saved.Code, want)
		}
	})
	for _, status := range []int{http.StatusSeeOther, http.StatusBadRequest, http.StatusConflict} {
		if answers[status] == 0 {
			t.Errorf("none was answered with %d: %v", status, answers)
		}
	}
	w.Verify()
	lacking.Verify()
}

// TestLiveFor: who is told what, and how large it is.
func TestLiveFor(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{})
	done := w.address("app", "cs", "Done.", "")
	writer := w.signIn(jana)
	look := func(p person, target string, texts ...string) *httptest.ResponseRecorder {
		return p.Post(target, map[string][]string{"form": {p.formToken()}, "do": {"look"}, "target": texts})
	}
	rec := look(writer, done, "Hotovo")
	answers(t, "a check", 200, rec, "This text fails checks.", "/checks/end_stop/", `name="asked" value="end_stop"`, `value="sure:save"`)
	if rec.Body.Len() > 800 || rec.Header().Get("Cache-Control") != "private, no-store" {
		t.Errorf("%d bytes, %v", rec.Body.Len(), rec.Header())
	}
	f := writer.form(done, "Hotovo")
	f["asked"], f["do"] = formOf(rec.Body.String())["asked"], []string{"sure:save"} // the reader was asked
	if rec = writer.Post(done, f); rec.Code != http.StatusSeeOther {
		t.Errorf("a reader who saw it is sure: %d %s", rec.Code, rec.Body)
	}
	suggests := w.signIn(catalog.Token{Name: "s", Scope: catalog.ScopeSuggest})
	rec = look(suggests, done, "Hotovo")
	answers(t, "who suggests", 200, rec, "/checks/end_stop/")
	if strings.Contains(rec.Body.String(), "<button") {
		t.Errorf("who suggests may save: %s", rec.Body)
	}
	answers(t, "the first of three", 200, look(suggests, w.address("app", "cs", "%d file", ""), "%d", "x", ""), "For 0, 5, 6, 7, 8, …: It is empty.")
	for name, rec := range map[string]*httptest.ResponseRecorder{
		"source":    look(writer, w.address("app", "en", "Done.", ""), "Done"),
		"read-only": look(writer, w.address("app", "cs", "Fixed", ""), "x"),
		"closed":    look(writer, w.address("closed", "cs", "Done.", ""), "x"),
		"no form":   writer.Post(done, map[string][]string{"do": {"look"}, "target": {"x"}}),
	} {
		answers(t, name, 403, rec)
	}
	if rec = (person{catalogtest.NewVisitor(t, w.s)}).Post(done, f); rec.Code != http.StatusSeeOther || rec.Body.Len() > 0 {
		t.Errorf("after the session: %d %s", rec.Code, rec.Body)
	}
	if text, _ := w.target("app", "cs", "Done."); text != "Hotovo" {
		t.Errorf("stored %q", text)
	}
}

// TestBrowserLive: while somebody types, the form says what saving would, after a pause and by one
// request at a time; focus and field stay where they are; it is gone when the text is good, and
// nothing is said without a session.
func TestBrowserLive(t *testing.T) {
	b := openBrowser(t)
	w := newTranslating(t, api.Options{})
	var looks atomic.Int32
	arrived, answer, end := make(chan bool, 9), make(chan bool), make(chan bool)
	site := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Sec-Fetch-Dest") == "empty" { // by fetch
			looks.Add(1)
			arrived <- true
			select {
			case <-answer:
			case <-end:
			}
		}
		w.s.ServeHTTP(to, r)
	}))
	defer site.Close()
	defer close(end)
	rules := readAxe(t)
	done := w.address("app", "cs", "Done.", "")
	b.signIn(site.URL, w.token(jana), "/")
	// The pause ends when the test says so.
	b.call("Page.addScriptToEvaluateOnNewDocument", map[string]string{"source": `
		window.pauses = {}; let n = 0; const after = setTimeout;
		window.setTimeout = (f, ms) => { if (ms !== 700) return after(f, ms); pauses[++n] = f; return n; };
		window.clearTimeout = n => { delete pauses[n]; };
		window.pause = () => { const all = Object.values(pauses); pauses = {}; all.forEach(f => f()); return all.length; };
		window.said = () => { const v = document.getElementById("verdict"); return [...v.querySelectorAll("dt")].map(e => e.textContent).join() || v.innerText; };
		window.saying = want => new Promise(r => { const end = performance.now() + 5000, look = () => said() === want || performance.now() > end ? r(said()) : requestAnimationFrame(look); look(); });
		window.place = () => document.getElementById("text0").getBoundingClientRect().top;`})
	paused := func() {
		t.Helper()
		if got := b.ask(`pause()`); got != "1" {
			t.Errorf("%s pauses", got)
		}
	}
	arrives := func() {
		t.Helper()
		select {
		case <-arrived:
		case <-time.After(10 * time.Second):
			t.Fatal("it does not ask")
		}
	}
	asked := func(want string) {
		t.Helper()
		paused()
		arrives()
		answer <- true
		if got := b.ask(`saying(` + strconv.Quote(want) + `)`); got != want {
			t.Errorf("it says %q", got)
		}
	}
	for _, way := range []struct {
		language, want string
		width          int
		dark           bool
	}{{"en", "Mismatched full stop", 1280, false}, {"ar", "النقطة لا تتطابق", 390, true}} {
		b.inspect(site.URL, done, way.language, "", way.width, way.dark)
		paused() // of the page: nothing was typed
		top := b.ask(`place()`)
		for _, part := range []string{"Ho", "to", "vo"} {
			b.call("Input.insertText", map[string]string{"text": part})
		}
		asked(way.want)
		b.ask(rules)
		if got := b.ask(axe); got != "" {
			t.Errorf("%s: %s", way.language, got)
		}
		if got := b.ask(`[document.activeElement.id, document.getElementById("verdict").role, document.activeElement.ariaDescribedByElements[0].id].join()`); got != "text0,status,verdict" || b.ask(`place()`) != top {
			t.Errorf("where one types: %s, moved from %s to %s", got, top, b.ask(`place()`))
		}
		b.call("Input.insertText", map[string]string{"text": "."})
		asked("")
		b.ask(`localStorage.clear()`)
	}
	b.inspect(site.URL, done, "en", "", 1280, false)
	paused()
	before := looks.Load()
	b.typeInto("text0", "Hotovo!")
	paused()
	arrives()
	b.typeInto("text0", "Hotovo")
	paused() // it is asked, and does not ask again
	if got := looks.Load() - before; got != 1 {
		t.Errorf("%d at a time", got)
	}
	answer <- true
	b.ask(`new Promise(r => { const end = performance.now() + 5000, look = () => Object.keys(pauses).length || performance.now() > end ? r(1) : requestAnimationFrame(look); look(); })`)
	asked("Mismatched full stop") // the last text
	b.leave(func() { b.press("Enter", "Enter", 13, 2|8) })
	if text, _ := w.target("app", "cs", "Done."); text != "Hotovo" {
		t.Errorf("saved all the same: %q", text)
	}
	b.load(site.URL+w.address("app", "cs", "%d file", ""), 1280, false)
	paused()
	before = looks.Load()
	b.typeInto("text0", "%s")
	paused()
	b.typeInto("text1", "x")
	paused()
	if got := looks.Load() - before; got != 0 {
		t.Errorf("asked %d times before all fields have texts", got)
	}
	b.typeInto("text2", "soubor")
	asked("The program could not use this text. Mend it, or mark it as needing editing: For 1: Its placeholder 1 is of another kind than in the source.")
	if got := b.ask(`document.getElementById("text2").nextElementSibling.id`); got != "verdict" {
		t.Errorf("below the field is %s", got)
	}
	b.leave(func() { b.press("Enter", "Enter", 13, 2) }) // a page that says so
	b.errors = nil                                       // its status
	top := b.ask(`place()`)
	b.typeInto("text0", "%d")
	asked("The program could not use this text. Mend it, or mark it as needing editing: For 0, 5, 6, 7, 8, …: Placeholders: 0 here, 1 in the source.")
	b.typeInto("text1", "%d soubory")
	b.typeInto("text2", "%d souborů")
	asked("")
	if got := b.ask(`place()`); got != top {
		t.Errorf("a mended text moves the field from %s to %s", top, got)
	}
	b.call("Network.clearBrowserCookies", nil)
	b.typeInto("text2", "")
	b.typeInto("text2", "y")
	asked("")
	before = looks.Load()
	b.typeInto("text2", "z")
	paused()
	if got := looks.Load() - before; got != 0 || len(b.errors) > 0 {
		t.Errorf("without a session it asks %d times more, %s", got, b.errors)
	}
	b.signIn(site.URL, w.token(catalog.Token{Name: "s", Scope: catalog.ScopeSuggest}), "/")
	b.load(site.URL+w.address("app", "ar", "Done.", ""), 1280, false)
	paused()
	b.typeInto("text0", "تم")
	asked("Mismatched full stop")
	b.leave(func() { b.press("Enter", "Enter", 13, 1) })
	if got := b.ask(`[...document.querySelectorAll("#suggestions ~ ul .text")].map(e => e.textContent).join()`); got != "تم" {
		t.Errorf("suggested by keyboard: %q", got)
	}
	b.call("Page.addScriptToEvaluateOnNewDocument", map[string]string{"source": `CSS.supports = () => false`}) // as where fields do not grow by themselves
	b.load(site.URL+w.address("app", "cs", "Open", ""), 1280, false)
	b.typeInto("text0", "a\nb\nc\nd\ne\nf")
	if got := b.ask(`document.querySelector("label small").innerText + (parseInt(document.getElementById("text0").style.height) > 120)`); got != "Characters: 11, in the source 4true" {
		t.Errorf("count and height: %s", got)
	}
}
