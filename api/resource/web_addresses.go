package resource

import (
	"context"
	"net/url"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// WebRoutes are the web pages whose addresses are in answers, such as web_url
// (docs/compatibility.md#web-addresses). The API's own pages serve instead, so
// these redirect; whether the resource exists is decided there.
func WebRoutes(e *Env) []Route {
	const about = "A page of the web, told by the resource that it is about."
	to := func(pattern, name string, target func(r *rest.Request) string) Route {
		return Route{Path: pattern, Allow: AllowRead, Name: name, About: about, Kind: KindObject, Handle: func(_ context.Context, _ *store.Snapshot, r *rest.Request) (any, error) {
			return rest.Redirect(target(r)), nil
		}}
	}
	project := func(r *rest.Request) string { return wire.ProjectPath(r.PathParam("project")) }
	component := func(r *rest.Request) string {
		return wire.ComponentPath(r.PathParam("project"), r.PathParam("component"))
	}
	translation := func(r *rest.Request) string {
		return wire.TranslationPath(r.PathParam("project"), r.PathParam("component"), r.PathParam("language"))
	}
	language := func(r *rest.Request) string { return wire.Path("api", "languages", r.PathParam("language")) }
	below := func(of func(r *rest.Request) string, name string) func(*rest.Request) string {
		return func(r *rest.Request) string { return of(r) + name }
	}
	fixed := func(target string) func(*rest.Request) string { return func(*rest.Request) string { return target } }
	return []Route{
		to("/projects/", "Projects", fixed("/api/projects/")),
		to("/projects/:project/", "Project", project),
		{Path: "/projects/:project/-/:language/", Allow: AllowRead, Name: "Project in a Language", About: about, Kind: KindObject, Handle: e.projectInLanguage("")},
		to("/projects/:project/:component/", "Component", component),
		to("/projects/:project/:component/:language/", "Translation", translation),
		to("/translate/:project/", "Translate", below(project, "components/")),
		{Path: "/translate/:project/-/:language/", Allow: AllowRead, Name: "Translate", About: about, Kind: KindObject, Handle: e.projectInLanguage("units/")},
		to("/translate/:project/:component/", "Translate", below(component, "translations/")),
		{Path: "/translate/:project/:component/:language/", Allow: AllowRead, Name: "Translate", About: about, Kind: KindObject, Handle: e.translatePage},
		to("/engage/:project/", "Project", project),
		{Path: "/engage/:project/:language/", Allow: AllowRead, Name: "Project in a Language", About: about, Kind: KindObject, Handle: e.projectInLanguage("")},
		{Path: "/engage/:project/-/:language/", Allow: AllowRead, Name: "Project in a Language", About: about, Kind: KindObject, Handle: e.projectInLanguage("")},
		to("/languages/", "Languages", fixed("/api/languages/")),
		to("/languages/:language/", "Language", language),
		{Path: "/languages/:language/:project/", Allow: AllowRead, Name: "Project in a Language", About: about, Kind: KindObject, Handle: e.projectInLanguage("")},
		to("/changes/", "Changes", fixed("/api/changes/")),
		to("/changes/browse/:project/", "Changes", below(project, "changes/")),
		to("/changes/browse/:project/:component/", "Changes", below(component, "changes/")),
		to("/changes/browse/:project/:component/:language/", "Changes", below(translation, "changes/")),
		to("/user/:username/", "User", func(r *rest.Request) string { return wire.UserPath(r.PathParam("username")) }),
	}
}

// projectInLanguage redirects to a project in one language: to the translation
// of the only component, or to the path below it; otherwise to the strings of
// all components.
func (e *Env) projectInLanguage(below string) Handler {
	return func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
		project, err := visibleProject(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		l, err := e.visibleLanguage(ctx, snap, r.PathParam("language"))
		if err != nil {
			return nil, err
		}
		rows, err := visibleComponents(ctx, snap, project.Slug)
		if err != nil {
			return nil, err
		}
		sums, err := sumsOf(ctx, snap, project.Slug, l.Code)
		if err != nil {
			return nil, err
		}
		switch {
		case len(sums) == 0:
			return nil, rest.ErrNotFound
		case len(rows) == 1:
			return rest.Redirect(wire.TranslationPath(project.Slug, rows[0].Slug, l.Code) + below), nil
		}
		q := `project:="` + project.Slug + `" AND language:="` + l.Code + `"`
		return rest.Redirect("/api/units/?q=" + url.QueryEscape(q)), nil
	}
}

// translatePage redirects to the strings of a translation, or to the one string
// that the parameter checksum names, as in a unit's web_url. An unknown
// checksum leads to all strings.
func (e *Env) translatePage(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	t, err := e.visibleTranslation(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	checksum, _ := r.Params.Get("checksum")
	if hash, ok := catalog.ParseChecksum(checksum); ok {
		id, found, err := snap.UnitByHash(ctx, t.ID, hash)
		if err != nil {
			return nil, err
		}
		if found {
			return rest.Redirect(wire.UnitPath(id)), nil
		}
	}
	return rest.Redirect(wire.TranslationPath(t.Project.Slug, t.Component.Slug, t.Language) + "units/"), nil
}
