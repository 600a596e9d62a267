package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

// handler answers a GET. It reads everything through snap and returns what is
// to be rendered: a value for JSON, a *list, an *array or a
// *document or an *archive. Errors are those
// of answerError.
type handler func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error)

// route is one resource: a row of the table in facts §6.
type route struct {
	// path is Echo's pattern, with a trailing slash.
	path string
	// allow is the header Allow: the methods of the resource in Weblate.
	allow string
	// name and description are what OPTIONS says.
	name, description string
	// kind decides about representations.
	kind kind
	// handle answers GET and HEAD.
	handle handler
}

// kind is what a resource answers with.
type kind int

const (
	object   kind = iota // JSON
	live                 // JSON that changes without the store, so that it is never kept
	pages                // JSON or CSV, a page of a list
	verbatim             // a document that the handler chooses itself
	files                // a document or an archive, in a format that the handler chooses
	events               // server-sent events
)

// The values of Allow, in the order of facts §6.
const (
	allowRead       = "GET, HEAD, OPTIONS"
	allowPost       = "GET, POST, HEAD, OPTIONS"
	allowDelete     = "GET, DELETE, HEAD, OPTIONS"
	allowPutToPatch = "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"
	allowFile       = "GET, POST, PUT, HEAD, OPTIONS"
	onlyPost        = "POST, OPTIONS"
	onlyDelete      = "DELETE, OPTIONS"
)

