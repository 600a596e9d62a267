package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/catalog/store"
)

// handler answers a GET. It reads everything through snap and returns what is
// to be rendered: a value for JSON, a *list or a *document. Errors are those
// of answerError.
type handler func(ctx context.Context, snap *store.Snapshot, r *request) (any, error)

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
	pages                // JSON or CSV, a page of a list
	verbatim             // a document that the handler chooses itself
	events               // server-sent events
)

// The values of Allow, in the order of facts §6.
const (
	allowRead       = "GET, HEAD, OPTIONS"
	allowPost       = "GET, POST, HEAD, OPTIONS"
	allowDelete     = "GET, DELETE, HEAD, OPTIONS"
	allowPutToPatch = "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"
)

// routes is the table of all resources, those of the specification first.
func (s *Server) routes() []route {
	const (
		aboutTranslations = "Translation components API."
		aboutComponents   = "Translation components API."
		aboutProjects     = "Translation projects API."
		aboutLanguages    = "Languages API."
		aboutUnits        = "Units API."
		aboutChanges      = "Translation changes API."
		aboutUsers        = "Users API."
		aboutTasks        = "Tasks API."
	)
	return []route{
		{"/api/translations/:project/:component/:language/", allowDelete, "Translation Instance", aboutTranslations, object, s.getTranslation},
		{"/api/translations/:project/:component/:language/units/", allowPost, "Units", aboutTranslations, pages, s.listUnits},
		{"/api/translations/:project/:component/:language/changes/", allowRead, "Changes", aboutTranslations, pages, listOf(s.translationChanges)},
		{"/api/translations/:project/:component/:language/changes/stream/", allowRead, "Change Stream", aboutChanges, events, follow(s.translationChanges)},
		{"/api/translations/:project/:component/:language/statistics/history/", allowRead, "Statistics over Time", aboutTranslations, pages, statisticsOf(s.translationStatistics)},
		{"/api/units/:id/", allowPutToPatch, "Unit Instance", aboutUnits, object, s.getUnit},
		{"/api/changes/:id/", allowRead, "Change Instance", aboutChanges, object, s.getChange},

		{"/api/", allowRead, "API Root", "The lists that the API starts from.", object, s.getRoot},
		{"/api/schema/", allowRead, "Schema", "The OpenAPI description of this API.", verbatim, s.getSchema},
		{"/api/projects/", allowPost, "Project List", aboutProjects, pages, s.listProjects},
		{"/api/projects/:project/", allowPutToPatch, "Project Instance", aboutProjects, object, s.getProject},
		{"/api/projects/:project/components/", allowPost, "Components", aboutProjects, pages, s.listProjectComponents},
		{"/api/projects/:project/changes/", allowRead, "Changes", aboutProjects, pages, listOf(s.projectChanges)},
		{"/api/projects/:project/changes/stream/", allowRead, "Change Stream", aboutChanges, events, follow(s.projectChanges)},
		{"/api/projects/:project/statistics/history/", allowRead, "Statistics over Time", aboutProjects, pages, statisticsOf(s.projectStatistics)},
		{"/api/components/", allowRead, "Component List", aboutComponents, pages, s.listComponents},
		{"/api/components/:project/:component/", allowPutToPatch, "Component Instance", aboutComponents, object, s.getComponent},
		{"/api/components/:project/:component/translations/", allowPost, "Translations", aboutComponents, pages, s.listComponentTranslations},
		{"/api/components/:project/:component/changes/", allowRead, "Changes", aboutComponents, pages, listOf(s.componentChanges)},
		{"/api/components/:project/:component/changes/stream/", allowRead, "Change Stream", aboutChanges, events, follow(s.componentChanges)},
		{"/api/components/:project/:component/statistics/history/", allowRead, "Statistics over Time", aboutComponents, pages, statisticsOf(s.componentStatistics)},
		{"/api/translations/", allowRead, "Translation List", aboutTranslations, pages, s.listTranslations},
		{"/api/languages/", allowPost, "Language List", aboutLanguages, pages, s.listLanguages},
		{"/api/languages/:code/", allowPutToPatch, "Language Instance", aboutLanguages, object, s.getLanguage},
		{"/api/languages/:code/statistics/history/", allowRead, "Statistics over Time", aboutLanguages, pages, statisticsOf(s.languageStatistics)},
		{"/api/changes/", allowRead, "Change List", aboutChanges, pages, listOf(s.serverChanges)},
		{"/api/changes/stream/", allowRead, "Change Stream", aboutChanges, events, follow(s.serverChanges)},
		{"/api/users/:username/", allowPutToPatch, "User Instance", aboutUsers, object, s.getUser},
		{"/api/tasks/:uuid/", allowDelete, "Task Instance", aboutTasks, object, s.getTask},
	}
}

// route registers the table. Every method of a path reaches the same function,
// which knows the path's Allow: Echo's own 405 does not. Endpoints return no
// errors, so Echo's error handler only sees paths that are no routes. (A
// catch-all route would win over the RouteNotFound of a path with children.)
func (s *Server) route() {
	s.echo.HideBanner = true
	s.echo.HidePort = true
	methods := []string{http.MethodGet, http.MethodHead, http.MethodOptions}
	for _, rt := range s.routes() {
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
