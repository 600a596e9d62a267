package web_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/testrepos"
)

// TestMailHangs: digests go on while the server of mails does not answer for some.
func TestMailHangs(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{})
	at, people := time.Now().AddDate(0, 0, 1).Add(time.Minute), []string{"anna", "bob", "cora", "dan"}
	var begun atomic.Int32
	all := make(chan struct{})
	w.s.Update(api.Settings{SignIn: providers, BaseURL: "http://l10n.example.org", Mail: func(ctx context.Context, to, _ string, _ *web.Mail) error {
		if int(begun.Add(1)) == len(people) {
			close(all)
		}
		select {
		case <-all:
		case <-time.After(5 * time.Second):
			t.Errorf("%s waits for others", to)
		}
		if strings.HasPrefix(to, "bob") {
			return context.DeadlineExceeded
		}
		return nil
	}})
	for _, name := range people {
		p := w.account(name)
		f := url.Values{"days": {"1"}}
		for _, m := range hiddenField.FindAllStringSubmatch(p.Get("/languages/cs/").Body.String(), -1) {
			f.Set(m[1], html.UnescapeString(m[2]))
		}
		if rec := p.Post("/follow/", f); rec.Code != http.StatusSeeOther {
			t.Fatalf("following: %d %s", rec.Code, rec.Body)
		}
	}
	guest := w.account("guest")
	f := guest.form(w.address("app", "cs", "Open", ""), "Otevřít")
	f.Set("do", "suggest")
	guest.Post(w.address("app", "cs", "Open", ""), f)
	must(t, w.s.Digests(t.Context(), at))
	left := 0
	must(t, w.DB.Read(t.Context(), func(ctx context.Context, snap *store.Snapshot) error {
		due, err := snap.FollowsDue(ctx, at.Add(time.Hour))
		left = len(due)
		return err
	}))
	if left != 1 {
		t.Errorf("%d are made anew in an hour", left)
	}
}

