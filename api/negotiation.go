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

// maxAccept is how many bytes of the header Accept are read; browsers send
// about 150.
const maxAccept = 4 << 10

// preference is a media type of the header Accept.
type preference struct {
	media   string
	quality float64 // 1 if it has none
	indent  string
}

// preferences reads the header Accept.
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
// parameter indent of application/json, within the 8 blanks that Django REST framework
// allows.
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
