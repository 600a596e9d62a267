package resource

import (
	"context"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/api/feed"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

const feedEntries = 10

// feedRoutes are the feeds: Weblate's in RSS, and ours in Atom.
func (e *Env) feedRoutes() []Route {
	var routes []Route
	for _, format := range []struct {
		prefix, name string
		write        func(*feed.Feed) ([]byte, string, error)
	}{{"/exports/rss/", "Feed", feed.WriteRSS}, {"/exports/atom/", "Atom Feed", feed.WriteAtom}} {
		for _, pattern := range []string{"", "language/:code/", ":project/", ":project/:component/", ":project/:component/:language/"} {
			routes = append(routes, Route{
				Path: format.prefix + pattern, Allow: AllowRead, Name: format.name, About: "The newest changes.", Kind: KindFile,
				Handle: with(e.scopeOf, func(ctx context.Context, snap *store.Snapshot, r *rest.Request, of *scope) (any, error) {
					f, err := e.newFeed(ctx, snap, r, of)
					if err != nil {
						return nil, err
					}
					body, contentType, err := format.write(f)
					return &rest.Document{ContentType: contentType, Body: body}, err
				}),
			})
		}
	}
	return routes
}

// newFeed reads the end of a change list, or the ends of those of a language's
// translations.
func (e *Env) newFeed(ctx context.Context, snap *store.Snapshot, r *rest.Request, of *scope) (*feed.Feed, error) {
	here := r.HTTP.URL.EscapedPath()
	if of.language != "" {
		components, err := importedIDs(ctx, snap, "")
		if err != nil {
			return nil, err
		}
		entries, err := snap.NewestInLanguage(ctx, components, of.language, feedEntries)
		page := wire.Path("languages", r.PathParam("code"))
		return feed.New(r.Link, entries, e.Language(of.language).Name, page, here), err
	}
	q, err := of.changes(ctx, snap)
	if err != nil {
		return nil, err
	}
	q.Newest = true
	l, err := snap.ChangeList(ctx, q)
	if err != nil {
		return nil, err
	}
	entries, err := l.Page(ctx, 0, feedEntries)
	page := wire.Path(append([]string{"projects"}, pathNames(r)...)...)
	return feed.New(r.Link, entries, strings.Join(pathNames(r), "/"), page, here), err
}

// pathNames are the slugs and codes that the path has.
func pathNames(r *rest.Request) []string {
	names := []string{r.PathParam("project"), r.PathParam("component"), r.PathParam("language"), r.PathParam("code")}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
