package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/page"
)

// wantsPage reports whether a GET or HEAD is to be answered with a page.
func wantsPage(rt *route, req *http.Request) bool {
	if req.Method != http.MethodGet && req.Method != http.MethodHead || len(req.URL.RawQuery) > maxQuery {
		return false
	}
	return showsPage(rt, parseQuery(req.URL.RawQuery), strings.Join(req.Header.Values("Accept"), ","))
}

// asPage shows an answer in JSON as a page. Should that fail, the JSON is sent.
func (s *Server) asPage(rt *route, r *request, a answer) answer {
	req := r.echo.Request()
	p := &page.Page{
		Title: strings.TrimSuffix(rt.name, " Instance"), Target: req.URL.EscapedPath(), Body: a.body,
		Status:    strconv.Itoa(a.status) + " " + http.StatusText(a.status),
		Headers:   [][2]string{{"Allow", rt.allow}, {"Content-Type", typeJSON}, {"Vary", "Accept"}},
		Direction: func(code string) string { return string(s.language(code).Direction) },
	}
	if req.URL.RawQuery != "" {
		p.Target += "?" + req.URL.RawQuery
	}
	if a.problem != nil && (p.Title == "" || a.status == http.StatusNotFound) {
		p.Title = http.StatusText(a.status)
	}
	if a.problem == nil {
		p.Formats = formatsOf(rt, req.URL.EscapedPath(), parseQuery(req.URL.RawQuery))
	}
	body, err := page.Render(p)
	if err != nil {
		s.logger.Error("api page failed", "route", rt.path, "path", req.URL.Path, "error", err)
		return a
	}
	a.contentType, a.body = typeHTML, body
	return a
}

// formatsOf are the other forms of a resource that a person can ask for.
func formatsOf(rt *route, path string, ps params) []page.Link {
	number := 1
	if value, ok := ps.get("page"); ok {
		if n, err := strconv.Atoi(value); err == nil {
			number = n
		}
	}
	list := []page.Link{{Name: "JSON", URL: path + "?" + ps.encode("json", number)}}
	if rt.kind == pages {
		list = append(list,
			page.Link{Name: "CSV", URL: path + "?" + ps.encode("csv", number)},
			page.Link{Name: "All, as lines of JSON", URL: path + "?" + ps.encode("ndjson", 1)})
	}
	return list
}
