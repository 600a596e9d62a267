package web_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
)

// press presses a key with modifiers: 1 is Alt, 2 is Ctrl.
func (b *browserTab) press(key, code string, number, modifiers int) {
	b.t.Helper()
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers})
	}
}

// leave does something that leads to another page, and waits for that.
func (b *browserTab) leave(do func()) {
	b.t.Helper()
	do()
	for b.receive().Method != "Page.loadEventFired" {
	}
}

// signIn signs in by the page that does.
func (b *browserTab) signIn(origin, secret, next string) {
	b.t.Helper()
	b.load(origin+"/login/?next="+next, 1280, false)
	b.leave(func() {
		b.ask(`document.getElementById("token").focus()`)
		b.call("Input.insertText", map[string]string{"text": secret})
		b.press("Enter", "Enter", 13, 0)
		b.call("Input.dispatchKeyEvent", map[string]any{"type": "char", "text": "\r"})
	})
}

// push presses a button of the page, found by a selector, by keyboard, and waits for the
// next page.
func (b *browserTab) push(selector string) {
	b.t.Helper()
	b.leave(func() {
		if got := b.ask(`(e => { e.focus(); return document.activeElement === e; })(document.querySelector("` + selector + `"))`); got != "true" {
			b.t.Fatalf("no button %s", selector)
		}
		b.press(" ", "Space", 32, 0)
	})
}

// answersSuggestions rejects, copies and accepts suggestions of somebody else in Arabic.
func (b *browserTab) answersSuggestions(w *translating, origin, rules string) {
	b.t.Helper()
	unit, translation := w.unit("app", "ar", "Open")
	for _, text := range []string{"افتح", "فتح الملف"} {
		want := edit.Request{UnitID: unit, Target: []string{text}, State: catalog.StateTranslated}
		_, err := w.Editor.Suggest(b.t.Context(), w.component("app"), translation, edit.Author{Name: "Petr"}, want)
		must(b.t, err)
	}
	open := w.address("app", "ar", "Open", "")
	suggested := func(want string) {
		b.t.Helper()
		if got := b.ask(`[...document.querySelectorAll("#suggestions ~ ul .text")].map(e => e.textContent).join()`); got != want {
			b.t.Errorf("suggestions %q, want %q", got, want)
		}
	}
	b.inspect(origin, open, "ar", rules, 390, false)
	suggested("افتح,فتح الملف")
	b.push(`[value^='reject:']`)
	suggested("فتح الملف")
	before, _ := w.target("app", "ar", "Open")
	b.typeInto("text0", "نص")
	b.ask(`document.querySelector("[name^=why]").focus()`)
	b.leave(func() { // which does nothing
		b.press("Enter", "Enter", 13, 0)
		b.call("Input.dispatchKeyEvent", map[string]any{"type": "char", "text": "\r"})
	})
	if text, _ := w.target("app", "ar", "Open"); text != before {
		b.t.Errorf("Enter in a word why saves %q", text)
	}
	b.ask(`document.addEventListener("keydown", e => { window.taken = e.defaultPrevented; })`)
	b.press("1", "Numpad1", 97, 1) // begins a character by its number
	if got := b.ask("String(window.taken)"); got != "false" {
		b.t.Errorf("Alt+1 of the number pad is taken: %s", got)
	}
	b.leave(func() { b.press("+", "Digit1", 49, 1) }) // as on a Czech keyboard
	if got := b.ask(`document.getElementById("text0").value`); got != "فتح الملف" {
		b.t.Errorf("copied %s", got)
	}
	b.push(`[value^='accept:']`)
	suggested("")
	if text, _ := w.target("app", "ar", "Open"); text != "فتح الملف" {
		b.t.Errorf("accepted: %s", text)
	}
}

// TestReviewInBrowser: the list of suggestions is answered by keyboard, without a script, on a
// phone and on a wide screen, in Arabic too.
func TestReviewInBrowser(t *testing.T) {
	b := openBrowser(t)
	w := newTranslating(t, api.Options{})
	site := httptest.NewServer(w.s)
	defer site.Close()
	rules := readAxe(t)
	unit, translation := w.unit("app", "ar", "Open")
	for _, text := range []string{"افتح", "فتح الملف", "افتح "} {
		want := edit.Request{UnitID: unit, Target: []string{text}, State: catalog.StateTranslated}
		_, err := w.Editor.Suggest(t.Context(), w.component("app"), translation, edit.Author{Name: "Petr"}, want)
		must(t, err)
	}
	const list = "/projects/demo/-/ar/?suggestions=1"
	b.signIn(site.URL, w.token(jana), list)
	for width, language := range map[int]string{320: "ar", 1280: "en"} {
		b.inspect(site.URL, list, language, rules, width, width == 320)
	}
	b.call("Emulation.setScriptExecutionDisabled", map[string]bool{"value": true})
	defer b.call("Emulation.setScriptExecutionDisabled", map[string]bool{"value": false})
	b.push(`[value='reject:1']`)
	b.push(`[value='accept:2']`)
	if text, _ := w.target("app", "ar", "Open"); text != "فتح الملف" {
		t.Errorf("accepted: %q", text)
	}
}

