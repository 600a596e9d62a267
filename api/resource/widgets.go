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

func (e *Env) progressOf(ctx context.Context, snap *store.Snapshot, r *rest.Request) (*widget.Progress, error) {
	component, language := r.PathParam("component"), strings.TrimPrefix(r.PathParam("language"), "-")
	switch {
	case component != "" && component != "-" && language != "":
		t, err := e.VisibleTranslation(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		sums, err := openSums(ctx, snap, []int64{t.ComponentID}, t.Language)
		return e.newProgress(t.Component.Settings.Name, sums), err
	case component != "" && component != "-":
		c, err := e.ImportedComponent(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		sums, err := openSums(ctx, snap, []int64{c.ID}, "")
		return e.newProgress(c.Settings.Name, sums), err
	}
	p, err := VisibleProject(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	ids, err := importedIDs(ctx, snap, p.Slug)
	if err != nil {
		return nil, err
	}
	sums, err := openSums(ctx, snap, ids, language)
	if err == nil && len(sums) == 0 && language != "" {
		err = rest.ErrNotFound
	}
	return e.newProgress(p.Settings.Name, sums), err
}

// openSums adds up the statistics of components by language, or those of one language,
// as people understand them: the source language is left out unless it is asked for
// (docs/compatibility.md#badges).
func openSums(ctx context.Context, snap *store.Snapshot, components []int64, language string) ([]store.Sum, error) {
	return snap.Sums(ctx, store.SumQuery{Components: components, Language: language, Sources: language != ""})
}

func (e *Env) newProgress(name string, sums []store.Sum) *widget.Progress {
	p := &widget.Progress{Name: name, Progress: addUp(sums).Progress}
	for i := range sums {
		p.Languages = append(p.Languages, widget.Language{
			Code: sums[i].Language, Name: e.Language(sums[i].Language).Name, Progress: sums[i].Progress,
		})
	}
	slices.SortFunc(p.Languages, func(a, b widget.Language) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Code, b.Code))
	})
	return p
}
