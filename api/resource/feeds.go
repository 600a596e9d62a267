package resource

import (
	"context"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/api/feed"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// feedEntries is the number of changes in a feed.
const feedEntries = 10

// newest reads the newest changes of a feed, descending by id. about names what
// the feed is about, such as "demo/app/cs"; "" is the whole server.
type newest func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (entries []catalog.Change, about string, err error)

// feedRoutes are the feeds: Weblate's in RSS, and ours in Atom.
func (e *Env) feedRoutes() []Route {
	var routes []Route
	for _, format := range []struct {
		prefix, name string
		write        func(*feed.Feed) ([]byte, string, error)
	}{{"/exports/rss/", "Feed", feed.WriteRSS}, {"/exports/atom/", "Atom Feed", feed.WriteAtom}} {
		for _, scope := range []struct {
			pattern string
			newest  newest
		}{
			{"", e.newestOf},
			{"language/:code/", e.newestInLanguage},
			{":project/", e.newestOf},
			{":project/:component/", e.newestOf},
			{":project/:component/:language/", e.newestOf},
		} {
			routes = append(routes, Route{
				Path: format.prefix + scope.pattern, Allow: AllowRead, Name: format.name, About: "The newest changes.",
				Kind: KindFile, Handle: feedOf(scope.newest, format.write),
			})
		}
	}
	return routes
}

// feedOf answers with a feed.
func feedOf(newest newest, write func(*feed.Feed) ([]byte, string, error)) Handler {
	return func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
		entries, about, err := newest(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		kind := "projects"
		if r.PathParam("code") != "" {
			kind = "languages"
		}
		page := wire.Path(append([]string{kind}, pathNames(r)...)...)
		body, contentType, err := write(feed.New(r.Link, entries, about, page, r.HTTP.URL.EscapedPath()))
		if err != nil {
			return nil, err
		}
		return &rest.Document{ContentType: contentType, Body: body}, nil
	}
}

// newestOf reads the end of a change list.
func (e *Env) newestOf(ctx context.Context, snap *store.Snapshot, r *rest.Request) ([]catalog.Change, string, error) {
	of, err := e.scopeOf(ctx, snap, r)
	if err != nil {
		return nil, "", err
	}
	q, err := of.changes(ctx, snap)
	if err != nil {
		return nil, "", err
	}
	q.Newest = true
	l, err := snap.ChangeList(ctx, q)
	if err != nil {
		return nil, "", err
	}
	entries, err := l.Page(ctx, 0, feedEntries)
	return entries, strings.Join(pathNames(r), "/"), err
}

// pathNames are the slugs and codes that the path has.
func pathNames(r *rest.Request) []string {
	names := []string{r.PathParam("project"), r.PathParam("component"), r.PathParam("language"), r.PathParam("code")}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// newestInLanguage reads the ends of the change lists of a language's
// translations.
func (e *Env) newestInLanguage(ctx context.Context, snap *store.Snapshot, r *rest.Request) ([]catalog.Change, string, error) {
	language, err := e.VisibleLanguage(ctx, snap, r)
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
