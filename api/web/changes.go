package web

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web/intl"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

type change struct {
	catalog.Change
	What            string // what happened
	Kind            string // added, changed, removed or event
	Where, WhereURL string
	StringURL       string
	Diff            []span
	Pulled          time.Time // zero: with the commit
	CommitURL       string
}

// When is the time of the commit, otherwise that of the entry.
func (c change) When() time.Time { return when(&c.Change) }

// actionsOf are the actions of each kind of entries.
var actionsOf = map[string][]catalog.Action{
	"added":   {catalog.ActionNewUnit},
	"changed": {catalog.ActionStringRepoUpdate, catalog.ActionChange, catalog.ActionNew, catalog.ActionAccept, catalog.ActionMarkedEdit},
	"removed": {catalog.ActionStringRemove},
	"files":   {catalog.ActionFailedMerge, catalog.ActionFailedPush, catalog.ActionParseError, catalog.ActionRemoveTranslation, catalog.ActionAddedLanguage, catalog.ActionCreateComponent, catalog.ActionHook, catalog.ActionPush},
}

// actionNames say what happened, in words for people.
var actionNames = map[catalog.Action]string{
	catalog.ActionChange:            intl.Text("Changed here"),
	catalog.ActionNew:               intl.Text("Translated here"),
	catalog.ActionMarkedEdit:        intl.Text("Marked for editing"),
	catalog.ActionSuggestion:        intl.Text("Suggested"),
	catalog.ActionAccept:            intl.Text("Suggestion accepted"),
	catalog.ActionSuggestionDelete:  intl.Text("Suggestion rejected"),
	catalog.ActionFailedMerge:       intl.Text("Pull failed"),
	catalog.ActionFailedPush:        intl.Text("Push failed"),
	catalog.ActionParseError:        intl.Text("File cannot be read"),
	catalog.ActionRemoveTranslation: intl.Text("Language removed"),
	catalog.ActionNewUnit:           intl.Text("New string"),
	catalog.ActionAddedLanguage:     intl.Text("Language added"),
	catalog.ActionCreateComponent:   intl.Text("Component created"),
	catalog.ActionHook:              intl.Text("Push announced"),
	catalog.ActionPush:              intl.Text("Request opened"),
	catalog.ActionStringRepoUpdate:  intl.Text("Changed"),
	catalog.ActionStringRemove:      intl.Text("Removed"),
}

// changes makes the entries of a page, which a client may see. They name what they are
// of as people do.
func (p *Pages) changes(ctx context.Context, snap *store.Snapshot, v *view, entries []catalog.Change) error {
	rows, err := resource.VisibleComponents(ctx, snap, "")
	if err != nil || len(entries) == 0 {
		return err
	}
	type slugs struct{ project, component string }
	wanted := map[slugs][]string{}
	for i := range entries {
		wanted[slugs{entries[i].Project, entries[i].Component}] = []string{entries[i].Component}
	}
	for _, c := range rows {
		if key := (slugs{c.Project.Slug, c.Slug}); wanted[key] != nil {
			wanted[key] = []string{c.Settings.Name, c.Project.Settings.Name}
		}
	}
	v.Changes = make([]change, len(entries))
	for i := range entries {
		c := &entries[i]
		v.Changes[i] = p.change(v.L, c)
		names := wanted[slugs{c.Project, c.Component}]
		if c.Language != "" {
			names = append([]string{p.nameOf(v.L, c.Language)}, names...)
		}
		v.Changes[i].Where = v.L.Join(names...)
	}
	return nil
}

func (p *Pages) change(l *intl.Language, c *catalog.Change) change {
	o := change{Change: *c, What: l.T(cmp.Or(actionNames[c.Action], c.Action.Name())), Kind: "event", WhereURL: path("projects", c.Project, c.Component)}
	if c.Language != "" && !c.TranslationRemoved {
		o.WhereURL = path("projects", c.Project, c.Component, c.Language)
	}
	if !c.CommitTime.IsZero() && c.Timestamp.Sub(c.CommitTime).Abs() > time.Minute {
		o.Pulled = c.Timestamp
	}
	for kind, actions := range actionsOf {
		if kind != "files" && slices.Contains(actions, c.Action) {
			o.Kind = kind
		}
	}
	switch {
	case o.Kind == "changed":
		o.Diff = difference(c.Old, c.Target)
	case o.Kind == "removed":
		o.Diff = []span{{Kind: "del", Text: visible(forms(cmp.Or(c.Old, c.Target)))}}
	case o.Kind == "added", c.Action == catalog.ActionSuggestion, c.Action == catalog.ActionSuggestionDelete:
		o.Diff = []span{{Text: visible(forms(c.Target))}}
	}
	if c.UnitID != 0 && c.Source != "" && c.Language != "" && !c.TranslationRemoved {
		var h catalog.Hasher
		o.StringURL = path("translate", c.Project, c.Component, c.Language) + "?checksum=" + catalog.Checksum(h.Identity(c.Source, c.Context).Hash)
	}
	return o
}

// readChanges makes the entries that q finds, with links to their commits for the template of
// an address of the repository browser.
func (p *Pages) readChanges(ctx context.Context, snap *store.Snapshot, v *view, q store.ChangeQuery, repoweb string) error {
	entries, err := snap.Changes(ctx, q)
	if err != nil {
		return err
	}
	err = p.changes(ctx, snap, v, entries)
	for i := range v.Changes {
		v.Changes[i].CommitURL = commitURL(repoweb, v.Changes[i].Commit)
	}
	return err
}

type history struct {
	Kinds, Order []link
	From, To     string
	Count        int64
}

