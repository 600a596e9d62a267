package api

import (
	"net/http"
	"net/http/httptest"
	"slices"
)

// ReadRoutes are the paths of all routes that GET reads.
func ReadRoutes(s *Server) (paths []string) {
	for _, rt := range s.echo.Routes() {
		if rt.Method == http.MethodGet {
			paths = append(paths, rt.Path)
		}
	}
	slices.Sort(paths)
	return paths
}

// RouteOf is the path of the route that a GET of a target takes.
func RouteOf(s *Server, target string) string {
	r := withRoutePath(httptest.NewRequest(http.MethodGet, target, http.NoBody))
	c := s.echo.NewContext(r, nil)
	s.echo.Router().Find(r.Method, r.URL.EscapedPath(), c)
	return c.Path()
}

// SpoolAll makes every download one that does not fit into memory.
func SpoolAll(s *Server) { s.spoolMemory = 0 }

// FillCatchingUp makes it seem that as many requests as may wait for a generation do so,
// until free is called.
func FillCatchingUp(s *Server) (free func()) {
	for range cap(s.catchingUp) {
		s.catchingUp <- struct{}{}
	}
	return func() {
		for range cap(s.catchingUp) {
			<-s.catchingUp
		}
	}
}

// OldForm is the body of an error without the keys that Weblate has since 5.10.
func OldForm(body string) string { return oldForm(body) }
