package web

import (
	"context"
	"net/url"
	"strings"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// AllowEdit are the methods of the page of a string.
const AllowEdit = "GET, POST, HEAD, OPTIONS"

// script is the script of the form that edits a string.
func script(context.Context, *store.Snapshot, *rest.Request) (any, error) {
	data, err := files.ReadFile("templates/edit.js")
	return &rest.Document{ContentType: "text/javascript; charset=utf-8", Body: data}, err
}

// Routes are the pages, under the addresses that answers of the API name
// (docs/compatibility.md#web-addresses).
func (p *Pages) Routes() []resource.Route {
	fixed := func(target string) func(*rest.Request) string { return func(*rest.Request) string { return target } }
	project := func(r *rest.Request) string { return wire.ProjectPath(r.PathParam("project")) }
	component := func(r *rest.Request) string {
		return wire.ComponentPath(r.PathParam("project"), r.PathParam("component"))
	}
	translation := func(r *rest.Request) string {
		return wire.TranslationPath(r.PathParam("project"), r.PathParam("component"), r.PathParam("language"))
	}
	below := func(path func(*rest.Request) string, name string) func(*rest.Request) string {
		return func(r *rest.Request) string { return path(r) + name }
	}
	history := func(path func(*rest.Request) string) func(*rest.Request) string {
		return func(r *rest.Request) string { return changesAPI(r, path(r)+"changes/") }
	}
	language := func(r *rest.Request) string { return wire.Path("api", "languages", r.PathParam("language")) }
	stringsPage := p.route("/translate/:project/:component/:language/", "Strings", "strings", p.stringsAPI, of(p.env.VisibleTranslation, p.aboutTranslation, p.strings))
	stringsPage.Allow = AllowEdit
	return []resource.Route{
		p.route("/", "Home", "front", fixed("/api/"), p.front),
		p.route("/projects/", "Projects", "front", fixed("/api/projects/"), p.projects),
		p.route("/projects/:project/", "Project", "matrix", below(project, "matrix/"), of(resource.VisibleProject, aboutProject, p.matrix)),
		p.route("/projects/:project/-/:language/", "Project in a Language", "language", projectLanguageAPI, p.language),
		p.route("/projects/:project/:component/", "Component", "component", component, of(resource.VisibleComponent, aboutComponent, p.component)),
		p.route("/projects/:project/:component/:language/", "Translation", "translation", translation, of(p.env.VisibleTranslation, p.aboutTranslation, p.translation)),
		p.route("/translate/:project/", "Translate", "matrix", below(project, "components/"), of(resource.VisibleProject, aboutProject, p.matrix)),
		p.route("/translate/:project/-/:language/", "Translate", "language", projectLanguageAPI, p.language),
		p.route("/translate/:project/:component/", "Translate", "component", below(component, "translations/"), of(resource.VisibleComponent, aboutComponent, p.component)),
		stringsPage,
		{Path: "/edit.js/", Allow: resource.AllowRead, Name: "Script", About: "The script of the form that edits a string.", Kind: resource.KindPage, Handle: script},
		p.route("/engage/:project/", "Engage", "engage", project, of(resource.VisibleProject, aboutProject, p.engage)),
		p.route("/engage/:project/:language/", "Engage", "engage", projectLanguageAPI, of(resource.VisibleProject, aboutProject, p.engage)),
		p.route("/engage/:project/-/:language/", "Engage", "engage", projectLanguageAPI, of(resource.VisibleProject, aboutProject, p.engage)),
		p.route("/languages/", "Languages", "languages", fixed("/api/languages/"), p.languages),
		p.route("/languages/:language/", "Language", "language", language, p.language),
		p.route("/languages/:language/:project/", "Language of a Project", "language", projectLanguageAPI, p.language),
		p.route("/user/:username/", "User", "user", func(r *rest.Request) string { return wire.UserPath(r.PathParam("username")) }, p.user),
		p.route("/changes/", "Changes", "changes", history(fixed("/api/")), p.allChanges),
		p.route("/changes/browse/:project/", "Changes", "changes", history(project), of(resource.VisibleProject, aboutProject, p.projectChanges)),
		p.route("/changes/browse/:project/:component/", "Changes", "changes", history(component), of(p.env.ImportedComponent, aboutComponent, p.componentChanges)),
		p.route("/changes/browse/:project/:component/:language/", "Changes", "changes", history(translation), of(p.env.VisibleTranslation, p.aboutTranslation, p.translationChanges)),
		p.route("/search/", "Search", "search", fixed("/api/units/"), p.search),
		p.route("/checks/", "Checks", "checks", fixed("/api/checks/"), p.checks),
		p.route("/checks/:check/", "Check", "check", checkAPI, p.oneCheck),
		p.route("/login/", "Sign in", "login", fixed("/api/"), p.login),
		p.route("/docs/", "Manual", "manual", fixed("/api/docs/"), p.manualPage),
		{Path: "/docs/img/:picture/", Allow: resource.AllowRead, Name: "Picture", About: "A picture of the manual.", Kind: resource.KindPage, Handle: picture},
		p.route("/docs/:chapter/", "Manual", "manual", fixed("/api/docs/"), p.manualPage),
	}
}

// projectLanguageAPI is the API's search for the strings of a project in a language.
func projectLanguageAPI(r *rest.Request) string {
	q := `project:="` + r.PathParam("project") + `" AND language:="` + r.PathParam("language") + `"`
	return "/api/units/?q=" + url.QueryEscape(q)
}

func (p *Pages) stringsAPI(r *rest.Request) string {
	list := wire.TranslationPath(r.PathParam("project"), r.PathParam("component"), r.PathParam("language")) + "units/"
	if q, _ := r.Params.Get("q"); q != "" {
		list += "?q=" + url.QueryEscape(q)
	}
	return list
}

// PageOf is the path of the page with the same facts as an answer of the API, whose
// escaped path begins with /api/; the list of projects if there is no better one.
func PageOf(api string, params rest.Params) string {
	segments := strings.Split(strings.Trim(strings.TrimPrefix(api, "/api/"), "/"), "/")
	q, _ := params.Get("q")
	if q != "" {
		q = "?q=" + url.QueryEscape(q)
	}
	of := func(from, to int) string { return strings.Join(segments[from:to], "/") + "/" }
	last := segments[len(segments)-1]
	for _, kind := range []struct {
		name  string
		slugs int
		page  string
	}{{"projects", 1, "/projects/"}, {"components", 2, "/projects/"}, {"translations", 3, "/projects/"}} {
		switch {
		case segments[0] != kind.name || len(segments) <= kind.slugs:
		case last == "changes" && len(segments) == kind.slugs+2:
			return "/changes/browse/" + of(1, kind.slugs+1)
		case last == "units" && kind.slugs == 3 && len(segments) == 5:
			return "/translate/" + of(1, 4) + q
		default:
			return kind.page + of(1, kind.slugs+1)
		}
	}
	switch segments[0] {
	case "languages":
		return "/" + of(0, min(len(segments), 2))
	case "users":
		if len(segments) > 1 {
			return "/user/" + of(1, 2)
		}
	case "changes":
		return "/changes/"
	case "checks":
		return "/checks/"
	case "units", "search":
		return "/search/" + q
	case "docs", "schema":
		return "/docs/"
	}
	return "/projects/"
}
