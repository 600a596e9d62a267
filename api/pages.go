package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/page"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web"
)

// wantsPage reports whether a GET or HEAD is answered with a page: the client names
// text/html, and likes JSON less or only equally by a wildcard. Links that people follow
// have format=api, so Accept decides about these, too.
func wantsPage(rt *resource.Route, req *http.Request) bool {
	if req.Method != http.MethodGet && req.Method != http.MethodHead || len(req.URL.RawQuery) > maxQuery {
		return false
	}
	format, given := rest.ParseQuery(req.URL.RawQuery).Get("format")
	if given && format != "api" || rt.Kind == resource.KindDocument || rt.Kind == resource.KindEvents || rt.Kind == resource.KindFile || rt.Kind == resource.KindPage {
		return false
	}
	page, json, other := 0.0, 0.0, 0.0
	for _, like := range preferences(strings.Join(req.Header.Values("Accept"), ",")) {
		switch like.media {
		case "text/html":
			page = like.quality
		case "application/json":
			json = like.quality
		case "*/*", "application/*":
			other = max(other, like.quality)
		}
	}
	return page > json && page >= other
}

// asPage shows an answer in JSON as a page. If that fails, the JSON is sent.
func (s *Server) asPage(x exchange, a answer) answer {
	var json []byte
	problem, failed := a.body.(failure)
	if failed {
		json = problem.content
	} else {
		json = a.body.(content)
	}
	path, ps := x.req.URL.EscapedPath(), rest.ParseQuery(x.req.URL.RawQuery)
	p := &page.Page{
		Title: strings.TrimSuffix(x.rt.Name, " Instance"), Target: path, Body: json,
		Status:  strconv.Itoa(a.status) + " " + http.StatusText(a.status),
		Headers: [][2]string{{"Allow", x.rt.Allow}, {"Content-Type", rest.TypeJSON}, {"Vary", "Accept"}},
		People:  web.PageOf(path, ps),
	}
	if x.req.URL.RawQuery != "" {
		p.Target += "?" + x.req.URL.RawQuery
	}
	if failed {
		p.Title = http.StatusText(a.status)
	} else {
		p.Formats = formatsOf(x.rt, path, ps)
	}
	body, err := page.Render(p)
	if err != nil {
		s.logger.Error("api page failed", "route", x.rt.Path, "path", x.req.URL.Path, "error", err)
		return a
	}
	a.contentType = rest.TypeHTML
	if failed {
		a.body = failure{problem.problem, body}
	} else {
		a.body = content(body)
	}
	return a
}

// problemPage shows why a page cannot be shown.
func (s *Server) problemPage(x exchange, a answer, f failure) answer {
	body, err := s.pages.Problem(x.req, a.status, f.problem.Detail)
	if err != nil {
		s.logger.Error("page failed", "route", x.rt.Path, "path", x.req.URL.Path, "error", err)
		return a
	}
	a.contentType, a.body = rest.TypeHTML, failure{f.problem, body}
	return a
}

// formatsOf lists the other forms of a resource.
func formatsOf(rt *resource.Route, path string, ps rest.Params) []page.Link {
	number := 1
	if value, ok := ps.Get("page"); ok {
		if n, err := strconv.Atoi(value); err == nil {
			number = n
		}
	}
	list := []page.Link{{Name: "JSON", URL: path + "?" + ps.Encode("json", number)}}
	if rt.Kind == resource.KindList {
		list = append(list,
			page.Link{Name: "CSV", URL: path + "?" + ps.Encode("csv", number)},
			page.Link{Name: "All, as lines of JSON", URL: path + "?" + ps.Encode("ndjson", 1)})
	}
	return list
}
