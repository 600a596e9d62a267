package wire

import (
	"net/url"
	"strconv"
)

// Links makes the absolute URLs of one answer. URLs of API resources end with
// the format of the request, URLs of web pages do not
// (docs/compatibility.md#addresses).
type Links struct {
	// Base is the scheme and the host, without a trailing slash.
	Base string
	// Format is the value of the parameter format: "api" or "json"; "" leaves it out.
	Format string
}

// API returns the URL of an API resource; path begins and ends with a slash.
func (l Links) API(path string) string { return l.Base + path + l.suffix() }

// suffix ends the addresses of API resources.
func (l Links) suffix() string {
	if l.Format == "" {
		return ""
	}
	return "?format=" + l.Format
}

// Web returns the URL of a page.
func (l Links) Web(path string) string { return l.Base + path }

// Path escapes segments and puts slashes around and between them.
func Path(segments ...string) string {
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

// FormatID formats an id.
func FormatID(id int64) string { return strconv.FormatInt(id, 10) }

// Unit returns the URL of a unit.
func (l Links) Unit(id int64) string { return l.API(UnitPath(id)) }

// User returns the URL of a user.
func (l Links) User(username string) string { return l.API(UserPath(username)) }

func (l Links) change(id int64) string { return l.API("/api/changes/" + FormatID(id) + "/") }
func (l Links) addon(id int64) string  { return l.API("/api/addons/" + FormatID(id) + "/") }

// UnitPath is the path of a unit.
func UnitPath(id int64) string { return "/api/units/" + FormatID(id) + "/" }

// UserPath is the path of a user.
func UserPath(username string) string { return Path("api", "users", username) }

// ProjectPath is the path of a project.
func ProjectPath(project string) string { return Path("api", "projects", project) }

// ComponentPath is the path of a component.
func ComponentPath(project, component string) string {
	return Path("api", "components", project, component)
}

// TranslationPath is the path of a translation.
func TranslationPath(project, component, language string) string {
	return Path("api", "translations", project, component, language)
}
