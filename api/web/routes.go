package web

import (
	"context"
	"net/url"
	"regexp"
	"strings"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

// AllowEdit are the methods of the pages of a string and of a component.
const AllowEdit = "GET, POST, HEAD, OPTIONS"

func script(context.Context, *store.Snapshot, *rest.Request) (any, error) {
	data, err := files.ReadFile("templates/edit.js")
	return &rest.Document{ContentType: "text/javascript; charset=utf-8", Body: data}, err
}

// Routes are the pages, under the addresses that answers of the API name
// (docs/compatibility.md#web-addresses).
func (p *Pages) Routes() []resource.Route {
	stringsPage := p.route("/translate/:project/:component/:language/", "Strings", "strings", stringsAPI, of(p.env.VisibleTranslation, p.aboutTranslation, p.strings))
	comparison := p.route("/projects/:project/:component/compare/:commits/", "Comparison", "compare", at("/api/components/:project/:component/compare/:commits/"), of(p.env.ImportedComponent, aboutComponent, p.compare))
	comparison.Long = true
	componentPage := p.route("/projects/:project/:component/", "Component", "component", at("/api/components/:project/:component/"), of(resource.VisibleComponent, aboutComponent, p.component))
	projectLanguage := p.route("/projects/:project/-/:language/", "Project in a Language", "language", projectLanguageAPI, p.language)
	translationPage := p.route("/projects/:project/:component/:language/", "Translation", "translation", at("/api/translations/:project/:component/:language/"), of(p.env.VisibleTranslation, p.aboutTranslation, p.translation))
	ownPage, accountsPage := p.route("/account/", "Own work", "own", at("/api/"), p.account), p.route("/accounts/", "Accounts", "accounts", at("/api/"), p.accounts)
	beginPage := p.route("/new-lang/:project/:component/", "Begin a language", "begin", at("/api/components/:project/:component/translations/"), of(p.env.ImportedComponent, aboutComponent, p.begin))
	for _, page := range []*resource.Route{&beginPage, &stringsPage, &componentPage, &projectLanguage, &translationPage, &ownPage, &accountsPage} {
		page.Allow = AllowEdit
	}
	return []resource.Route{
		p.route("/", "Home", "front", at("/api/"), p.front),
		p.route("/projects/", "Projects", "front", at("/api/projects/"), p.projects),
		p.route("/projects/:project/", "Project", "matrix", at("/api/projects/:project/matrix/"), of(resource.VisibleProject, aboutProject, p.matrix)),
		projectLanguage,
		componentPage,
		translationPage,
		beginPage,
		p.route("/translate/:project/", "Translate", "matrix", at("/api/projects/:project/components/"), of(resource.VisibleProject, aboutProject, p.matrix)),
		p.route("/translate/:project/-/:language/", "Translate", "language", projectLanguageAPI, p.language),
		p.route("/translate/:project/:component/", "Translate", "component", at("/api/components/:project/:component/translations/"), of(resource.VisibleComponent, aboutComponent, p.component)),
		stringsPage,
		comparison,
		{Path: "/edit.js/", Allow: resource.AllowRead, Name: "Script", About: "The script of the form that edits a string.", Kind: resource.KindPage, Handle: script},
		p.route("/engage/:project/", "Engage", "engage", at("/api/projects/:project/"), of(resource.VisibleProject, aboutProject, p.engage)),
		p.route("/engage/:project/:language/", "Engage", "engage", projectLanguageAPI, of(resource.VisibleProject, aboutProject, p.engage)),
		p.route("/engage/:project/-/:language/", "Engage", "engage", projectLanguageAPI, of(resource.VisibleProject, aboutProject, p.engage)),
		p.route("/languages/", "Languages", "languages", at("/api/languages/"), p.languages),
		p.route("/languages/:language/", "Language", "language", at("/api/languages/:language/"), p.language),
		p.route("/languages/:language/:project/", "Language of a Project", "language", projectLanguageAPI, p.language),
		p.route("/user/:username/", "User", "user", at("/api/users/:username/"), p.user),
		p.route("/changes/", "Changes", "changes", changesAPI("/api/changes/"), p.allChanges),
		p.route("/changes/browse/:project/", "Changes", "changes", changesAPI("/api/projects/:project/changes/"), of(resource.VisibleProject, aboutProject, p.projectChanges)),
		p.route("/changes/browse/:project/:component/", "Changes", "changes", changesAPI("/api/components/:project/:component/changes/"), of(p.env.ImportedComponent, aboutComponent, p.componentChanges)),
		p.route("/changes/browse/:project/:component/:language/", "Changes", "changes", changesAPI("/api/translations/:project/:component/:language/changes/"), of(p.env.VisibleTranslation, p.aboutTranslation, p.translationChanges)),
		p.route("/search/", "Search", "search", at("/api/units/"), p.search),
		p.route("/checks/", "Checks", "checks", at("/api/checks/"), p.checks),
		p.route("/checks/:check/", "Check", "check", checkAPI, p.oneCheck),
		ownPage,
		accountsPage,
		p.route("/login/", "Sign in", "login", at("/api/"), p.login),
		p.route("/unfollow/:secret/", "Unfollow", "unfollow", at("/api/"), p.unfollow),
		p.route("/docs/", "Manual", "manual", at("/api/docs/"), p.manualPage),
		{Path: "/docs/img/:picture/", Allow: resource.AllowRead, Name: "Picture", About: "A picture of the manual.", Kind: resource.KindPage, Handle: picture},
		p.route("/docs/:chapter/", "Manual", "manual", at("/api/docs/"), p.manualPage),
	}
}

// at makes the function that fills the parameters of a request's path into another one.
func at(pattern string) func(*rest.Request) string {
	return func(r *rest.Request) string {
		segments := strings.Split(pattern, "/")
		for i, segment := range segments {
			if name, ok := strings.CutPrefix(segment, ":"); ok {
				segments[i] = url.PathEscape(r.PathParam(name))
			}
		}
		return strings.Join(segments, "/")
	}
}

// projectLanguageAPI is the API's search for the strings of a project in a language.
func projectLanguageAPI(r *rest.Request) string {
	q := `project:="` + r.PathParam("project") + `" AND language:="` + r.PathParam("language") + `"`
	return "/api/units/?q=" + url.QueryEscape(q)
}

func stringsAPI(r *rest.Request) string {
	list := at("/api/translations/:project/:component/:language/units/")(r)
	if q, _ := r.Params.Get("q"); q != "" {
		list += "?q=" + url.QueryEscape(q)
	}
	return list
}

// objects are answers about a project, a component or a translation, or about what is below it.
var objects = regexp.MustCompile(`^(?:projects/([^/]+/)|components/([^/]+/[^/]+/)|translations/([^/]+/[^/]+/[^/]+/))(changes/$|units/$|compare/[^/]+/$)?`)

// PageOf is the path of the page with the same facts as an answer of the API, whose
// escaped path begins with /api/; the list of projects if there is no better one.
func PageOf(api string, params rest.Params) string {
	q, _ := params.Get("q")
	if q != "" {
		q = "?q=" + url.QueryEscape(q)
	}
	api = strings.Trim(strings.TrimPrefix(api, "/api/"), "/") + "/"
	if m := objects.FindStringSubmatch(api); m != nil {
		switch of := m[1] + m[2] + m[3]; {
		case m[4] == "changes/":
			return "/changes/browse/" + of
		case m[4] == "units/" && m[3] != "":
			return "/translate/" + of + q
		case strings.HasPrefix(m[4], "compare/") && m[2] != "":
			return "/projects/" + of + m[4]
		default:
			return "/projects/" + of
		}
	}
	switch kind, below, _ := strings.Cut(api, "/"); kind {
	case "languages":
		if code, _, found := strings.Cut(below, "/"); found {
			return "/languages/" + code + "/"
		}
		return "/languages/"
	case "users":
		if name, _, found := strings.Cut(below, "/"); found {
			return "/user/" + name + "/"
		}
	case "changes", "checks":
		return "/" + kind + "/"
	case "units", "search":
		return "/search/" + q
	case "docs", "schema":
		return "/docs/"
	}
	return "/projects/"
}
