package web

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// digestStrings bounds the strings that a digest is made of, digestLines those of a part of it.
const digestStrings, digestLines = 5000, 25

// Mail is a mail: a digest of what is new in a language, or one without HTML and Stop that asks
// to confirm an address.
type Mail struct {
	// Page is the address of the language, Stop the one where the digest is ended.
	Subject, Text, HTML, Page, Stop string
	// Left counts the strings that wait, new or not.
	Left  int64
	Parts []*digestPart
}

// digestPart is what is new of a kind, with links; More counts what is left out.
type digestPart struct {
	Title string
	Lines []link
	More  int64
}

func (d *digestPart) add(name, url string) {
	if len(d.Lines) == digestLines {
		d.More++
		return
	}
	d.Lines = append(d.Lines, link{Name: catalog.Clip(visible(forms(name)), 200), URL: url})
}

// Digest makes the mail to somebody who follows a language, of the components that the reader may
// see and what happened since a time; nil if nothing is new.
func (p *Pages) Digest(ctx context.Context, snap *store.Snapshot, base string, f *store.Follow, since time.Time, may func(*store.ComponentRow) bool) (*Mail, error) {
	l := p.table.Choose(f.Reader, "", nil)
	links := wire.Links{Base: base}
	o := &Mail{Subject: l.T("News in %s", p.nameOf(l, f.Language)), Stop: links.Web(path("unfollow", f.Secret))}
	o.Page = links.Web(strings.TrimRight(path("languages", f.Language, f.Project), "/") + "/")
	waiting, suggestions, conflicts, problems := &digestPart{Title: l.T("Strings that wait")}, &digestPart{Title: l.T("Suggestions that wait")}, &digestPart{Title: l.T("Edits in conflict")}, &digestPart{Title: l.T("Problems")}
	all, err := snap.Components(ctx, f.Project)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, c := range all {
		if !c.Imported || !may(c) {
			continue
		}
		ids = append(ids, c.ID)
		if c.Problem.Failed() && c.Problem.Since.After(since) || c.PushProblem.Failed() && c.PushProblem.Since.After(since) {
			problems.add(c.Project.Settings.Name+" / "+c.Settings.Name, links.Web(path("projects", c.Project.Slug, c.Slug)))
		}
	}
	translations, err := snap.TranslationsIn(ctx, ids, []string{f.Language})
	last := map[int64]catalog.Change{} // by string
	for i := range translations {
		o.Left += translations[i].Stats.Total.Units - translations[i].Stats.Translated.Units
		entries, unread := snap.Changes(ctx, store.ChangeQuery{TranslationID: translations[i].ID, AfterID: f.Told, Limit: digestStrings - len(last)})
		for _, c := range entries {
			last[c.UnitID] = c
		}
		err = cmp.Or(err, unread)
	}
	units, unread := snap.UnitsByID(ctx, ids, slices.Sorted(maps.Keys(last)))
	if err := cmp.Or(err, unread); err != nil {
		return nil, err
	}
	for i := range units { // as they are now
		u, c := &units[i], last[units[i].ID]
		switch page := links.ChangePage(&c); {
		case u.HasSuggestion:
			suggestions.add(c.Source, page)
		case c.Event[catalog.EventConflict] != "":
			conflicts.add(c.Source, page)
		case !u.State.Translated():
			waiting.add(c.Source, page)
		}
	}
	o.Parts = slices.DeleteFunc([]*digestPart{waiting, suggestions, conflicts, problems}, func(d *digestPart) bool { return len(d.Lines) == 0 })
	if len(o.Parts) == 0 {
		return nil, nil
	}
	o.Text = o.Subject + "\n" + l.N("one string left", "%s strings left", o.Left) + ": " + o.Page + "\n"
	for _, d := range o.Parts {
		o.Text += "\n" + d.Title + "\n\n"
		for _, line := range d.Lines {
			o.Text += "- " + line.Name + "\n  " + line.URL + "\n"
		}
		if d.More > 0 {
			o.Text += "- " + l.N("and one more", "and %s more", d.More) + "\n"
		}
	}
	o.Text += "\n-- \n" + l.T("No more of these mails") + ": " + o.Stop + "\n"
	html, err := p.execute("digest", &view{L: l, Body: o})
	o.HTML = string(html)
	return o, err
}

// following is the form with which an account follows what a page is about.
type following struct {
	Form, Language, Project string
	Days                    int64 // 0: it does not
}

// fillFollowing reads whether the account of a session follows a language.
func (p *Pages) fillFollowing(ctx context.Context, snap *store.Snapshot, v *view, language, project string) (*following, error) {
	a := rest.AccessOf(ctx)
	if a.Session == "" || a.Token.ID >= 0 || a.Token.Account.DigestsTo() == "" || !p.mails() {
		return nil, nil
	}
	v.Live = true
	o := &following{Form: session.FormToken(a.Session), Language: language, Project: project}
	list, err := snap.Follows(ctx, a.Token.Account.ID)
	if i := slices.IndexFunc(list, func(f store.Follow) bool { return f.Language == language && f.Project == project }); i >= 0 {
		o.Days = list[i].Days
	}
	return o, err
}

// Confirmation is the mail that asks to confirm the address that it is sent to by a secret, on the
// account's own page. It has no text of whoever asked for it.
func (p *Pages) Confirmation(r *http.Request, base, secret string) *Mail {
	l, _ := p.reader(r, nil)
	return &Mail{Subject: l.T("Confirm this address"), Text: l.T("To get news of translations here, open this page and confirm it. If you did not ask for this mail, do nothing.") + "\n\n" +
		wire.Links{Base: base}.Web("/account/?confirm="+secret) + "\n"}
}

// Reader is the tag of the language in which somebody reads pages.
func (p *Pages) Reader(r *http.Request) string {
	l, _ := p.reader(r, nil)
	return l.Tag
}

// unfollow is the page with the button that ends a digest; a GET changes nothing.
func (p *Pages) unfollow(_ context.Context, _ *store.Snapshot, _ *rest.Request, v *view) error {
	v.named(v.L.T("No more of these mails"), "repoglot")
	return nil
}

// Unfollowed is the page after a digest was ended.
func (p *Pages) Unfollowed(r *http.Request) ([]byte, error) {
	v := p.newView(r, nil)
	v.named(v.L.T("You get no more of these mails"), "repoglot")
	v.Path, v.API = "/", "/api/"
	return p.execute("unfollowed", v)
}
