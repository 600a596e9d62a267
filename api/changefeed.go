package api

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// feedEntries is the number of changes in a feed (facts §12).
const feedEntries = 10

// newest reads the newest changes that a feed is about, descending by id, and says
// in words what that is ("demo/app/cs", "" for the whole server).
type newest func(ctx context.Context, snap *store.Snapshot, r *request) (entries []catalog.Change, about string, err error)

// changeFeed is a feed before it is written.
type changeFeed struct {
	// title is "Recent changes in …".
	title string
	// page and self are the URLs of the resource that the feed is about, and of the
	// feed itself.
	page, self string
	// updated is the time of the newest entry; the zero time in an empty feed.
	updated time.Time
	entries []feedEntry
}

// feedEntry is one change as feeds show it (facts §12).
type feedEntry struct {
	// id names the entry for ever; it is a URL but need not be visited.
	id string
	// title is the action, text one line about the string, author a full name or "".
	title, text, author string
	// page is the web address of the unit, or of what else the change is about.
	page string
	at   time.Time
}

// feedRoutes are the feeds: of all scopes as RSS, as in Weblate, and beside
// these, ours, as Atom.
func (s *Server) feedRoutes() []route {
	var routes []route
	for _, format := range []struct {
		prefix, name string
		write        func(*changeFeed) ([]byte, string, error)
	}{{"/exports/rss/", "Feed", writeRSS}, {"/exports/atom/", "Atom Feed", writeAtom}} {
		for _, scope := range []struct {
			pattern string
			newest  newest
		}{
			{"", newestOf(s.serverChanges)},
			{"language/:code/", s.newestInLanguage},
			{":project/", newestOf(s.projectChanges)},
			{":project/:component/", newestOf(s.componentChanges)},
			{":project/:component/:language/", newestOf(s.translationChanges)},
		} {
			routes = append(routes, route{
				format.prefix + scope.pattern, allowRead, format.name, "The newest changes.", files, feedOf(scope.newest, format.write),
			})
		}
	}
	return routes
}

// feedOf answers with a feed.
func feedOf(newest newest, write func(*changeFeed) ([]byte, string, error)) handler {
	return func(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
		entries, about, err := newest(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		body, contentType, err := write(newChangeFeed(r, entries, about))
		if err != nil {
			return nil, err
		}
		return &document{contentType: contentType, body: body}, nil
	}
}

// newestOf takes the end of a change list.
func newestOf(scope changeScope) newest {
	return func(ctx context.Context, snap *store.Snapshot, r *request) ([]catalog.Change, string, error) {
		q, _, err := scope(ctx, snap, r)
		if err != nil {
			return nil, "", err
		}
		q.Newest = true
		l, err := snap.ChangeList(ctx, q)
		if err != nil {
			return nil, "", err
		}
		var names []string
		for _, name := range []string{"project", "component", "language"} {
			if value := r.segment(name); value != "" {
				names = append(names, value)
			}
		}
		entries, err := l.Page(ctx, 0, feedEntries)
		return entries, strings.Join(names, "/"), err
	}
}

// newestInLanguage takes the ends of the lists of a language's translations.
func (s *Server) newestInLanguage(ctx context.Context, snap *store.Snapshot, r *request) ([]catalog.Change, string, error) {
	language, err := s.visibleLanguage(ctx, snap, r.segment("code"))
	if err != nil {
		return nil, "", err
	}
	components, err := importedIDs(ctx, snap, "")
	if err != nil {
		return nil, "", err
	}
	entries, err := snap.NewestInLanguage(ctx, components, language.Code, feedEntries)
	return entries, language.Name, err
}

func newChangeFeed(r *request, entries []catalog.Change, about string) *changeFeed {
	f := &changeFeed{title: "Recent changes", page: r.link.Web(feedPage(r)), self: r.link.Web(r.echo.Request().URL.EscapedPath())}
	if about != "" {
		f.title += " in " + about
	}
	for i := range entries {
		f.entries = append(f.entries, newFeedEntry(r.link, &entries[i]))
	}
	if len(entries) > 0 {
		f.updated = entries[0].Timestamp
	}
	return f
}

// feedPage is the page of what a feed is about.
func feedPage(r *request) string {
	project, component := r.segment("project"), r.segment("component")
	language := cmp.Or(r.segment("language"), r.segment("code"))
	switch {
	case project == "" && language == "":
		return wire.Path("projects")
	case project == "":
		return wire.Path("languages", language)
	case component == "":
		return wire.Path("projects", project)
	case language == "":
		return wire.Path("projects", project, component)
	}
	return wire.Path("projects", project, component, language)
}

func newFeedEntry(l wire.Links, c *catalog.Change) feedEntry {
	e := feedEntry{
		id: l.Base + "/api/changes/" + wire.FormatID(c.ID) + "/", title: c.Action.Name(), author: c.AuthorName, at: c.Timestamp.UTC(),
		text: c.Project + "/" + c.Component, page: l.Web(wire.Path("projects", c.Project, c.Component)),
	}
	if c.Language == "" {
		return e
	}
	e.text += "/" + c.Language
	if c.Source != "" {
		e.text += ": " + shortLine(c.Source) + " → " + shortLine(c.Target)
	}
	switch {
	case c.TranslationRemoved:
	case c.UnitID == 0 || c.Action == catalog.ActionStringRemove:
		e.page = l.Web(wire.Path("projects", c.Project, c.Component, c.Language))
	default:
		var h catalog.Hasher
		e.page = l.Web(wire.TranslatePath(c.Project, c.Component, c.Language)) + "?checksum=" + catalog.Checksum(h.Identity(c.Source, c.Context).Hash)
	}
	return e
}

// shortLine is a text, or its first 200 characters, in one line.
func shortLine(s string) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, catalog.FormSeparator, " / ")), " ")
	if runes := []rune(s); len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return s
}
