package api

import (
	"net/http"
	"strings"

	"github.com/repoglot/repoglot/api/resource"
)

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
	suffixed := new(http.Request)
	*suffixed = *r
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
