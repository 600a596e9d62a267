package web_test

import (
	"net/http"
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
