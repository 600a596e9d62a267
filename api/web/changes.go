package web

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web/intl"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// change is an entry of the history as pages show it.
type change struct {
	ID                       int64
	Action                   string // what happened
	Kind                     string // added, changed, removed or event
	Where, WhereURL          string
	Language                 string
	Source                   string
	StringURL                string
	Diff                     []span
	Author, AuthorURL        string
	When                     time.Time
	Pulled                   time.Time // zero: with the commit
	Commit, CommitURL        string
	State                    catalog.State
	Detail, File, DetailLine string
	APIURL                   string
}

// actionName says what happened, in words for people.
func actionName(l *intl.Language, a catalog.Action) string {
	switch a {
	case catalog.ActionChange:
		return l.T("Changed here")
	case catalog.ActionNew:
		return l.T("Translated here")
	case catalog.ActionMarkedEdit:
		return l.T("Marked for editing")
	case catalog.ActionSuggestion:
		return l.T("Suggested")
	case catalog.ActionAccept:
		return l.T("Suggestion accepted")
	case catalog.ActionSuggestionDelete:
		return l.T("Suggestion rejected")
	case catalog.ActionFailedMerge:
		return l.T("Pull failed")
	case catalog.ActionParseError:
		return l.T("File cannot be read")
	case catalog.ActionRemoveTranslation:
		return l.T("Language removed")
	case catalog.ActionNewUnit:
		return l.T("New string")
	case catalog.ActionAddedLanguage:
		return l.T("Language added")
	case catalog.ActionCreateComponent:
		return l.T("Component created")
	case catalog.ActionHook:
		return l.T("Push announced")
	case catalog.ActionStringRepoUpdate:
		return l.T("Changed")
	case catalog.ActionStringRemove:
		return l.T("Removed")
	}
	return a.Name()
}

// changes makes the entries of a page, which a client may see. They name what they are
// of as people do.
func (p *Pages) changes(ctx context.Context, snap *store.Snapshot, v *view, entries []catalog.Change) ([]change, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	rows, err := resource.VisibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
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
	list := make([]change, len(entries))
	for i := range entries {
		c := &entries[i]
		list[i] = p.change(v.L, c)
		names := wanted[slugs{c.Project, c.Component}]
		if c.Language != "" {
			names = append([]string{p.nameOf(v.L, c.Language)}, names...)
		}
		list[i].Where = v.L.Join(names...)
	}
	return list, nil
}

func (p *Pages) change(l *intl.Language, c *catalog.Change) change {
	o := change{
		ID: c.ID, Action: actionName(l, c.Action), Kind: "event", Language: c.Language, Source: forms(c.Source), Author: c.AuthorName,
		When: when(c), Commit: c.Commit, State: c.State, APIURL: "/api/changes/" + strconv.FormatInt(c.ID, 10) + "/",
		WhereURL: path("projects", c.Project, c.Component),
		Detail:   c.Event["message"], File: c.Event["file"], DetailLine: c.Event["line"],
	}
	if c.Language != "" && !c.TranslationRemoved {
		o.WhereURL = path("projects", c.Project, c.Component, c.Language)
	}
	if c.Username != "" {
		o.AuthorURL = path("user", c.Username)
	}
	if !c.CommitTime.IsZero() && c.Timestamp.Sub(c.CommitTime).Abs() > time.Minute {
		o.Pulled = c.Timestamp
	}
	switch c.Action {
	case catalog.ActionNewUnit:
		o.Kind, o.Diff = "added", []span{{"", visible(forms(c.Target))}}
	case catalog.ActionStringRepoUpdate, catalog.ActionChange, catalog.ActionNew, catalog.ActionAccept, catalog.ActionMarkedEdit:
		o.Kind, o.Diff = "changed", difference(c.Old, c.Target)
	case catalog.ActionSuggestion, catalog.ActionSuggestionDelete:
		o.Diff = []span{{"", visible(forms(c.Target))}}
	case catalog.ActionStringRemove:
		o.Kind, o.Diff = "removed", []span{{"del", visible(forms(c.Old))}}
		if c.Old == "" {
			o.Diff = []span{{"del", visible(forms(c.Target))}}
		}
	}
	if c.UnitID != 0 && c.Source != "" && c.Language != "" && !c.TranslationRemoved {
		var h catalog.Hasher
		o.StringURL = path("translate", c.Project, c.Component, c.Language) + "?checksum=" + catalog.Checksum(h.Identity(c.Source, c.Context).Hash)
	}
	return o
}

// withCommits links the commits of entries to the repository browsers of their
// components.
func withCommits(list []change, link func(commit string) string) {
	for i := range list {
		if list[i].Commit != "" {
			list[i].CommitURL = link(list[i].Commit)
		}
	}
}

// history is a page of changes with filters.
type history struct {
	Changes []change
	Pages   paging
	Kinds   []link
	User    string
	From    string
	To      string
	Order   []link
	Kept    []link
	Count   int64
	Unit    string
}

// changesOnPage is the number of entries of a page.
const changesOnPage = 50

