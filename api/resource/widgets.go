package resource

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/widget"
	"github.com/repoglot/repoglot/catalog/store"
)

// widgetRoutes are the widgets, under the addresses of Weblate 5.x (/widget/)
// and of 4.x (/widgets/), which has the language before the component.
func (e *Env) widgetRoutes() []Route {
	var routes []Route
	for _, pattern := range []string{
		"/widget/:project/:widget/",
		"/widget/:project/:component/:widget/",
		"/widget/:project/:component/:language/:widget/",
		"/widgets/:project/:language/:widget/",
		"/widgets/:project/:language/:component/:widget/",
	} {
		routes = append(routes, Route{
			Path: pattern, Allow: AllowRead, Name: "Widget", About: "A picture of how much is translated.",
			Kind: KindFile, Handle: e.getWidget,
		})
	}
	return routes
}

// getWidget answers a picture of how much is translated, of a project, a
// component or a translation; "-" as the component means a language of a
// project. Private ones are not found, other than in Weblate
// (docs/compatibility.md#badges).
func (e *Env) getWidget(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	draw, ok := widget.Lookup(r.PathParam("widget"))
	if !ok {
		return nil, rest.ErrNotFound
	}
	p, err := e.progressOf(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	return &rest.Document{ContentType: rest.TypeSVG, Body: []byte(draw(p)), MaxAge: 3600}, nil
}

// progressOf adds up the statistics of what the path names by language, or those of one
// language, as people understand them: the source language is left out unless it is asked
// for (docs/compatibility.md#badges).
func (e *Env) progressOf(ctx context.Context, snap *store.Snapshot, r *rest.Request) (*widget.Progress, error) {
	component, language := r.PathParam("component"), strings.TrimPrefix(r.PathParam("language"), "-")
	p := &widget.Progress{}
	var ids []int64
	switch {
	case component != "" && component != "-" && language != "":
		t, err := e.VisibleTranslation(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		p.Name, ids, language = t.Component.Settings.Name, []int64{t.ComponentID}, t.Language
	case component != "" && component != "-":
		c, err := e.ImportedComponent(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		p.Name, ids = c.Settings.Name, []int64{c.ID}
	default:
		project, err := VisibleProject(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		if ids, err = importedIDs(ctx, snap, project.Slug); err != nil {
			return nil, err
		}
		p.Name = project.Settings.Name
	}
	sums, err := snap.Sums(ctx, store.SumQuery{Components: ids, Language: language, Sources: language != ""})
	if err == nil && len(sums) == 0 && language != "" {
		err = rest.ErrNotFound
	}
	p.Progress = addUp(sums).Progress
	for i := range sums {
		p.Languages = append(p.Languages, widget.Language{
			Code: sums[i].Language, Name: e.Language(sums[i].Language).Name, Progress: sums[i].Progress,
		})
	}
	slices.SortFunc(p.Languages, func(a, b widget.Language) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Code, b.Code))
	})
	return p, err
}
