package web

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
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
	Committed       time.Time // zero: at about the same time
	CommitURL       string
	Subject         string // of the commit
	Follows         bool   // an entry of the same commit is above it
}

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

// components are rows by the slugs of project and component; nil for what is not visible.
type components map[[2]string]*store.ComponentRow

// of is the component of an entry.
func (all components) of(c *catalog.Change) *store.ComponentRow {
	return all[[2]string{c.Project, c.Component}]
}

// fill finds those of the slugs that it has.
func (all components) fill(ctx context.Context, snap *store.Snapshot) error {
	rows, err := resource.VisibleComponents(ctx, snap, "")
	for _, c := range rows {
		key := [2]string{c.Project.Slug, c.Slug}
		if _, wanted := all[key]; wanted {
			all[key] = c
		}
	}
	return err
}

// subjects are those of the commits of entries, by id. Each branch is opened once.
func (p *Pages) subjects(ctx context.Context, all components, entries []catalog.Change) (map[string]string, error) {
	subjects := map[string]string{}
	if p.env.Commits == nil {
		return subjects, nil
	}
	type branch struct{ repo, name string }
	commits, components := map[branch][]string{}, map[branch]*store.ComponentRow{}
	for i := range entries {
		e := &entries[i]
		if c := all.of(e); c != nil && e.Commit != "" && !follows(entries, i) {
			of := branch{c.Repo, c.Branch}
			commits[of], components[of] = append(commits[of], e.Commit), c
		}
	}
	for of, ids := range commits {
		if err := p.env.Commits.Subjects(ctx, components[of], ids, subjects); err != nil {
			return nil, err
		}
	}
	return subjects, nil
}

// follows reports whether the entry before is of the same commit.
func follows(entries []catalog.Change, i int) bool {
	return i > 0 && entries[i].Commit != "" && entries[i].Commit == entries[i-1].Commit
}

// changes makes the entries of a page, which a client may see, named as people do.
func (p *Pages) changes(ctx context.Context, snap *store.Snapshot, v *view, entries []catalog.Change) error {
	all := components{}
	for i := range entries {
		all[[2]string{entries[i].Project, entries[i].Component}] = nil
	}
	err := all.fill(ctx, snap)
	if err != nil {
		return err
	}
	subjects, err := p.subjects(ctx, all, entries)
	for i := range entries {
		c := p.change(v.L, &entries[i], all.of(&entries[i]))
		c.Subject, c.Follows = subjects[c.Commit], follows(entries, i)
		v.Changes = append(v.Changes, c)
	}
	return err
}