// meetsConflict saves a string that somebody changed meanwhile: the page says who, keeps
// the text in the form, and offers theirs.
func (b *browserTab) meetsConflict(w *translating, origin, rules string) {
	b.t.Helper()
	unit, translation := w.unit("app", "ar", "Open")
	b.load(origin+w.address("app", "ar", "Open", ""), 1280, true)
	b.press("e", "KeyE", 69, 2)
	b.ask(`document.activeElement.select()`)
	b.call("Input.insertText", map[string]string{"text": "لي"})
	_, err := w.Editor.Edit(b.t.Context(), w.component("app"), translation, edit.Author{Name: "Petr"}, []edit.Request{{UnitID: unit, Target: []string{"له"}, State: catalog.StateTranslated}})
	must(b.t, err)
	b.leave(func() { b.press("Enter", "Enter", 13, 2) })
	b.errors = nil // the status of the answer
	const shown = `document.querySelector("[role=alert]").innerText.includes("Petr") + " " + document.querySelector("[role=alert] ins").textContent + " " + document.getElementById("text0").value`
	if got := b.ask(shown); got != "true له لي" {
		b.t.Errorf("the conflict: %s", got)
	}
	b.ask(rules)
	if got := b.ask(axe); got != "" {
		b.t.Errorf("the conflict: %s", got)
	}
	b.push(`[name=copy][value=stored]`)
	if got := b.ask(`document.getElementById("text0").value`); got != "له" {
		b.t.Errorf("their text: %s", got)
	}
	b.ask(`document.getElementById("text0").select()`)
	b.call("Input.insertText", map[string]string{"text": "لنا"})
	b.leave(func() { b.press("Enter", "Enter", 13, 2) })
	if text, _ := w.target("app", "ar", "Open"); text != "لنا" || len(b.errors) > 0 {
		b.t.Errorf("after the conflict: %q %s", text, b.errors)
	}
}

// keepsKeys presses keys of the browser, as keyboards of several layouts send them: the
// script leaves them alone. The reader is in a field of a form.
func (b *browserTab) keepsKeys() {
	b.t.Helper()
	b.ask(`window.taken = ""; window.addEventListener("keydown", e => { if (e.defaultPrevented) taken += e.key + " " + e.code + ","; })`)
	before := b.ask(formContent)
	for _, k := range []struct {
		key, code string
		number    int
	}{
		{"z", "KeyZ", 90},
		{"z", "KeyY", 90},
		{"z", "KeyW", 90},
		{"z", "Slash", 90},
		{"y", "KeyY", 89},
		{"y", "KeyZ", 89},
		{"y", "KeyT", 89},
		{"Z", "KeyZ", 90},
		{"c", "KeyC", 67},
		{"c", "KeyI", 67},
		{"v", "KeyV", 86},
		{"x", "KeyX", 88},
		{"a", "KeyA", 65},
		{"a", "KeyQ", 65},
		{"f", "KeyF", 70},
		{"f", "KeyY", 70},
		{"f", "KeyU", 70},
		{"f", "KeyE", 70},
		{"r", "KeyR", 82},
		{"r", "KeyO", 82},
		{"r", "KeyU", 82},
		{"n", "KeyN", 78},
		{"t", "KeyE", 84},
		{"я", "KeyZ", 90},
		{"н", "KeyY", 89},
		{"ئ", "KeyZ", 90},
		{"غ", "KeyY", 89},
		{"ζ", "KeyZ", 90},
		{"ي", "KeyD", 68},
	} {
		for _, modifiers := range []int{2, 2 | 8, 4, 4 | 8} { // Ctrl, the Mac's Cmd, with Shift
			b.call("Input.dispatchKeyEvent", map[string]any{"type": "rawKeyDown", "key": k.key, "code": k.code, "windowsVirtualKeyCode": k.number, "modifiers": modifiers})
		}
	}
	if got := b.ask(`taken`); got != "" {
		b.t.Errorf("the script took %s", got)
	}
	if got := b.ask(formContent); got != before {
		b.t.Errorf("keys of the browser changed the form to %s", got)
	}
}

