package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
)

// merger merges what the page of a component asks for.
type merger struct {
	resource.Operations // another call would panic
	merge               func(component int64, number int, head string, by edit.Author) error
}

func (m *merger) Merge(_ context.Context, component int64, number int, head string, by edit.Author) (bool, error) {
	return true, m.merge(component, number, head, by)
}

// TestRequestsPage: the page of a component lists requests that no longer merge, with a button
// for those that can be merged, which a session of scope admin alone has.
func TestRequestsPage(t *testing.T) {
	m := &merger{}
	w := newTranslating(t, api.Options{Operations: m})
	app, page := w.component("app"), "/projects/demo/app/"
	show := func(list ...catalog.Incoming) {
		t.Helper()
		must(t, w.DB.NoteIncomings(t.Context(), []int64{app}, func(int64, catalog.Incomings) catalog.Incomings { return catalog.Incomings{List: list} }))
	}
	admin, writer := w.signIn(catalog.Token{Name: "ada", Scope: catalog.ScopeAdmin}), w.signIn(jana)
	if body := admin.Get(page).Body.String(); strings.Contains(body, "no longer merge") {
		t.Error("there is a list without requests")
	}
	good := catalog.Incoming{Number: 7, Title: "Czech <b>", URL: "https://example.org/7", Head: "abc", Strings: 1132, Editable: true}
	show(good, catalog.Incoming{Number: 8, Title: "Conflicting", Head: "x", Strings: 3, Conflicts: 1, Editable: true}, catalog.Incoming{Number: 9, Title: "Forbidden", Head: "y"},
		catalog.Incoming{Number: 10, Title: "Odd", Head: "z", Problem: "it cannot be merged by meaning: <x>", Failed: "words"})
	for name, p := range map[string]person{"admin": admin, "writer": writer} {
		rec := p.Get(page)
		answers(t, name, http.StatusOK, rec, "Merges by meaning: 1,132 strings, 0 conflicts", "3 strings, one conflict", "Czech <b>", "it cannot be merged by meaning: <x>", "words")
		if got, want := strings.Count(rec.Body.String(), `name="head"`), map[string]int{"admin": 1}[name]; got != want {
			t.Errorf("%s has %d buttons, want %d", name, got, want)
		}
	}
	f := formOf(admin.Get(page).Body.String())
	f.Set("form", writer.formToken())
	answers(t, "a form of another session", http.StatusForbidden, admin.Post(page, f))
	f = formOf(admin.Get(page).Body.String())
	did := ""
	m.merge = func(component int64, number int, head string, by edit.Author) error {
		if did += by.Name + " " + head; component != app || number != 7 {
			t.Errorf("%d of %d", number, component)
		}
		show()
		return nil
	}
	theirs := formOf(admin.Get(page).Body.String())
	theirs.Set("form", writer.formToken())
	answers(t, "a writer", http.StatusForbidden, writer.Post(page, theirs))
	if rec := admin.Post(page, f); rec.Code != http.StatusSeeOther || rec.Header().Get("Location") != page+"#requests" || did != "ada abc" {
		t.Errorf("%d %s, did %q", rec.Code, rec.Header().Get("Location"), did)
	}
	if body := admin.Get(page).Body.String(); strings.Contains(body, "no longer merge") {
		t.Error("the merged request is still there")
	}
	m.merge = func(int64, int, string, edit.Author) error { return catalog.ErrConflict }
	answers(t, "one that has moved", http.StatusConflict, admin.Post(page, f), "has changed since")
}