// historyOf makes a page of the list that q selects.
func (p *Pages) historyOf(ctx context.Context, snap *store.Snapshot, v *view, q store.ChangeQuery) error {
	h := history{From: v.param("from"), To: v.param("to")}
	q.User, q.Newest = v.param("user"), v.param("order") != "oldest"
	q.From, q.To = days(h.From, h.To)
	kind := v.param("kind")
	q.Actions = actionsOf[kind]
	h.Kinds = v.choices("kind", kind,
		choice{"", v.L.T("everything")}, choice{"added", v.L.T("new strings")}, choice{"changed", v.L.T("changed strings")},
		choice{"removed", v.L.T("removed strings")}, choice{"files", v.L.T("files and pulls")})
	newest, oldest := v.L.T("newest first"), v.L.T("oldest first")
	if q.ComponentID == 0 && q.TranslationID == 0 { // entries of several repositories are in the order in which they came
		newest, oldest = v.L.T("last pulled first"), v.L.T("first pulled first")
	}
	order := ""
	if !q.Newest {
		order = "oldest"
	}
	h.Order = v.choices("order", order, choice{"", newest}, choice{"oldest", oldest})
	list, err := snap.ChangeList(ctx, q)
	if err != nil {
		return err
	}
	h.Count = list.Count()
	v.Pages = window(v, "page", h.Count, changesOnPage)
	entries, err := list.Page(ctx, v.Pages.offset(), changesOnPage)
	if err != nil {
		return err
	}
	v.Body = h
	return p.changes(ctx, snap, v, entries)
}

func (p *Pages) allChanges(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view) error {
	v.named(v.L.T("Changes"), "repoglot")
	v.feeds()
	q, err := resource.WithoutHidden(ctx, snap, store.ChangeQuery{}, "")
	if err != nil {
		return err
	}
	return p.historyOf(ctx, snap, v, q)
}

func (p *Pages) projectChanges(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view, project *catalog.Project) error {
	v.changesOf(project.Settings.Name, project.Settings.Name)
	q, err := resource.WithoutHidden(ctx, snap, store.ChangeQuery{ProjectID: project.ID}, project.Slug)
	if err != nil {
		return err
	}
	return p.historyOf(ctx, snap, v, q)
}

func (p *Pages) componentChanges(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view, c *store.ComponentRow) error {
	v.changesOf(c.Settings.Name, where(c))
	err := p.historyOf(ctx, snap, v, store.ChangeQuery{ComponentID: c.ID})
	p.comparable(v, c)
	return err
}

func (p *Pages) translationChanges(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view, t *store.TranslationRow) error {
	v.changesOf(p.title(v, t), p.title(v, t))
	return p.historyOf(ctx, snap, v, store.ChangeQuery{TranslationID: t.ID})
}

// changesOf sets the heading, and the title of the window.
func (v *view) changesOf(name, title string) {
	v.Heading, v.Title = v.L.T("Changes of %s", name), v.L.T("Changes")+" · "+title
}

// days returns the first and the last moment of a span of dates; the zero time for a text
// that is no date.
func days(from, to string) (first, last time.Time) {
	if at, err := time.Parse(time.DateOnly, from); err == nil {
		first = at
	}
	if at, err := time.Parse(time.DateOnly, to); err == nil {
		last = at.AddDate(0, 0, 1).Add(-time.Microsecond)
	}
	return first, last
}

// changesAPI is the API's list at a path for the filters of a page.
func changesAPI(pattern string) func(*rest.Request) string {
	return func(r *rest.Request) string {
		param := func(name string) string { value, _ := r.Params.Get(name); return value }
		list := at(pattern)(r) + "?ordering=" + map[bool]string{true: "id", false: "-id"}[param("order") == "oldest"]
		for _, action := range actionsOf[param("kind")] {
			list += "&action=" + strconv.Itoa(int(action))
		}
		if user := param("user"); user != "" {
			list += "&user=" + url.QueryEscape(user)
		}
		from, to := days(param("from"), param("to"))
		for i, at := range []time.Time{from, to} {
			if !at.IsZero() {
				list += "&timestamp_" + []string{"after", "before"}[i] + "=" + at.Format("2006-01-02T15:04:05.999999Z")
			}
		}
		return list
	}
}

type user struct {
	User      store.User
	Languages []store.Contribution

	Updated, Added int64
}

func (p *Pages) user(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error {
	u, err := resource.VisibleUser(ctx, snap, r)
	if err != nil {
		return err
	}
	v.named(u.FullName, "repoglot")
	o := user{User: u}
	rows, err := resource.VisibleComponents(ctx, snap, "")
	if err != nil {
		return err
	}
	if o.Languages, err = snap.Contributions(ctx, u.ID, resource.ImportedIDs(rows)); err != nil {
		return err
	}
	for _, c := range o.Languages {
		o.Updated += c.Updated
		o.Added += c.Added
	}
	shown, err := resource.ShownComponents(ctx, snap)
	if err != nil {
		return err
	}
	weeks, err := snap.WeeksOfAuthor(ctx, u.ID, shown, v.now.AddDate(0, 0, -7*maxWeekBars))
	if err == nil && len(weeks) == 0 { // what somebody did long ago is of interest, too
		weeks, err = snap.WeeksOfAuthor(ctx, u.ID, shown, time.Unix(0, 0))
	}
	if err != nil {
		return err
	}
	v.fillWeeks(weeks)
	entries, err := snap.NewestOfAuthor(ctx, u.ID, shown, changesOnPage)
	if err != nil {
		return err
	}
	v.Body = o
	return p.changes(ctx, snap, v, entries)
}