// formContent is what a form to edit a string has.
const formContent = `JSON.stringify([[...document.querySelectorAll("textarea")].map(x => x.value), document.querySelector("[name=fuzzy]").checked])`

// TestBrowserEdits edits strings in Chromium, in Arabic: by keyboard alone with the
// script, which keeps texts that were not saved, and without it.
func TestBrowserEdits(t *testing.T) {
	b := openBrowser(t)
	w := newTranslating(t, api.Options{})
	site := httptest.NewServer(w.s)
	defer site.Close()
	rules := readAxe(t)
	list := "/translate/demo/app/ar/?q=state%3Aempty"
	b.signIn(site.URL, w.token(jana), strings.ReplaceAll(list, "%", "%25"))
	if got := b.ask(`location.pathname`); got != "/translate/demo/app/ar/" {
		t.Fatalf("signing in leads to %s", got)
	}
	open := strings.Replace(w.address("app", "ar", "Open", ""), "?", "?q=state%3Aempty&offset=1&", 1)
	for _, width := range []int{1280, 390} {
		b.inspect(site.URL, open, "ar", rules, width, width == 390)
	}
	if got := b.ask(`getComputedStyle(document.getElementById("text0")).direction`); got != "rtl" {
		t.Errorf("the field is %s", got)
	}
	b.press("e", "KeyE", 69, 2) // to the field
	b.call("Input.insertText", map[string]string{"text": "فتح"})
	b.load(site.URL+"/", 1280, false)
	b.load(site.URL+open, 1280, false)
	if got := b.ask(`document.getElementById("text0").value + " " + document.getElementById("draft").hidden`); got != "فتح false" {
		t.Errorf("the text that was not saved: %s", got)
	}
	b.leave(func() { b.press("Enter", "Enter", 13, 2) })
	if text, _ := w.target("app", "ar", "Open"); text != "فتح" {
		t.Errorf("stored %q", text)
	}
	// autofocus comes with a frame, after the page has loaded
	if got := b.ask(`new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r([document.querySelectorAll("textarea").length, document.activeElement.id, document.querySelector("[role=status]").textContent.trim() !== "", localStorage.length].join()))))`); got != "6,text0,true,0" {
		t.Errorf("the next string: %s", got)
	}
	b.keepsKeys()
	b.press("u", "KeyF", 70, 2) // as on a Dvorak keyboard
	if got := b.ask(`document.querySelector("[name=fuzzy]").checked`); got != "true" {
		t.Errorf("needs editing: %s", got)
	}
	if got := b.ask(`(e => { e.focus(); const all = [...document.querySelectorAll("#insert button")]; all[0].click(); all[1].click(); return all.map(x => x.textContent).join(" ") + e.value; })(document.getElementById("text2"))`); got != "%d « » LRM RLM … – nbsp%d«" {
		t.Errorf("what is inserted: %s", got)
	}
	b.leave(func() { b.press("o", "KeyO", 79, 2) })
	if got := b.ask(`new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(document.activeElement.id))))`); got != "text0" {
		t.Errorf("the focus after the source was copied: %q", got)
	}
	if got := b.ask(`[...document.querySelectorAll("textarea")].map(x => x.value).join() + document.querySelector("[name=fuzzy]").checked`); got != "%d file,%d files,%d files,%d files,%d files,%d filestrue" {
		t.Errorf("the copied source: %s", got)
	}
	b.leave(func() { b.press("Enter", "Enter", 13, 2) })
	if _, state := w.target("app", "ar", "%d file"); state != catalog.StateFuzzy {
		t.Errorf("state %d", state)
	}
	b.answersSuggestions(w, site.URL, rules)
	b.meetsConflict(w, site.URL, rules)

	b.call("Emulation.setScriptExecutionDisabled", map[string]bool{"value": true})
	b.load(site.URL+w.address("app", "ar", "Done.", ""), 1280, false)
	b.ask(`document.getElementById("text0").focus()`)
	b.call("Input.insertText", map[string]string{"text": "تم"})
	save := func() {
		b.leave(func() {
			b.ask(`document.querySelector("button.first").focus()`)
			b.press(" ", "Space", 32, 0)
		})
	}
	save()
	if got := b.ask(`document.querySelectorAll("[role=alert] dt").length + document.getElementById("text0").value`); got != "1تم" {
		t.Errorf("a check that the text fails: %s", got)
	}
	b.errors = nil // the status of the answer
	b.leave(func() {
		b.ask(`document.querySelector("button[value='sure:save']").focus()`)
		b.press(" ", "Space", 32, 0)
	})
	if text, _ := w.target("app", "ar", "Done."); text != "تم" || len(b.errors) > 0 {
		t.Errorf("without a script: %q %s", text, b.errors)
	}
}