func (p *Pages) change(l *intl.Language, c *catalog.Change, row *store.ComponentRow) change {
	o := change{Change: *c, Where: p.placeName(l, c.Language, c.Component, row), What: l.T(cmp.Or(actionNames[c.Action], c.Action.Name())), Kind: "event", WhereURL: path("projects", c.Project, c.Component)}
	if c.Language != "" && !c.TranslationRemoved {
		o.WhereURL = path("projects", c.Project, c.Component, c.Language)
	}
	if c.Action == catalog.ActionCreateComponent { // the author of the first commit did not
		o.AuthorName, o.Username = "", ""
	}
	if row != nil {
		o.CommitURL = commitURL(row.Settings.Repoweb, c.Commit)
	}
	if !c.CommitTime.IsZero() && c.Timestamp.Sub(c.CommitTime).Abs() > time.Minute {
		o.Committed = c.CommitTime
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

// placeName is what an entry is of: a translation or a component.
func (p *Pages) placeName(l *intl.Language, language, component string, c *store.ComponentRow) string {
	names := []string{component}
	if c != nil {
		names = []string{c.Settings.Name, c.Project.Settings.Name}
	}
	if language != "" {
		names = append([]string{p.nameOf(l, language)}, names...)
	}
	return l.Join(names...)
}

// readChanges makes the entries that q finds.
func (p *Pages) readChanges(ctx context.Context, snap *store.Snapshot, v *view, q store.ChangeQuery) error {
	entries, err := snap.Changes(ctx, q)
	if err != nil {
		return err
	}
	return p.changes(ctx, snap, v, entries)
}

// commit is what a commit did, or an event without one.
type commit struct {
	change // its newest entry
	Parts  []commitPart
	Others int64  // parts that are not shown
	URL    string // of its entries in the list of all; "" for one entry
	Count  int64
}

type commitPart struct {
	store.CommitPart
	Name, URL string
}

// newestCommits makes the commits of a page; list is where all of the entries of one are.
func (p *Pages) newestCommits(ctx context.Context, snap *store.Snapshot, v *view, commits []*store.Commit, list func(*store.Commit) string) error {
	all, entries := components{}, []catalog.Change{}
	for _, c := range commits {
		all[[2]string{c.Project, c.Component}] = nil
		entries = append(entries, c.Change)
		for _, part := range c.Parts[:min(len(c.Parts), commitParts)] {
			all[[2]string{c.Project, part.Component}] = nil
		}
	}
	err := all.fill(ctx, snap)
	if err != nil {
		return err
	}
	subjects, err := p.subjects(ctx, all, entries)
	for _, c := range commits {
		o := commit{change: p.change(v.L, &c.Change, all.of(&c.Change)), Count: c.Entries}
		if o.Subject = subjects[c.Commit]; c.Entries > 1 {
			o.URL = list(c)
		}
		for _, of := range c.Parts[:min(len(c.Parts), commitParts)] {
			part := commitPart{CommitPart: of, Name: p.placeName(v.L, of.Language, of.Component, all[[2]string{c.Project, of.Component}])}
			if !of.Gone {
				part.URL = path("projects", c.Project, of.Component, of.Language)
			}
			o.Parts = append(o.Parts, part)
		}
		o.Others = int64(len(c.Parts) - len(o.Parts))
		v.Commits = append(v.Commits, o)
	}
	return err
}

// commitsOf makes the newest commits of a component.
func (p *Pages) commitsOf(ctx context.Context, snap *store.Snapshot, v *view, c *store.ComponentRow) error {
	list, err := snap.Commits(ctx, store.ChangeQuery{ComponentID: c.ID, Limit: newestCommits})
	if err != nil {
		return err
	}
	return p.newestCommits(ctx, snap, v, list, func(c *store.Commit) string {
		return path("changes", "browse", c.Project, c.Component) + "?page=" + strconv.FormatInt(c.Newer/changesOnPage+1, 10) + "#e" + strconv.FormatInt(c.ID, 10)
	})
}

type history struct {
	Kinds, Order []link
	From, To     string
	User         string
	Count        int64
}

// historyOf makes a page of the list that q selects.
func (p *Pages) historyOf(ctx context.Context, snap *store.Snapshot, v *view, q store.ChangeQuery) error {
	h := history{From: v.param("from"), To: v.param("to"), User: strings.TrimSpace(v.param("author"))}
	q.User, q.Authored, q.Newest = usernameOf(h.User), true, v.param("order") != "oldest"
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
	p.comparable(v, c, v.Changes)
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

// days returns the first and last moment of a span of dates; zero for what is no date.
func days(from, to string) (first, last time.Time) {
	if at, err := time.Parse(time.DateOnly, from); err == nil {
		first = at
	}
	if at, err := time.Parse(time.DateOnly, to); err == nil {
		last = at.AddDate(0, 0, 1).Add(-time.Microsecond)
	}
	return first, last
}

// usernameOf is a username that somebody wrote, also as the author's name.
func usernameOf(written string) string {
	if made := catalog.Username(written); written != "" && len([]rune(made)) < 60 { // a longer one may be cut before its number
		return made
	}
	return written
}

// changesAPI is the API's list at a path for the filters of a page.
func changesAPI(pattern string) func(*rest.Request) string {
	return func(r *rest.Request) string {
		param := func(name string) string { value, _ := r.Params.Get(name); return value }
		list := at(pattern)(r) + "?ordering=" + map[bool]string{true: "id", false: "-id"}[param("order") == "oldest"]
		for _, action := range actionsOf[param("kind")] {
			list += "&action=" + strconv.Itoa(int(action))
		}
		if user := usernameOf(strings.TrimSpace(param("author"))); user != "" {
			list += "&author=" + url.QueryEscape(user)
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