// routes is the table of all resources, those of the specification first.
func (s *Server) routes() []route {
	const (
		aboutTranslations   = "Translation components API."
		aboutComponents     = "Translation components API."
		aboutProjects       = "Translation projects API."
		aboutLanguages      = "Languages API."
		aboutUnits          = "Units API."
		aboutChanges        = "Translation changes API."
		aboutUsers          = "Users API."
		aboutTasks          = "Tasks API."
		aboutAddons         = "Addons API."
		aboutComponentLists = "Component lists API."
	)
	const (
		translation = "/api/translations/:project/:component/:language/"
		component   = "/api/components/:project/:component/"
		project     = "/api/projects/:project/"
	)
	return slices.Concat([]route{
		{translation, allowDelete, "Translation Instance", aboutTranslations, object, s.getTranslation},
		{translation + "units/", allowPost, "Units", aboutTranslations, pages, s.listUnits},
		{translation + "checks/", allowRead, "Checks", aboutTranslations, pages, s.listTranslationChecks},
		{translation + "changes/", allowRead, "Changes", aboutTranslations, pages, listOf(s.translationChanges)},
		{translation + "changes/stream/", allowRead, "Change Stream", aboutChanges, events, follow(s.translationChanges)},
		{translation + "statistics/", allowRead, "Statistics", aboutTranslations, object, s.getTranslationStatistics},
		{translation + "statistics/history/", allowRead, "Statistics over Time", aboutTranslations, pages, statisticsOf(s.translationStatistics)},
		{translation + "repository/", allowPost, "Repository", aboutTranslations, object, s.getTranslationRepository},
		{translation + "file/", allowFile, "File", aboutTranslations, files, s.getFile},
		{translation + "autotranslate/", onlyPost, "Autotranslate", aboutTranslations, object, writeOnly},
		{"/api/units/", allowRead, "Unit List", aboutUnits, pages, s.listAllUnits},
		{"/api/units/:id/", allowPutToPatch, "Unit Instance", aboutUnits, object, s.getUnit},
		{"/api/units/:id/checks/", allowRead, "Checks", aboutUnits, pages, s.listUnitChecks},
		{"/api/units/:id/translations/", allowRead, "Translations", aboutUnits, pages, s.listUnitTranslations},
		{"/api/units/:id/suggestions/", allowPost, "Suggestions", aboutUnits, pages, s.listUnitSuggestions},
		{"/api/units/:id/comments/", allowPost, "Comments", aboutUnits, pages, s.listUnitComments},
		{"/api/changes/:id/", allowRead, "Change Instance", aboutChanges, object, s.getChange},

		{"/api/", allowRead, "API Root", "The lists that the API starts from.", object, s.getRoot},
		{"/api/docs/", allowRead, "Documentation", "The description of this API for people.", verbatim, s.getDocs},
		{"/api/statistics/", allowRead, "Statistics", "Statistics of everything that is served.", object, s.getStatistics},
		{"/api/schema/", allowRead, "Schema", "The OpenAPI description of this API.", verbatim, s.getSchema},
		{"/api/projects/", allowPost, "Project List", aboutProjects, pages, s.listProjects},
		{project, allowPutToPatch, "Project Instance", aboutProjects, object, s.getProject},
		{project + "components/", allowPost, "Components", aboutProjects, pages, s.listProjectComponents},
		{project + "changes/", allowRead, "Changes", aboutProjects, pages, listOf(s.projectChanges)},
		{project + "changes/stream/", allowRead, "Change Stream", aboutChanges, events, follow(s.projectChanges)},
		{project + "statistics/history/", allowRead, "Statistics over Time", aboutProjects, pages, statisticsOf(s.projectStatistics)},
		{project + "statistics/", allowRead, "Statistics", aboutProjects, object, s.getProjectStatistics},
		{project + "languages/", allowRead, "Languages", aboutProjects, pages, s.listProjectLanguages},
		{project + "repository/", allowPost, "Repository", aboutProjects, object, s.getProjectRepository},
		{project + "file/", allowRead, "File", aboutProjects, files, s.getProjectFiles},
		{project + "labels/", allowPost, "Labels", aboutProjects, pages, none(s.ofProject, "labels")},
		{project + "categories/", allowRead, "Categories", aboutProjects, pages, none(s.ofProject, "categories")},
		{"/api/components/", allowRead, "Component List", aboutComponents, pages, s.listComponents},
		{component, allowPutToPatch, "Component Instance", aboutComponents, object, s.getComponent},
		{component + "translations/", allowPost, "Translations", aboutComponents, pages, s.listComponentTranslations},
		{component + "changes/", allowRead, "Changes", aboutComponents, pages, listOf(s.componentChanges)},
		{component + "changes/stream/", allowRead, "Change Stream", aboutChanges, events, follow(s.componentChanges)},
		{component + "statistics/history/", allowRead, "Statistics over Time", aboutComponents, pages, statisticsOf(s.componentStatistics)},
		{component + "statistics/", allowRead, "Statistics", aboutComponents, pages, s.listComponentStatistics},
		{component + "repository/", allowPost, "Repository", aboutComponents, object, s.getComponentRepository},
		{component + "lock/", allowPost, "Lock", aboutComponents, object, s.getLock},
		{component + "links/", allowPost, "Links", aboutComponents, pages, none(s.ofComponent, "links")},
		{component + "links/:linked/", onlyDelete, "Delete Links", aboutComponents, object, writeOnly},
		{component + "screenshots/", allowRead, "Screenshots", aboutComponents, pages, none(s.ofComponent, "screenshots")},
		{component + "addons/", onlyPost, "Addons", aboutComponents, object, writeOnly},
		{component + "file/", allowRead, "File", aboutComponents, files, s.getComponentFiles},
		{component + "new_template/", allowRead, "New Template", aboutComponents, verbatim, s.getNewTemplate},
		{component + "monolingual_base/", allowRead, "Monolingual Base", aboutComponents, verbatim, s.getMonolingualBase},
		{"/api/translations/", allowRead, "Translation List", aboutTranslations, pages, s.listTranslations},
		{"/api/languages/", allowPost, "Language List", aboutLanguages, pages, s.listLanguages},
		{"/api/languages/:code/", allowPutToPatch, "Language Instance", aboutLanguages, object, s.getLanguage},
		{"/api/languages/:code/statistics/history/", allowRead, "Statistics over Time", aboutLanguages, pages, statisticsOf(s.languageStatistics)},
		{"/api/languages/:code/statistics/", allowRead, "Statistics", aboutLanguages, object, s.getLanguageStatistics},
		{"/api/changes/", allowRead, "Change List", aboutChanges, pages, listOf(s.serverChanges)},
		{"/api/changes/stream/", allowRead, "Change Stream", aboutChanges, events, follow(s.serverChanges)},
		{"/api/users/", allowPost, "User List", aboutUsers, pages, s.listUsers},
		{"/api/users/:username/", allowPutToPatch, "User Instance", aboutUsers, object, s.getUser},
		{"/api/users/:username/statistics/", allowRead, "Statistics", aboutUsers, object, s.getUserStatistics},
		{"/api/users/:username/notifications/", allowPost, "Notifications", aboutUsers, pages, none(s.ofUser, "notifications")},
		{"/api/addons/", allowRead, "Addon List", aboutAddons, pages, s.listAddons},
		{"/api/addons/:id/", allowPutToPatch, "Addon Instance", aboutAddons, object, s.getAddon},
		{"/api/tasks/:uuid/", allowDelete, "Task Instance", aboutTasks, live, s.getTask},
		{"/api/component-lists/", allowPost, "Component List List", aboutComponentLists, pages, none(ofServer, "component-lists")},
		{"/api/component-lists/:slug/", allowPutToPatch, "Component List Instance", aboutComponentLists, object, noSuch},
		{"/api/component-lists/:slug/components/", allowPost, "Components", aboutComponentLists, pages, noSuch},
		{"/api/groups/", allowPost, "Group List", "Groups API.", pages, none(ofServer, "groups")},
		{"/api/roles/", allowPost, "Role List", "Roles API.", pages, none(ofServer, "roles")},
		{"/api/memory/", allowRead, "Memory List", "Memory API.", pages, none(ofServer, "memory")},
		{"/api/screenshots/", allowPost, "Screenshot List", "Screenshots API.", pages, none(ofServer, "screenshots")},
		{"/api/metrics/", allowRead, "Metrics", "Metrics view for monitoring.", object, s.getTotals},
		{"/exports/stats/:project/", allowRead, "Statistics", aboutProjects, files, s.exportProjectStatistics},
		{"/exports/stats/:project/:component/", allowRead, "Statistics", aboutComponents, files, s.exportComponentStatistics},
		{"/api/search/", allowRead, "Search", "Site-wide search endpoint.", pages, s.search},
	}, s.feedRoutes(), s.widgetRoutes())
}

