package web_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

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
	w.s.Update(api.Settings{Roles: catalog.RoleBook{Translators: map[string][]string{"cs": {"gh:jana"}}}})
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
	w.s.Update(api.Settings{Roles: catalog.RoleBook{Translators: map[string][]string{"cs": {"gh:jana"}, "ar": {"gh:amal"}}}})
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
	answers(t, "many", 409, rec, "One suggestion was answered.", "The program could not use this text.", "Řádek")
	if text, _ := w.target("app", "cs", "Done."); text != "Hotovo" {
		t.Errorf("accepted %q", text)
	}
	if rec := jana.Post(list, f); rec.Code != 409 || !strings.Contains(rec.Body.String(), "Somebody answered it meanwhile.") {
		t.Errorf("again: %d %s", rec.Code, rec.Body)
	}
	// A changed text is looked at before it is stored.
	f = jana.reviewForm(list, "accept:3")
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
	answers(t, "journal", 200, anybody.Get("/api/edits/1/", "Accept", "application/json"), `"rejected: no links"`)
	answers(t, "nothing left", 200, jana.Get(list), "No suggestion waits.")
	for _, do := range []string{"", "other", "accept:x"} {
		f := url.Values{"form": {f.Get("form")}, "do": {do}}
		if rec := jana.Post(list, f); rec.Code < 400 || rec.Code >= 500 {
			t.Errorf("%q: %d", do, rec.Code)
		}
	}
	w.Verify()
}