// TestAskedMailHangs: a server of mails that does not answer holds no request that asks to confirm an
// address; the mail goes on without it, and ends with the server.
func TestAskedMailHangs(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{})
	begun, ended := make(chan struct{}), make(chan error, 1)
	w.s.Update(api.Settings{SignIn: providers, BaseURL: "http://l10n.example.org", Mail: func(ctx context.Context, _, _ string, _ *web.Mail) error {
		close(begun)
		select {
		case <-ctx.Done():
		case <-t.Context().Done():
		}
		ended <- ctx.Err()
		return ctx.Err()
	}})
	jana := w.account("jana")
	f := url.Values{"address": {"jana@home.example"}, "form": {hiddenField.FindStringSubmatch(jana.Get("/account/").Body.String())[2]}}
	answered := make(chan int, 1)
	go func() { answered <- jana.Post("/follow/", f).Code }()
	<-begun
	select {
	case status := <-answered:
		if status != http.StatusSeeOther {
			t.Errorf("asking: %d", status)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the request waits for the server of mails")
	}
	select {
	case err := <-ended:
		t.Errorf("the mail ended with the request: %v", err)
	default:
	}
	w.s.EndOperations()
	<-ended
}

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
	w := &translating{puller, t, api.New(api.Options{DB: puller.DB, Languages: puller.Languages, Edits: puller.Editor, Now: func() time.Time { return now }, Settings: api.Settings{SignIn: providers}})}
	var sent []*web.Mail
	var failure error
	var ids []string
	settings := api.Settings{SignIn: providers, BaseURL: "http://l10n.example.org", Mail: func(_ context.Context, to, id string, d *web.Mail) error {
		if to != "guest@example.org" {
			t.Errorf("sent to %s", to)
		}
		sent, ids = append(sent, d), append(ids, id)
		return failure
	}}
	p := w.account("guest")
	if body := p.Get("/languages/cs/").Body.String(); strings.Contains(body, `action="/follow/"`) {
		t.Error("there is a form, and no mail is sent")
	}
	w.s.Update(settings)
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
	digests := func(passed time.Duration) []*web.Mail {
		t.Helper()
		now, sent = now.Add(passed), nil
		must(t, w.s.Digests(t.Context(), now))
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
		if !strings.Contains(text, "Neues auf Tschechisch") || !strings.Contains(text, "Two &") || !strings.Contains(text, "http://l10n.example.org/translate/demo/app/cs/?checksum=") {
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
	settings.Roles.Projects = map[string]catalog.ProjectRoles{"demo": {Readers: []string{"gh:guest"}}}
	w.s.Update(settings)
	repo.Commit(t, testrepos.Change{Files: po("One", "Jedna", "Two & <b>", "", "Three", "", "Four", "")})
	puller.Sync()
	got = digests(25 * time.Hour)
	if len(got) != 1 || strings.Count(got[0].Text, "- Four\n") != 2 || !strings.Contains(got[0].Text, "/translate/demo/hidden/cs/") {
		t.Fatalf("of what a reader may see: %+v", got)
	}
	stop := regexp.MustCompile(`http://l10n.example.org(/unfollow/[A-Z0-9]{26}/)\n`).FindStringSubmatch(got[0].Text)
	if stop == nil || got[0].Stop != "http://l10n.example.org"+stop[1] {
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

// TestAddress: an account whose commits have an address that takes no mail gets digests at one that
// it confirmed, once, by a mail; nobody confirms another's, and nobody is sent many such mails. Its
// own page lists and ends what it follows, and of a deleted account nothing stays.
func TestAddress(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{})
	now := time.Now()
	sent := map[string][]*web.Mail{}
	var failure error
	w.s.Update(api.Settings{SignIn: providers, BaseURL: "http://l10n.example.org", Mail: func(_ context.Context, to, _ string, d *web.Mail) error {
		sent[to] = append(sent[to], d)
		return failure
	}})
	post := func(p person, name, value string) int {
		t.Helper()
		f := url.Values{name: {value}, "form": {hiddenField.FindStringSubmatch(p.Get("/account/").Body.String())[2]}}
		if name == "days" {
			f.Set("language", "cs")
		}
		return p.Post("/follow/", f).Code
	}
	wants := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	jana, other := w.account("noreply-jana"), w.account("other")
	wants("without an address", post(jana, "days", "1"), 400)
	wants("no address", post(jana, "address", "jana@localhost, b@c.example"), 400)
	wants("asking", post(jana, "address", " jana@home.example"), 303)
	wants("mails", len(sent["jana@home.example"]), 1)
	link := regexp.MustCompile(`(?m)^http://l10n.example.org(/account/\?confirm=(\w{26}))$`).FindStringSubmatch(sent["jana@home.example"][0].Text)
	if link == nil || sent["jana@home.example"][0].Stop != "" {
		t.Fatalf("the mail: %+v", sent["jana@home.example"])
	}
	answers(t, "the link", 200, jana.Get(link[1]), `<button name="confirm" value="`+link[2]+`">`, "A mail is sent there.")
	wants("before it is confirmed", post(jana, "days", "1"), 400)
	wants("another asks", post(other, "address", "other@home.example"), 303)
	wants("another's", post(other, "confirm", link[2]), 403)
	wants("confirming", post(jana, "confirm", link[2]), 303)
	wants("twice", post(jana, "confirm", link[2]), 403)
	if page := jana.Get("/account/").Body.String(); !strings.Contains(page, `value="jana@home.example"`) || !strings.Contains(page, "&lt;noreply-jana@example.org&gt;") {
		t.Errorf("the own page: %s", page)
	}
	wants("following", post(jana, "days", "1"), 303)
	w.Read(func(ctx context.Context, snap *store.Snapshot) error {
		a, err := snap.Access().Account(ctx, 1)
		if a.DigestsTo() != "jana@home.example" || a.AuthorEmail != "noreply-jana@example.org" {
			t.Errorf("stored %+v", a)
		}
		return err
	})
	unit, translation := w.unit("app", "cs", "Open")
	_, err := w.Editor.Edit(t.Context(), w.component("app"), translation, edit.Author{Name: "Jana", Email: "j@example.org"}, []edit.Request{{UnitID: unit, Target: []string{"Otevřít"}, State: catalog.StateFuzzy}})
	must(t, err)
	must(t, w.s.Digests(t.Context(), now.Add(25*time.Hour)))
	wants("a digest", len(sent["jana@home.example"]), 2)
	// Bounds.
	failure = errors.New("451 later")
	wants("refused by the server", post(jana, "address", "j+1@victim.example"), 503)
	failure = nil
	wants("the third of the account", post(jana, "address", "j+2@victim.example"), 303)
	wants("the fourth", post(jana, "address", "else@home.example"), 429)
	wants("the third to somebody", post(other, "address", "J@Victim.example"), 303)
	wants("the fourth to somebody", post(other, "address", "j+3@victim.example"), 429)
	if n := len(sent["j+3@victim.example"]) + len(sent["else@home.example"]); n > 0 {
		t.Errorf("%d mails beyond the bounds", n)
	}
	// What is followed.
	end := regexp.MustCompile(`name="end" value="(\w{26})"`)
	secret := end.FindStringSubmatch(jana.Get("/account/").Body.String())
	if secret == nil {
		t.Fatal("the own page does not list what is followed")
	}
	wants("ending it", post(jana, "end", secret[1]), 303)
	if end.MatchString(jana.Get("/account/").Body.String()) {
		t.Error("it is not ended")
	}
	wants("following again", post(jana, "days", "7"), 303)
	must(t, w.DB.Access().ChangeAccount(t.Context(), 1, "deleted", "the account itself"))
	w.Read(func(ctx context.Context, snap *store.Snapshot) error {
		list, err := snap.Follows(ctx, 1)
		if len(list) != 0 {
			t.Errorf("a deleted account follows %+v", list)
		}
		return err
	})
	// The database's clock.
	late, err := w.DB.Access().WantMail(t.Context(), 2, "late@home.example", -time.Second)
	must(t, err)
	if ok, err := w.DB.Access().ConfirmMail(t.Context(), 2, late); ok || err != nil {
		t.Errorf("confirmed too late: %v", err)
	}
}

// TestManyDigests: a digest counts all strings that are new, and one that the database fails stops
// no other.
func TestManyDigests(t *testing.T) {
	t.Parallel()
	w := newTranslating(t, api.Options{})
	var sent []string
	w.s.Update(api.Settings{SignIn: providers, BaseURL: "http://l10n.example.org", Mail: func(_ context.Context, to, _ string, d *web.Mail) error {
		sent = append(sent, to, d.Text)
		return nil
	}})
	for i, name := range []string{"one", "two"} {
		w.account(name)
		must(t, w.DB.Follow(t.Context(), &store.Follow{Account: int64(i + 1), Language: "de", Days: 1, Reader: "en", Due: time.Unix(int64(i)*1e9, 0)})) // of the second one by a clock that was set back
	}
	repo, pairs := testrepos.Empty(t), []string(nil)
	for i := range 400 {
		pairs = append(pairs, fmt.Sprint("Source ", i), "")
	}
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": catalogtest.PO(pairs...)}})
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"many": {History: catalog.History{Full: true}}})
	w.Sync()
	if !pgtest.Chosen() {
		h, err := sql.Open("sqlite", w.Database())
		must(t, err)
		defer h.Close()
		_, err = h.ExecContext(t.Context(), `CREATE TRIGGER broken BEFORE UPDATE ON follows WHEN old.account_id = 1 BEGIN SELECT RAISE(ABORT, 'it is broken'); END`)
		must(t, err)
		if err := w.s.Digests(t.Context(), time.Unix(100, 0)); err == nil || !strings.Contains(err.Error(), "it is broken") {
			t.Errorf("the error: %v", err)
		}
	} else {
		must(t, w.s.Digests(t.Context(), time.Unix(100, 0)))
		sent = sent[2:]
	}
	if len(sent) != 2 || sent[0] != "two@example.org" || !strings.Contains(sent[1], "- and 375 more\n") {
		t.Errorf("sent %q", sent)
	}
}
