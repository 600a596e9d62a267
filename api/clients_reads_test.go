package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// clientRow is a request that a client of clients.md sends, and the fields that
// it cannot live without: of the object, or of the first one of a list.
type clientRow struct {
	client, target string
	header         []string
	fields         string
}

// clientRows are the rows of clients.md about what this package serves, without
// those about change lists, files and searching for units.
func clientRows() []clientRow {
	const (
		changeFields = "url unit translation component timestamp action_name target"
		statsFields  = "failing_percent translated_percent total_words failing translated_words fuzzy_percent recent_changes translated fuzzy total last_change name url"
		repoFields   = "url needs_commit needs_merge needs_push"
		unitFields   = "translation source previous_source target id_hash content_hash location context note flags state fuzzy translated approved position has_suggestion has_comment has_failing_check num_words source_unit priority id web_url url explanation extra_flags"
		projFields   = "url web_url name slug web components_list_url repository_url statistics_url changes_list_url languages_url"
		compFields   = "url web_url name slug project vcs repo git_export branch filemask template new_base file_format license license_url agreement priority repository_url translations_url statistics_url lock_url changes_list_url"
		transFields  = "url web_url language component translated fuzzy total translated_words fuzzy_words failing_checks_words total_words failing_checks have_suggestion have_comment language_code filename revision share_url translate_url is_template translated_percent fuzzy_percent failing_checks_percent last_change last_author file_url statistics_url units_list_url repository_url"
	)
	token := []string{"Authorization", "Token k", "Accept", "application/json"}
	anything := []string{"Authorization", "Token k", "Accept", "*/*"}
	return []clientRow{
		{"wlc", "/api/projects/", token, projFields},
		{"wlc", "/api/projects/big/", token, projFields},
		{"wlc", "/api/components/", token, compFields},
		{"wlc", "/api/components/big/big/", token, compFields},
		{"wlc", "/api/translations/", token, transFields},
		{"wlc", "/api/translations/big/big/cs/", token, transFields},
		{"wlc", "/api/languages/", token, "url web_url code name direction"},
		{"wlc", "/api/units/268435457/", token, unitFields},
		{"wlc 2", "/api/translations/big/big/cs/units/", token, unitFields},
		{"wlc 2", "/api/translations/big/big/cs/changes/", token, changeFields + " id user author action"},
		{"wlc", "/api/projects/big/statistics/?format=api", token, statsFields},
		{"wlc", "/api/components/big/big/statistics/?format=api", token, statsFields + " code last_author"},
		{"wlc", "/api/translations/big/big/cs/statistics/?format=api", token, statsFields + " code last_author"},
		{"wlc", "/api/projects/big/repository/?format=api", token, repoFields},
		{"wlc", "/api/components/big/big/repository/?format=api", token, repoFields + " status merge_failure remote_commit"},
		{"wlc", "/api/translations/big/big/cs/repository/?format=api", token, repoFields + " status merge_failure remote_commit"},
		{"wlc", "/api/components/big/big/lock/?format=api", token, "locked"},
		{"perceval", "/api/users/jane/", token, "username full_name"},
		{"weblate-mcp", "/api/projects/?format=json&page_size=1000", anything, "name slug web_url"},
		{"weblate-mcp", "/api/projects/big/?format=json", anything, "name slug web_url"},
		{"weblate-mcp", "/api/projects/big/components/?format=json&page_size=1000", anything, "name slug web_url"},
		{"weblate-mcp", "/api/projects/big/languages/?format=json", anything, "code name translated total"},
		{"weblate-mcp", "/api/units/?page_size=5", anything, "id context source target state"},
		{"weblate-mcp", "/api/projects/big/statistics/?format=json", anything, "total translated translated_percent"},
		{"weblate-mcp", "/api/components/big/big/statistics/?format=json", anything, "total translated translated_percent"},
		{"weblate-mcp", "/api/translations/big/big/cs/statistics/?format=json", anything, "total translated translated_percent"},
		{"weblate-mcp", "/api/users/jane/statistics/?format=json", anything, "translated suggested uploaded commented languages"},
		{"mishumey", "/api/changes/2/", token, "id unit timestamp action"},
		{"mishumey", "/api/translations/big/big/cs/changes/?page=1&page_size=1000", token, "id unit"},
		{"weblate-spring", "/api/projects/big/languages/", token, "code translated"},
		{"m2mtech", "/api/projects/big/components/", token, "slug url repository_url translations_url"},
		{"m2mtech", "/api/components/big/big/translations/", token, "language_code filename file_url units_list_url"},
		{"WeblateMobile", "/api/projects/?page=1", token, "id name slug"},
		{"WeblateMobile", "/api/components/big/big/statistics/?page=1", token, "code translated total"},
		{"WeblateMobile", "/api/translations/big/big/cs/units/?page=1", token, "id source target context note explanation state translated"},
		{"weblate-action", "/api/components/big/big/repository/", token, repoFields},
		{"weblate-action", "/api/projects/big/components/?page=1&page_size=1000", token, "slug url"},
		{"thunderbird", "/api/projects/big/components/?page=1", token, "slug name"},
		{"planify", "/api/components/big/big/translations/?format=json&page_size=1000", nil, "language_code translated_percent"},
		{"3D Slicer", "/api/components/big/big/statistics/?format=json&page=1", nil, "code name total translated fuzzy translated_percent"},
		{"syncthing", "/api/components/big/big/statistics/", token, "code name total translated"},
		{"pachli", "/api/projects/big/", []string{"Authorization", "Bearer k"}, "slug name"},
		{"openstack-kr", "/api/projects/big/", []string{"Accept", "application/json, text/javascript"}, projFields},
	}
}

