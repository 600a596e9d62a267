package api

import (
	"mime"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
)

// negotiate chooses the representation by the parameter format, which overrides
// the header Accept, and then by Accept. A format that the resource does not
// have is 404 (docs/compatibility.md#format-parameter); an Accept that nothing
// satisfies is 406. A client that prefers text/html gets a page, unless format
// is json or csv.
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
	rep.Lines = rep.Lines || wants(rest.TypeLines, rt, ps, accept)
	rep.CSV = rep.CSV || !rep.Lines && wants("text/csv", rt, ps, accept)
	indent, ok := acceptable(accept)
	if !ok && !rep.Lines && !rep.CSV && !given && rt.Kind != resource.KindDocument && rt.Kind != resource.KindEvents {
		return rep, rest.ErrNotAcceptable
	}
	rep.Indent = indent
	return rep, nil
}

// maxAccept is how many bytes of the header Accept are read; browsers send
// about 150.
const maxAccept = 4 << 10

// acceptable reports whether Accept allows JSON or the page made of it, and
// returns the parameter indent of application/json. A missing or empty header
// allows everything.
func acceptable(accept string) (indent int, ok bool) {
	if strings.TrimSpace(accept) == "" {
		return 0, true
	}
	for part := range strings.SplitSeq(accept[:min(len(accept), maxAccept)], ",") {
		media, attrs, err := mime.ParseMediaType(part)
		if err != nil || refused(attrs["q"]) {
			continue
		}
		switch media {
		case "application/json":
			return indentOf(attrs["indent"]), true
		case "*/*", "application/*", "text/html", "text/*":
			ok = true
		}
	}
	return 0, ok
}

// showsPage reports whether the answer is a page: the client names text/html,
// and likes JSON less or only equally by a wildcard. Links that people follow
// have format=api, so Accept decides about these, too.
func showsPage(rt *resource.Route, ps rest.Params, accept string) bool {
	format, given := ps.Get("format")
	if given && format != "api" || rt.Kind == resource.KindDocument || rt.Kind == resource.KindEvents || rt.Kind == resource.KindFile || rt.Kind == resource.KindPage {
		return false
	}
	page, named, other := 0.0, 0.0, 0.0
	for part := range strings.SplitSeq(accept[:min(len(accept), maxAccept)], ",") {
		media, attrs, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if value, err := strconv.ParseFloat(attrs["q"], 64); err == nil {
			q = value
		}
		switch media {
		case "text/html":
			page = q
		case "application/json":
			named = q
		case "*/*", "application/*":
			other = max(other, q)
		}
	}
	return page > named && page >= other
}

// wants reports whether a list is sent in another form than JSON: the client
// names its media type and likes nothing else better. With format=api, too,
// Accept decides.
func wants(form string, rt *resource.Route, ps rest.Params, accept string) bool {
	if format, given := ps.Get("format"); given && format != "api" || rt.Kind != resource.KindList {
		return false
	}
	own, best := 0.0, 0.0
	for part := range strings.SplitSeq(accept[:min(len(accept), maxAccept)], ",") {
		media, attrs, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if value, err := strconv.ParseFloat(attrs["q"], 64); err == nil {
			q = value
		}
		if media == form {
			own = q
		} else {
			best = max(best, q)
		}
	}
	return own > 0 && own >= best
}

// refused reports whether a quality value means "not at all".
func refused(q string) bool {
	value, err := strconv.ParseFloat(q, 64)
	return err == nil && value <= 0
}

// indentOf clamps to the 8 blanks that Django REST framework allows.
func indentOf(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return min(max(n, 0), 8)
}
