package resource

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/feed"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

func (e *Env) getChange(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	change, err := snap.Change(ctx, id)
	if err != nil {
		return nil, err
	}
	if _, err := e.importedComponentBySlug(ctx, snap, change.Project, change.Component); err != nil {
		return nil, err
	}
	return wire.NewChange(r.Link, &change), nil
}

// WithoutHidden limits q to the entries of visible components, of one project or of all with
// "", unless no entry is hidden: in a private component or one that is no longer configured.
func WithoutHidden(ctx context.Context, snap *store.Snapshot, q store.ChangeQuery, project string) (store.ChangeQuery, error) {
	total, err := snap.Count(ctx, q)
	if err != nil {
		return q, err
	}
	visible, err := VisibleComponents(ctx, snap, project)
	if err != nil {
		return q, err
	}
	ids := make([]int64, len(visible))
	var shown int64
	for i := range visible {
		ids[i] = visible[i].ID
		shown += visible[i].Changes
	}
	if shown != total {
		q.Components = ids
	}
	return q, nil
}

// listChanges answers a change list: ascending by id, or descending with
// ordering=-id (docs/compatibility.md#order-and-after_id).
func listChanges(ctx context.Context, snap *store.Snapshot, r *rest.Request, of *scope) (any, error) {
	q, err := changesOf(ctx, snap, r, of)
	if err != nil {
		return nil, err
	}
	_, ordered := r.Params.Get("ordering")
	_, after := r.Params.Get("after_id")
	q.Newest = q.Newest || r.Dialect.NewestFirst && !ordered && !after && !r.Representation.Lines
	l, err := snap.ChangeList(ctx, q)
	if err != nil {
		return nil, err
	}
	return r.List(l.Count(), rest.MaxPageSize, of.path+"changes/", func(w rest.Window) (any, error) {
		entries, err := l.Page(ctx, w.Offset, w.Limit)
		return rest.Objects(entries, func(c *catalog.Change) wire.Object { return wire.NewChange(r.Link, c) }), err
	})
}

// changesOf selects the entries of a scope that the parameters ask for: Weblate's action, user,
// timestamp_after and timestamp_before, and ours, ordering, after_id, unit and author. Like Django REST
// framework it reports all wrong parameters at once, before the page is looked at.
func changesOf(ctx context.Context, snap *store.Snapshot, r *rest.Request, of *scope) (store.ChangeQuery, error) {
	q, err := of.changes(ctx, snap)
	if err != nil {
		return q, err
	}
	errs := rest.FieldErrors{}
	q.Actions = actionsOf(r, errs)
	if q.User, _ = r.Params.Get("author"); q.User != "" {
		q.Authored = true
	} else {
		q.User, _ = r.Params.Get("user")
	}
	q.From = r.Timestamp("timestamp_after", errs)
	q.To = r.Timestamp("timestamp_before", errs)
	switch ordering, _ := r.Params.Get("ordering"); ordering {
	case "", "id":
	case "-id":
		q.Newest = true
	default:
		errs.Add("ordering", "Select a valid choice: id or -id.")
	}
	q.AfterID = wholeNumber(r, "after_id", errs)
	if unit := wholeNumber(r, "unit", errs); unit != 0 {
		q.UnitID = unit
	}
	return q, errs.Err()
}

// actionsOf returns the values of the parameter action, known numbers; none means no filter.
func actionsOf(r *rest.Request, errs rest.FieldErrors) []catalog.Action {
	var actions []catalog.Action
	for _, p := range r.Params {
		if p.Name != "action" {
			continue
		}
		n, err := strconv.ParseInt(p.Value, 10, 16)
		action := catalog.Action(n)
		if err != nil || !action.Known() || strconv.Itoa(int(action)) != p.Value {
			errs.Add("action", "Select a valid choice. "+p.Value+" is not one of the available choices.")
			return nil
		}
		if !slices.Contains(actions, action) {
			actions = append(actions, action)
		}
	}
	return actions
}

// wholeNumber returns a parameter that is a whole number; 0 without it.
func wholeNumber(r *rest.Request, name string, errs rest.FieldErrors) int64 {
	text, given := r.Params.Get(name)
	if !given {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		errs.Add(name, "A valid integer is required.")
	}
	return max(n, 0)
}

// streamChanges answers the stream of a change list. The stream begins after
// Last-Event-ID, otherwise after after_id, otherwise after the newest entry.
func (e *Env) streamChanges(ctx context.Context, snap *store.Snapshot, r *rest.Request, of *scope) (any, error) {
	q, err := changesOf(ctx, snap, r, of)
	if err != nil {
		return nil, err
	}
	if q.Newest {
		return nil, rest.BadParameter("ordering", "A stream is ascending.")
	}
	again := func(ctx context.Context, snap *store.Snapshot) (store.ChangeQuery, error) {
		of, err := e.scopeOf(ctx, snap, r)
		if err != nil {
			return store.ChangeQuery{}, err
		}
		return of.changes(ctx, snap)
	}
	f := &rest.ChangeStream{Path: of.path + "changes/", Query: q, After: q.AfterID, Link: r.Link, Scope: again}
	if id := strings.TrimSpace(r.HTTP.Header.Get("Last-Event-ID")); id != "" {
		if f.After, err = strconv.ParseInt(id, 10, 64); err != nil || f.After < 0 {
			return nil, rest.BadParameter("Last-Event-ID", "A valid integer is required.")
		}
		return f, nil
	}
	if _, given := r.Params.Get("after_id"); !given {
		f.After, err = snap.Count(ctx, store.ChangeQuery{}) // ids have no gaps: this is the newest
	}
	return f, err
}

// feedRoutes are the feeds: Weblate's in RSS, and ours in Atom.
func (e *Env) feedRoutes() []Route {
	var routes []Route
	for _, format := range [][2]string{{"rss", "Feed"}, {"atom", "Atom Feed"}} {
		for _, pattern := range []string{"", "language/:code/", ":project/", ":project/:component/", ":project/:component/:language/"} {
			routes = append(routes, Route{
				Path: "/exports/" + format[0] + "/" + pattern, Allow: AllowRead, Name: format[1], About: "The newest changes.", Kind: KindFile,
				Handle: with(e.scopeOf, func(ctx context.Context, snap *store.Snapshot, r *rest.Request, of *scope) (any, error) {
					f, err := e.newFeed(ctx, snap, r, of)
					if err != nil {
						return nil, err
					}
					body, contentType, err := f.Write(format[0])
					return &rest.Document{ContentType: contentType, Body: body}, err
				}),
			})
		}
	}
	return routes
}

// newFeed reads the end of a change list, or the ends of those of a language's translations.
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
