package api

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Fields that wlc cannot do without.
const (
	wlcProject     = "url web_url name slug web components_list_url repository_url statistics_url changes_list_url languages_url"
	wlcComponent   = "url web_url name slug project vcs repo git_export branch filemask template new_base file_format license license_url repository_url translations_url statistics_url lock_url changes_list_url"
	wlcTranslation = "url web_url language component translated fuzzy total translated_words fuzzy_words failing_checks_words total_words failing_checks have_suggestion have_comment language_code filename revision share_url translate_url is_template translated_percent fuzzy_percent failing_checks_percent last_change last_author file_url statistics_url units_list_url repository_url changes_list_url"
	wlcStatistics  = "failing_percent translated_percent total_words failing translated_words fuzzy_percent recent_changes translated fuzzy total last_change name url"
	wlcRepository  = "url needs_commit needs_merge needs_push"
	wlcChange      = "url unit translation component timestamp action_name target"
	wlcUnit        = "translation source previous_source target id_hash content_hash location context note flags state fuzzy translated approved position has_suggestion has_comment has_failing_check num_words source_unit priority id web_url url explanation extra_flags"
	wlcLanguage    = "url web_url code name direction"
)

// clientWLC is the package of Debian, which TestWLC also runs as it is.
func clientWLC(t *testing.T, s *sites) {
	token := []string{"Authorization", "Token k", "Accept", "application/json"}
	get := func(target, names string) *reply {
		t.Helper()
		return fields(t, target, names, token...)
	}
	for path, names := range map[string]string{
		"projects/": wlcProject, "components/": wlcComponent, "translations/": wlcTranslation, "languages/": wlcLanguage,
	} {
		get(s.big+"/api/"+path, names)
	}
	project := get(s.big+"/api/projects/big/", wlcProject)
	component := get(s.big+"/api/components/big/big/", wlcComponent)
	translation := get(s.big+"/api/translations/big/big/cs/", wlcTranslation)
	get(s.big+"/api/units/268435457/", wlcUnit)
	// All other addresses are found in what it got.
	get(project.text("components_list_url"), strings.Replace(wlcComponent, " project ", " ", 1)) // it knows the project
	get(project.text("changes_list_url"), wlcChange)
	get(project.text("statistics_url"), wlcStatistics)
	get(project.text("repository_url"), wlcRepository)
	get(project.text("languages_url"), wlcStatistics+" code")
	get(component.text("translations_url"), strings.Replace(wlcTranslation, " component ", " ", 1)) // it knows the component
	get(component.text("changes_list_url"), wlcChange)
	get(component.text("statistics_url"), wlcStatistics+" code last_author")
	get(component.text("repository_url"), wlcRepository+" status merge_failure remote_commit")
	get(component.text("lock_url"), "locked")
	get(translation.text("changes_list_url"), wlcChange)
	get(translation.text("statistics_url"), wlcStatistics+" code last_author")
	get(translation.text("repository_url"), wlcRepository+" status merge_failure remote_commit")
	get(translation.text("units_list_url"), wlcUnit)
	if entries, pages := all(t, translation.text("units_list_url"), token...); len(entries) != 45 || pages != 3 {
		t.Errorf("%d strings on %d pages", len(entries), pages)
	}
	// It sends its parameters anew with every page, which next has already.
	if second := want(t, s.big+"/api/translations/big/big/cs/units/?format=api&page=2&page=2&format=api", token...); len(second.results()) != 20 {
		t.Errorf("%d strings on page 2", len(second.results()))
	}
	// download appends ?format=po to an address that ends with ?format=api.
	file := want(t, translation.text("file_url")+"?format=po", token...)
	if plain := want(t, s.big+"/api/translations/big/big/cs/file/?format=po", token...); string(file.raw) != string(plain.raw) || len(file.raw) == 0 {
		t.Errorf("a download of %d bytes, want %d", len(file.raw), len(plain.raw))
	}
	for target, status := range map[string]int{s.big + "/api/projects/nope/": 404, s.demo + "/api/components/demo/hidden/": 404} {
		if a := overWire(t, http.MethodGet, target, "", token...); a.status != status || a.text("detail") == "" {
			t.Errorf("%s: %d %s", target, a.status, a.raw)
		}
	}
	// commit, pull and lock are refused in words that it prints.
	for target, body := range map[string]string{component.text("repository_url"): "operation=pull", component.text("lock_url"): "lock=1"} {
		if a := overWire(t, http.MethodPost, target, body, append(token, "Content-Type", "application/x-www-form-urlencoded")...); a.status != http.StatusForbidden || a.text("detail") == "" {
			t.Errorf("%s: %d %s", target, a.status, a.raw)
		}
		if a := overWire(t, http.MethodPost, target, body, "Accept", "application/json"); a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") != "Token" {
			t.Errorf("%s without a key: %d %v", target, a.status, a.header)
		}
	}
}

