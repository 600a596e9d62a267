package api

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/web"
)

// registerRoutes registers the table. Every method of a path calls the same function,
// which knows the path's Allow: Echo's own 405 does not. Endpoints return no
// errors, so Echo's error handler gets only unknown paths. (A catch-all route
// would win over the RouteNotFound of a path with children.)
func (s *Server) registerRoutes() {
	s.echo.HideBanner = true
	s.echo.HidePort = true
	methods := slices.Clip([]string{http.MethodGet, http.MethodHead, http.MethodOptions})
	for _, rt := range append(resource.Routes(&s.env), s.pages.Routes()...) {
		h := s.endpoint(rt)
		s.echo.Match(append(methods, slices.Collect(maps.Keys(rt.Writes))...), rt.Path, h)
		s.echo.RouteNotFound(rt.Path, h)
	}
	s.echo.POST("/login/", s.signIn)
	s.echo.POST("/logout/", s.signOut)
	s.echo.POST("/translate/:project/:component/:language/", s.editString)
	unknown := s.endpoint(resource.Route{Path: "unknown", Allow: resource.AllowRead})
	unknownPage := s.endpoint(resource.Route{Path: "unknown", Allow: resource.AllowRead, Kind: resource.KindPage})
	s.echo.HTTPErrorHandler = func(_ error, c echo.Context) {
		r := c.Request()
		if strings.Contains(r.Header.Get("Accept"), "text/html") && web.Paths(r.URL.Path) {
			_ = unknownPage(c) // a person's; programs get what the API answers
		} else {
			_ = unknown(c)
		}
	}
}

// withRoutePath returns r with the path for matching routes: every segment in
// one encoding, and a trailing slash (docs/compatibility.md#addresses).
// Parameters are unescaped once, when they are read.
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
	routed := r.WithContext(r.Context()) // a copy
	routed.URL = &u
	return routed
}

// withFormat returns r with the suffix of its path as the parameter format
// (docs/compatibility.md#format-parameter): /api/projects.json is
// /api/projects/?format=json. As in Django REST framework, a suffix wins over
// the parameter. A path without the suffix of a format is not changed.
func withFormat(r *http.Request) *http.Request {
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		return r
	}
	path, format := cutFormat(r.URL.Path)
	if format == "" {
		return r
	}
	u := *r.URL
	u.Path = path
	if u.RawPath != "" {
		var raw string
		if u.RawPath, raw = cutFormat(u.RawPath); raw != format {
			return r
		}
	}
	u.RawQuery = strings.TrimPrefix(u.RawQuery+"&format="+format, "&") // the last one counts
	suffixed := r.WithContext(r.Context())                             // a copy
	suffixed.URL = &u
	return suffixed
}

// cutFormat cuts the suffix off a path, if it is a format of all resources, or
// one of files after "file". Other dots belong to names such as ja.sjis.
func cutFormat(path string) (rest, format string) {
	path = strings.TrimSuffix(path, "/")
	dot := strings.LastIndexByte(path, '.')
	if dot < 0 || path[dot-1] == '/' {
		return path, ""
	}
	rest, format = path[:dot], path[dot+1:]
	switch format {
	case "api", "csv", "json", "ndjson":
		return rest + "/", format
	}
	if strings.HasSuffix(rest, "/file") && resource.IsFileFormat(format) {
		return rest + "/", format
	}
	return path, ""
}
