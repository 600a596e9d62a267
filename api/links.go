package api

import (
	"net/url"
	"strconv"
)

// links makes the absolute URLs of one answer: those of API resources end with
// the format of the request, those of web pages do not (specification, rule 7;
// facts §12, forms of 4.x).
type links struct {
	// base is scheme and host, without a trailing slash.
	base string
	// format is the value of the parameter format in links: "api" or "json".
	format string
}

// api returns the URL of an API resource; path begins and ends with a slash.
func (l links) api(path string) string { return l.base + path + "?format=" + l.format }

// web returns the URL of a page.
func (l links) web(path string) string { return l.base + path }

// path joins segments, each escaped, with slashes around and between them.
func path(segments ...string) string {
	n := 1
	for _, s := range segments {
		n += len(s) + 1
	}
	b := make([]byte, 1, n)
	b[0] = '/'
	for _, s := range segments {
		b = append(append(b, url.PathEscape(s)...), '/')
	}
	return string(b)
}

// itoa writes an id.
func itoa(id int64) string { return strconv.FormatInt(id, 10) }

func (l links) unit(id int64) string   { return l.api("/api/units/" + itoa(id) + "/") }
func (l links) change(id int64) string { return l.api("/api/changes/" + itoa(id) + "/") }
func (l links) addon(id int64) string  { return l.api("/api/addons/" + itoa(id) + "/") }
func (l links) user(username string) string {
	return l.api(path("api", "users", username))
}

// Paths of API resources.
func projectPath(project string) string { return path("api", "projects", project) }

func componentPath(project, component string) string {
	return path("api", "components", project, component)
}

func translationPath(project, component, language string) string {
	return path("api", "translations", project, component, language)
}