// clientWLC2 reads more fields, stops at an address of another origin and does
// not follow redirects.
func clientWLC2(t *testing.T, s *sites) {
	token := []string{"Authorization", "Token k", "Accept", "application/json"}
	// Without a category it asks for each component again, wherever one appears.
	fields(t, s.big+"/api/components/big/big/", wlcComponent+" agreement priority category locked", token...)
	fields(t, s.big+"/api/projects/big/components/", wlcComponent[:strings.Index(wlcComponent, " project ")]+" category locked", token...)
	fields(t, s.big+"/api/translations/big/big/cs/changes/", wlcChange+" id user author action", token...)
	fields(t, s.big+"/api/translations/big/big/cs/units/", wlcUnit+" language_code", token...)
	fields(t, s.big+"/api/languages/", wlcLanguage+" population", token...)
	for _, site := range []string{s.big, s.demo} {
		origin, err := url.Parse(site)
		must(t, err)
		seen := map[string]bool{}
		for todo := []string{site + "/api/"}; len(todo) > 0 && len(seen) < 300; todo = todo[1:] {
			target := todo[0]
			if seen[target] || strings.Contains(target, "/file/") || strings.Contains(target, "_template/") {
				continue // documents
			}
			seen[target] = true
			a := overWire(t, http.MethodGet, target, "", token...)
			if unready := strings.Contains(target, "/docs/") || strings.Contains(target, "/man-a-b/") || strings.Contains(target, "/secret/open/"); a.status != http.StatusOK && !(unready && a.status == http.StatusServiceUnavailable) {
				t.Errorf("%s: %d %.100s", target, a.status, a.raw)
			}
			for _, link := range apiLinks(a.body) {
				u, err := url.Parse(link)
				if err != nil || u.Scheme != origin.Scheme || u.Host != origin.Host || !strings.HasPrefix(u.Path, "/api/") {
					t.Errorf("%s: %s is of another origin than %s", target, link, site)
					continue
				}
				todo = append(todo, link)
			}
		}
		if len(seen) < 50 {
			t.Errorf("only %d resources found by their links", len(seen))
		}
	}
	if a := overWire(t, http.MethodGet, s.big+"/api/translations/big/big/cs", "", token...); a.status != http.StatusOK {
		t.Errorf("without its slash: %d", a.status) // a 3xx is an error to it
	}
}

// clientOpenstackKR goes through wlc with another Accept.
func clientOpenstackKR(t *testing.T, s *sites) {
	accept := []string{"Accept", "application/json, text/javascript", "Authorization", "Token k"}
	project := fields(t, s.big+"/api/projects/big/", wlcProject, accept...)
	component := fields(t, project.text("components_list_url"), "url slug translations_url", accept...)
	translation := fields(t, component.text("translations_url"), "url units_list_url file_url", accept...)
	fields(t, translation.text("units_list_url"), wlcUnit, accept...)
}

// apiLinks are all URLs of API resources in a body.
func apiLinks(body any) []string {
	var links []string
	switch v := body.(type) {
	case string:
		if strings.HasPrefix(v, "http") && strings.Contains(v, "/api/") {
			links = append(links, v)
		}
	case []any:
		for _, e := range v {
			links = append(links, apiLinks(e)...)
		}
	case map[string]any:
		for _, e := range v {
			links = append(links, apiLinks(e)...)
		}
	}
	return links
}

// firstObject is the body, or the first element of its list.
func firstObject(body any) map[string]any {
	if object, ok := body.(map[string]any); ok {
		list, ok := object["results"].([]any)
		if !ok {
			return object
		}
		body = list
	}
	if list, ok := body.([]any); ok && len(list) > 0 {
		object, _ := list[0].(map[string]any)
		return object
	}
	return nil
}
