package api

import (
	"net/http"
	"slices"
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
	ps := parseQuery(req.URL.RawQuery)
	if p.Failed = a.problem != nil; p.Failed {
		p.Title = http.StatusText(a.status)
	} else {
		p.Formats = formatsOf(rt, req.URL.EscapedPath(), ps)
	}
	if !p.Failed || a.status == http.StatusBadRequest { // a bad search can be mended
		p.Search, p.Views = searchOf(rt, req.URL.EscapedPath(), ps)
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

// searchOf are the form and the choices of a list, by what it can be asked for:
// lists of strings have q (docs/search.md), change lists an order.
func searchOf(rt *route, path string, ps params) (*page.Search, []page.Link) {
	view := func(name, key, value string) page.Link {
		current, _ := ps.get(key)
		kept := slices.DeleteFunc(slices.Clone(ps), func(p param) bool { return p.name == key })
		if value != "" {
			kept = append(kept, param{key, value})
		}
		return page.Link{Name: name, URL: path + "?" + kept.encode("api", 1), Current: current == value}
	}
	switch {
	case rt.kind != pages:
	case strings.HasSuffix(rt.path, "/units/"):
		q, _ := ps.get("q")
		return &page.Search{Path: path, Query: q}, []page.Link{
			view("All", "q", ""),
			view("Untranslated", "q", "state:empty"),
			view("Needs editing", "q", "state:needs-editing"),
			view("Failing checks", "q", "has:check"),
		}
	case strings.HasSuffix(rt.path, "/changes/"):
		return nil, []page.Link{view("Newest first", "ordering", "-id"), view("Oldest first", "ordering", "")}
	}
	return nil, nil
}
