package api

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
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

// TestBrowserEdits edits strings in Chromium, in Arabic: by keyboard alone with the
// script, which keeps texts that were not saved, and without it.
func TestBrowserEdits(t *testing.T) {
	b := openBrowser(t)
	w := newTranslating(t, Options{})
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
	if got := b.ask(`[document.querySelectorAll("textarea").length, document.activeElement.id, document.querySelector("[role=status]").textContent.trim() !== "", localStorage.length].join()`); got != "6,text0,true,0" {
		t.Errorf("the next string: %s", got)
	}
	b.press("y", "KeyY", 89, 2)
	if got := b.ask(`document.querySelector("[name=fuzzy]").checked`); got != "true" {
		t.Errorf("needs editing: %s", got)
	}
	b.leave(func() { b.press("o", "KeyO", 79, 2) })
	if got := b.ask(`[...document.querySelectorAll("textarea")].map(x => x.value).join() + document.querySelector("[name=fuzzy]").checked`); got != "%d file,%d files,%d files,%d files,%d files,%d filestrue" {
		t.Errorf("the copied source: %s", got)
	}
	b.leave(func() { b.press("Enter", "Enter", 13, 2) })
	if _, state := w.target("app", "ar", "%d file"); state != catalog.StateFuzzy {
		t.Errorf("state %d", state)
	}

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