// historyOf makes a page of the list that q selects.
func (p *Pages) historyOf(ctx context.Context, snap *store.Snapshot, v *view, q store.ChangeQuery) error {
	h := history{User: v.param("user"), From: v.param("from"), To: v.param("to"), Unit: v.param("unit")}
	q.User, q.Newest = "", v.param("order") != "oldest"
	if from, err := time.Parse(time.DateOnly, h.From); err == nil {
		q.From = from
	}
	if to, err := time.Parse(time.DateOnly, h.To); err == nil {
		q.To = to.AddDate(0, 0, 1).Add(-time.Microsecond)
	}
	if h.User != "" {
		q.User = h.User
	}
	kind := v.param("kind")
	for _, k := range []struct {
		value, name string
		actions     []catalog.Action
	}{
		{"", v.L.T("everything"), nil},
		{"added", v.L.T("new strings"), []catalog.Action{catalog.ActionNewUnit}},
		{"changed", v.L.T("changed strings"), []catalog.Action{catalog.ActionStringRepoUpdate, catalog.ActionChange, catalog.ActionNew, catalog.ActionAccept, catalog.ActionMarkedEdit}},
		{"removed", v.L.T("removed strings"), []catalog.Action{catalog.ActionStringRemove}},
		{"files", v.L.T("files and pulls"), []catalog.Action{catalog.ActionFailedMerge, catalog.ActionParseError, catalog.ActionRemoveTranslation, catalog.ActionAddedLanguage, catalog.ActionCreateComponent, catalog.ActionHook}},
	} {
		h.Kinds = append(h.Kinds, link{Name: k.name, URL: v.with("kind", k.value), Current: kind == k.value})
		if kind == k.value {
			q.Actions = k.actions
		}
	}
	newest, oldest := v.L.T("newest first"), v.L.T("oldest first")
	if q.ComponentID == 0 && q.TranslationID == 0 { // entries of several repositories are in the order in which they came
		newest, oldest = v.L.T("last pulled first"), v.L.T("first pulled first")
	}
	h.Order = []link{
		{Name: newest, URL: v.with("order", ""), Current: q.Newest},
		{Name: oldest, URL: v.with("order", "oldest"), Current: !q.Newest},
	}
	for _, name := range []string{"kind", "order"} {
		if value := v.param(name); value != "" {
			h.Kept = append(h.Kept, link{Name: name, URL: value})
		}
	}
	list, err := snap.ChangeList(ctx, q)
	if err != nil {
		return err
	}
	h.Count = list.Count()
	h.Pages = window(v, "page", h.Count, changesOnPage)
	entries, err := list.Page(ctx, max(h.Pages.From-1, 0), changesOnPage)
	if err != nil {
		return err
	}
	if h.Changes, err = p.changes(ctx, snap, v, entries); err != nil {
		return err
	}
	v.Body = h
	return err
}

func (p *Pages) allChanges(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view) error {
	v.Heading, v.Title = v.L.T("Changes"), v.L.T("Changes")+" · repoglot"
	v.Feeds = []link{{Name: "Atom", URL: "/exports/atom/"}, {Name: "RSS", URL: "/exports/rss/"}}
	q, err := resource.WithoutHidden(ctx, snap, store.ChangeQuery{}, "")
	if err != nil {
		return err
	}
	return p.historyOf(ctx, snap, v, q)
}

func (p *Pages) projectChanges(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error {
	project, err := resource.VisibleProject(ctx, snap, r)
	if err != nil {
		return err
	}
	p.aboutProject(v, &project)
	v.Heading = v.L.T("Changes of %s", project.Settings.Name)
	v.Title = v.L.T("Changes") + " · " + project.Settings.Name
	q, err := resource.WithoutHidden(ctx, snap, store.ChangeQuery{ProjectID: project.ID}, project.Slug)
	if err != nil {
		return err
	}
	return p.historyOf(ctx, snap, v, q)
}

func (p *Pages) componentChanges(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error {
	c, err := p.env.ImportedComponent(ctx, snap, r)
	if err != nil {
		return err
	}
	p.aboutComponent(v, &c.Project, &c.Component)
	v.Heading = v.L.T("Changes of %s", c.Settings.Name)
	v.Title = v.L.T("Changes") + " · " + c.Settings.Name + " · " + c.Project.Settings.Name
	return p.historyOf(ctx, snap, v, store.ChangeQuery{ComponentID: c.ID})
}

func (p *Pages) translationChanges(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error {
	t, err := p.env.VisibleTranslation(ctx, snap, r)
	if err != nil {
		return err
	}
	p.aboutTranslation(v, &t)
	v.Heading = v.L.T("Changes of %s", p.title(v, &t))
	v.Title = v.L.T("Changes") + " · " + p.title(v, &t)
	return p.historyOf(ctx, snap, v, store.ChangeQuery{TranslationID: t.ID})
}

// changesAPI are the parameters of the API's list for the filters of a page.
func changesAPI(r *rest.Request, list string) string {
	if kind, _ := r.Params.Get("kind"); kind != "" {
		if i := slices.Index([]string{"added", "changed", "removed"}, kind); i >= 0 {
			return list + "?ordering=-id&action=" + []string{"31", "59&action=2&action=5&action=37", "63"}[i]
		}
	}
	return list + "?ordering=-id"
}
