package web

import (
	"testing"

	"github.com/repoglot/repoglot/api/rest"
)

// TestPageOf: an answer of the API leads to the page about the same.
func TestPageOf(t *testing.T) {
	t.Parallel()
	for api, want := range map[string]string{
		"/api/":                                    "/projects/",
		"/api/projects/":                           "/projects/",
		"/api/projects/demo/languages/":            "/projects/demo/",
		"/api/projects/demo/changes/":              "/changes/browse/demo/",
		"/api/components/demo/app/":                "/projects/demo/app/",
		"/api/components/demo/a%252Fb/lock/":       "/projects/demo/a%252Fb/",
		"/api/components/demo/":                    "/projects/",
		"/api/translations/demo/app/cs/":           "/projects/demo/app/cs/",
		"/api/translations/demo/app/cs/units/":     "/translate/demo/app/cs/?q=is%3Afuzzy",
		"/api/translations/demo/app/cs/changes/":   "/changes/browse/demo/app/cs/",
		"/api/components/demo/changes/statistics/": "/projects/demo/changes/",
		"/api/languages/":                          "/languages/",
		"/api/languages/cs/statistics/":            "/languages/cs/",
		"/api/users/ada/contributions/":            "/user/ada/",
		"/api/units/":                              "/search/?q=is%3Afuzzy",
		"/api/checks/":                             "/checks/",
	} {
		if got := PageOf(api, rest.ParseQuery("q=is:fuzzy")); got != want {
			t.Errorf("%s: %s, want %s", api, got, want)
		}
	}
}
