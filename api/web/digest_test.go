package web_test

import (
	"errors"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/testrepos"
)

// TestDigest: who follows a language gets a mail if something is new, about what still waits and
// may be seen at that time, and none after one POST to the address in it.
func TestDigest(t *testing.T) {
	t.Parallel()
	repo := testrepos.Empty(t)
	po := func(pairs ...string) map[string]string {
		return map[string]string{"po/cs.po": catalogtest.PO(pairs...), "hidden/cs.po": catalogtest.PO(append(pairs, "Secret", "")...)}
	}
	repo.Commit(t, testrepos.Change{Files: po("One", "Jedna")})
	hidden := catalog.ComponentSettings{Filemask: "hidden/*.po", Access: catalog.AccessPrivate}
	puller := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {Edits: catalog.Edits{Mode: catalog.PushDirect}, EnableSuggestions: true}, "hidden": hidden})
	puller.Sync()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	w := &translating{puller, t, api.New(api.Options{DB: puller.DB, Languages: puller.Languages, Edits: puller.Editor, Now: func() time.Time { return now }})}
	p := w.account("guest")
	if body := w.account("a-noreply").Get("/languages/cs/").Body.String(); strings.Contains(body, `action="/follow/"`) {
		t.Error("somebody without an address has the form")
	}
	follow := func(days string) {
		t.Helper()
		page := p.Get("/languages/cs/", "Accept-Language", "de").Body.String()
		if !strings.Contains(page, `action="/follow/"`) {
			t.Fatalf("no form: %s", page)
		}
		f := url.Values{"days": {days}}
		for _, m := range hiddenField.FindAllStringSubmatch(page, -1) {
			f.Set(m[1], html.UnescapeString(m[2]))
		}
		if rec := p.Post("/follow/", f, "Accept-Language", "de", "Sec-Fetch-Site", "same-origin"); rec.Code != http.StatusSeeOther || rec.Header().Get("Location") != "/languages/cs/" {
			t.Fatalf("following: %d %s", rec.Code, rec.Body)
		}
		f.Set("form", "x")
		if rec := p.Post("/follow/", f); rec.Code != http.StatusForbidden {
			t.Errorf("a form of elsewhere: %d", rec.Code)
		}
	}
	follow("1")
	var sent []*web.Digest
	var failure error
	var ids []string
	digests := func(passed time.Duration) []*web.Digest {
		t.Helper()
		now, sent = now.Add(passed), nil
		must(t, w.s.Digests(t.Context(), now, "https://l10n.example.org", func(to, id string, d *web.Digest) error {
			if to != "guest@example.org" {
				t.Errorf("sent to %s", to)
			}
			sent, ids = append(sent, d), append(ids, id)
			return failure
		}))
		return sent
	}
	if got := digests(24 * time.Hour); len(got) != 0 {
		t.Errorf("nothing is new: %+v", got)
	}
	repo.Commit(t, testrepos.Change{Files: po("One", "Jedna", "Two & <b>", "", "Three", "")})
	puller.Sync()
	unit, translation := w.unit("app", "cs", "Three")
	_, err := puller.Editor.Edit(t.Context(), w.component("app"), translation, edit.Author{Name: "Jana", Email: "jana@example.org"},
		[]edit.Request{{UnitID: unit, Target: []string{"Tři"}, State: catalog.StateTranslated}})
	must(t, err)
	if got := digests(time.Hour); len(got) != 0 {
		t.Errorf("before its time: %+v", got)
	}
	failure = errors.New("451 try again")
	digests(24 * time.Hour)
	failure = nil
	got := digests(2 * time.Hour)
	if len(got) != 1 || len(ids) != 2 || ids[0] != ids[1] {
		t.Fatalf("%d mails, %q", len(got), ids)
	}
	d := got[0]
	for _, text := range []string{d.Text, d.HTML} {
		if !strings.Contains(text, "Neues auf Tschechisch") || !strings.Contains(text, "Two &") || !strings.Contains(text, "https://l10n.example.org/translate/demo/app/cs/?checksum=") {
			t.Errorf("it lacks something: %s", text)
		}
		if strings.Contains(text, "Three") || strings.Contains(text, "Secret") || strings.Contains(text, "hidden") {
			t.Errorf("it has what was translated meanwhile, or is private: %s", text)
		}
	}
	if strings.Contains(d.HTML, "<b>") {
		t.Errorf("texts are markup: %s", d.HTML)
	}
	if got := digests(25 * time.Hour); len(got) != 0 {
		t.Errorf("it comes again: %+v", got)
	}
	w.s.Update(api.Settings{Roles: catalog.RoleBook{Projects: map[string]catalog.ProjectRoles{"demo": {Readers: []string{"gh:guest"}}}}})
	repo.Commit(t, testrepos.Change{Files: po("One", "Jedna", "Two & <b>", "", "Three", "", "Four", "")})
	puller.Sync()
	got = digests(25 * time.Hour)
	if len(got) != 1 || strings.Count(got[0].Text, "- Four\n") != 2 || !strings.Contains(got[0].Text, "/translate/demo/hidden/cs/") {
		t.Fatalf("of what a reader may see: %+v", got)
	}
	stop := regexp.MustCompile(`https://l10n.example.org(/unfollow/[A-Z0-9]{26}/)\n`).FindStringSubmatch(got[0].Text)
	if stop == nil || got[0].Stop != "https://l10n.example.org"+stop[1] {
		t.Fatalf("no address to end it: %s", got[0].Text)
	}
	nobody := person{catalogtest.NewVisitor(t, w.s)}
	answers(t, "a look at it", 200, nobody.Get(stop[1]), `<form method="post" action="`+stop[1]+`">`)
	repo.Commit(t, testrepos.Change{Files: po("Five", "")})
	puller.Sync()
	if got := digests(25 * time.Hour); len(got) != 1 {
		t.Errorf("a look ended it: %+v", got)
	}
	if rec := nobody.Post(stop[1], url.Values{"List-Unsubscribe": {"One-Click"}}, "Origin", "https://mail.example.net"); rec.Code != http.StatusOK {
		t.Errorf("ending it: %d %s", rec.Code, rec.Body)
	}
	repo.Commit(t, testrepos.Change{Files: po("Six", "")})
	puller.Sync()
	if got := digests(25 * time.Hour); len(got) != 0 {
		t.Errorf("it was ended: %+v", got)
	}
	follow("7")
	follow("0")
	repo.Commit(t, testrepos.Change{Files: po("Seven", "")})
	puller.Sync()
	if got := digests(250 * time.Hour); len(got) != 0 {
		t.Errorf("it was ended on the page: %+v", got)
	}
}
