package api

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/page"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web"
)

// negotiate chooses the representation by the parameter format, which overrides the header
// Accept, and then by Accept. A format that the resource does not have is 404
// (docs/compatibility.md#format-parameter); an Accept that nothing satisfies is 406. A client
// that prefers text/html gets a page, unless format is json or csv.
func negotiate(rt *resource.Route, ps rest.Params, accept string) (rest.Representation, error) {
	rep := rest.Representation{Format: "api"}
	if rt.Kind == resource.KindFile || rt.Kind == resource.KindPage {
		return rep, nil
	}
	format, given := ps.Get("format")
	switch {
	case !given:
	case format == "api" || format == "json":
		rep.Format = format
	case format == "csv" && rt.Kind == resource.KindList:
		rep.CSV = true
	case format == "ndjson" && rt.Kind == resource.KindList:
		rep.Lines = true
	default:
		return rep, rest.ErrNotFound
	}
	likes := preferences(accept)
	if !given || format == "api" { // of links that people follow
		rep.Lines = wants(rest.TypeLines, rt, likes)
		rep.CSV = !rep.Lines && wants("text/csv", rt, likes)
	}
	indent, ok := acceptable(likes)
	ok = ok || strings.TrimSpace(accept) == ""
	if !ok && !rep.Lines && !rep.CSV && !given && rt.Kind != resource.KindDocument && rt.Kind != resource.KindEvents {
		return rep, rest.ErrNotAcceptable
	}
	rep.Indent = indent
	return rep, nil
}

// maxAccept is how many bytes of the header Accept are read; browsers send about 150.
const maxAccept = 4 << 10

type preference struct {
	media   string
	quality float64 // 1 if it has none
	indent  string
}

func preferences(accept string) []preference {
	var list []preference
	for part := range strings.SplitSeq(accept[:min(len(accept), maxAccept)], ",") {
		media, attrs, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		p := preference{media, 1, attrs["indent"]}
		if quality, err := strconv.ParseFloat(attrs["q"], 64); err == nil {
			p.quality = quality
		}
		list = append(list, p)
	}
	return list
}

// acceptable reports whether Accept allows JSON or the page made of it, and returns the
// parameter indent of application/json, within the 8 blanks that Django REST framework allows.
func acceptable(likes []preference) (indent int, ok bool) {
	for _, like := range likes {
		if like.quality <= 0 {
			continue
		}
		switch like.media {
		case "application/json":
			if n, err := strconv.Atoi(like.indent); err == nil {
				indent = min(max(n, 0), 8)
			}
			return indent, true
		case "*/*", "application/*", "text/html", "text/*":
			ok = true
		}
	}
	return 0, ok
}

// wants reports whether a list is sent in another form than JSON: the client
// names its media type and likes nothing else better.
func wants(form string, rt *resource.Route, likes []preference) bool {
	own, best := 0.0, 0.0
	for _, like := range likes {
		if like.media == form {
			own = like.quality
		} else {
			best = max(best, like.quality)
		}
	}
	return rt.Kind == resource.KindList && own > 0 && own >= best
}

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
	problem, failed := a.body.(failure)
	json := problem.content
	if !failed {
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
	if a.contentType, a.body = rest.TypeHTML, content(body); failed {
		a.body = failure{problem.problem, body}
	}
	return a
}

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
	value, _ := ps.Get("page")
	number, err := strconv.Atoi(value)
	if err != nil {
		number = 1
	}
	list := []page.Link{{Name: "JSON", URL: path + "?" + ps.Encode("json", number)}}
	if rt.Kind == resource.KindList {
		list = append(list,
			page.Link{Name: "CSV", URL: path + "?" + ps.Encode("csv", number)},
			page.Link{Name: "All, as lines of JSON", URL: path + "?" + ps.Encode("ndjson", 1)})
	}
	return list
}
