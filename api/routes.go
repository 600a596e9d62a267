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
	routed := new(http.Request)
	*routed = *r
	routed.URL = &u
	return routed
}

func trimSlashes(s string) string { return strings.TrimRight(s, "/") }