// TestClients sends each row over a real connection.
func TestClients(t *testing.T) {
	t.Parallel()
	w := openWorld(t)
	w.bigWorld(3)
	ts := httptest.NewServer(w.serve(Options{}))
	t.Cleanup(ts.Close)
	for _, row := range clientRows() {
		t.Run(row.client+row.target, func(t *testing.T) {
			status, body := fetchJSON(t, ts.URL+row.target, row.header...)
			if status != http.StatusOK {
				t.Fatalf("%d", status)
			}
			object := firstObject(body)
			for field := range strings.FieldsSeq(row.fields) {
				if _, ok := object[field]; !ok {
					t.Errorf("%s is missing", field)
				}
			}
		})
	}
}

// TestSameOrigin: wlc 2 gives up if a URL of an API resource has another scheme,
// host or port than the one that it was told; m2mtech follows what it finds and
// wants exactly 200.
func TestSameOrigin(t *testing.T) {
	t.Parallel()
	w := openWorld(t)
	w.bigWorld(3)
	ts := httptest.NewServer(w.serve(Options{}))
	t.Cleanup(ts.Close)
	seen := map[string]bool{}
	var follow func(target string)
	follow = func(target string) {
		if seen[target] || len(seen) > 300 {
			return
		}
		seen[target] = true
		if strings.Contains(target, "/file/") {
			return // a later part
		}
		status, body := fetchJSON(t, target)
		if status != http.StatusOK {
			t.Errorf("%s: %d", target, status)
		}
		for _, link := range apiLinks(body) {
			if !strings.HasPrefix(link, ts.URL+"/api/") {
				t.Errorf("%s: %s is of another origin", target, link)
				continue
			}
			follow(link)
		}
	}
	follow(ts.URL + "/api/")
	if len(seen) < 50 {
		t.Errorf("only %d resources found by their links", len(seen))
	}
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

// TestBrowser is compcon: a page of another origin reads statistics.
func TestBrowser(t *testing.T) {
	t.Parallel()
	w := openWorld(t)
	w.bigWorld(3)
	s := w.serve(Options{CORSOrigins: []string{"*"}})
	rec := call(t, s, http.MethodGet, "/api/components/big/big/statistics/", "Origin", "https://compcon.app")
	if rec.Code != http.StatusOK || rec.Header().Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(rec.Body.String(), `"translated_percent":100.0`) {
		t.Errorf("%d %v %.100s", rec.Code, rec.Header(), rec.Body)
	}
}

func fetchJSON(t *testing.T, target string, header ...string) (int, any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req) // no client of the table follows a redirect
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var body any
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return res.StatusCode, body
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