// typeInto types a text into a field of the form, in place of what it has.
func (b *browserTab) typeInto(id, text string) {
	b.t.Helper()
	if got := b.ask(`(e => { e.focus(); e.select(); return document.activeElement === e; })(document.getElementById("` + id + `"))`); got != "true" {
		b.t.Fatalf("no field %s", id)
	}
	b.call("Input.insertText", map[string]string{"text": text})
}

// TestBrowserMissing translates what a file lacks in Chromium, on a phone: from the list to a
// string with plurals, on to one that has texts of similar strings, and to one whose obsolete
// entry is a suggestion. A text that was not saved is kept, and no script is needed.
func TestBrowserMissing(t *testing.T) {
	b := openBrowser(t)
	w := newLacking(t)
	site := httptest.NewServer(w.s)
	defer site.Close()
	rules := readAxe(t)
	list := "/translate/demo/app/cs/?missing=1"
	b.signIn(site.URL, w.token(jana), list)
	b.inspect(site.URL, list, "en", rules, 390, true)
	files, window := w.lacks("app", "%d file", "&offset=3"), w.lacks("app", "Close the old window", "&offset=4")
	for _, target := range []string{files, window} {
		b.inspect(site.URL, target, "ar", rules, 390, true)
		b.inspect(site.URL, target, "en", rules, 1280, false)
	}
	b.load(site.URL+list, 390, false)
	b.leave(func() { b.ask(`document.querySelector("a.button").click()`) })
	if got := b.ask(`location.pathname + location.search + document.querySelectorAll("textarea").length`); got != files+"3" {
		t.Fatalf("the list leads to %s, want %s", got, files)
	}
	b.typeInto("text1", "nic")
	b.load(site.URL+window, 390, false)
	b.load(site.URL+files, 390, false)
	if got := b.ask(`[document.getElementById("text1").value, document.getElementById("draft").hidden].join()`); got != "nic,false" {
		t.Errorf("the text that was not saved: %s", got)
	}
	for i, text := range []string{"%d soubor", "%d soubory", "%d souborů"} {
		b.typeInto(fmt.Sprint("text", i), text)
	}
	b.push(`button.first`)
	if text, state := w.target("app", "cs", "%d file"); text != catalog.JoinForms([]string{"%d soubor", "%d soubory", "%d souborů"}) || state != catalog.StateTranslated {
		t.Errorf("stored %q %d", text, state)
	}
	if got := b.ask(`[document.querySelector("[role=status]").textContent.trim(), document.querySelectorAll("textarea").length, localStorage.length, document.documentElement.innerText.includes("Close the old window")].join()`); !strings.HasPrefix(got, "Saved") || !strings.HasSuffix(got, ",1,0,true") {
		t.Errorf("the next string: %s", got)
	}
	b.push(`[name=copy][value=p1]`)
	if got := b.ask(formContent); got != `[["Zavřít okno"],true]` {
		t.Errorf("the text of a similar string: %s", got)
	}
	b.push(`[name=copy][value=p0]`)
	if got := b.ask(formContent); got != `[["Zavřít to okno"],true]` {
		t.Errorf("the text of the most similar string: %s", got)
	}
	b.typeInto("text0", "Zavřít staré okno")
	b.press("u", "KeyU", 85, 2) // it needs no editing
	b.leave(func() { b.press("Enter", "Enter", 13, 2) })
	if text, state := w.target("app", "cs", "Close the old window"); text != "Zavřít staré okno" || state != catalog.StateTranslated {
		t.Errorf("stored %q %d", text, state)
	}
	b.call("Emulation.setScriptExecutionDisabled", map[string]bool{"value": true})
	b.load(site.URL+w.lacks("app", "Done.", "&offset=5"), 390, false)
	if got := b.ask(`[...document.querySelectorAll("#suggestions ~ ul .text")].map(e => e.textContent).join()`); got != "Hotovo." {
		t.Errorf("the text of the obsolete entry: %q", got)
	}
	b.push(`[name=copy][value=s0]`)
	b.push(`button.first`)
	if text, _ := w.target("app", "cs", "Done."); text != "Hotovo." || len(b.errors) > 0 {
		t.Errorf("without a script: %q %s", text, b.errors)
	}
	if got := b.ask(`document.querySelector("h1").textContent + document.documentElement.innerText.includes("not in the file")`); got != "Czech · app · Demofalse" {
		t.Errorf("the last page: %s", got)
	}
	w.Verify()
}