// route registers the table. Every method of a path reaches the same function,
// which knows the path's Allow: Echo's own 405 does not. Endpoints return no
// errors, so Echo's error handler only sees paths that are no routes. (A
// catch-all route would win over the RouteNotFound of a path with children.)
func (s *Server) route() {
	s.echo.HideBanner = true
	s.echo.HidePort = true
	methods := []string{http.MethodGet, http.MethodHead, http.MethodOptions}
	for _, rt := range append(s.routes(), s.webRoutes()...) {
		h := s.endpoint(rt)
		s.echo.Match(methods, rt.path, h)
		s.echo.RouteNotFound(rt.path, h)
	}
	unknown := s.endpoint(route{path: "unknown", allow: allowRead})
	s.echo.HTTPErrorHandler = func(_ error, c echo.Context) { _ = unknown(c) }
}

// withRoutePath returns r with the path that routes are matched with: every
// segment in one encoding, and a trailing slash (decision 6). Parameters are
// unescaped by the reader of the parameter, once.
func withRoutePath(r *http.Request) *http.Request {
	segments := strings.Split(r.URL.EscapedPath(), "/")
	for i, segment := range segments {
		if plain, err := url.PathUnescape(segment); err == nil {
			segments[i] = url.PathEscape(plain)
		}
	}
	path := strings.Join(segments, "/")
	if !strings.HasSuffix(path, "/") {
		path += "/"
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u := *r.URL
	u.RawPath = path
	routed := new(http.Request)
	*routed = *r
	routed.URL = &u
	return routed
}

func trimSlashes(s string) string { return strings.TrimRight(s, "/") }
