package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
)

// clientMCP reads page 1 only, with page_size of up to 1000.
func clientMCP(t *testing.T, s *sites) {
	header := []string{"Authorization", "Token k", "Accept", "*/*"}
	const named, unit, change = "name slug web_url", "id context source target state", "user action timestamp target"
	for target, names := range map[string]string{
		"/api/projects/?format=json&page_size=1000":                                         named,
		"/api/projects/big/?format=json":                                                    named,
		"/api/projects/big/components/?format=json&page_size=1000":                          named,
		"/api/projects/big/languages/?format=json":                                          "code name translated total",
		"/api/projects/big/changes/?format=json&page_size=5":                                change,
		"/api/components/big/big/changes/?format=json&page_size=5":                          change,
		"/api/changes/?format=json&page_size=5":                                             change,
		"/api/units/?page_size=5":                                                           unit,
		"/api/units/?q=project:big+AND+language:cs+AND+source:%22Message+1%22&page_size=50": unit,
		"/api/projects/big/statistics/?format=json":                                         "total translated translated_percent",
		"/api/components/big/big/statistics/?format=json":                                   "total translated translated_percent",
		"/api/translations/big/big/cs/statistics/?format=json":                              "total translated translated_percent",
		"/api/users/jane/statistics/?format=json":                                           "translated suggested uploaded commented languages",
	} {
		fields(t, s.big+target, names, header...)
	}
	if list := want(t, s.big+"/api/translations/big/big/cs/units/?page_size=1000", header...).results(); len(list) != 45 {
		t.Errorf("%d strings in a page of 1000", len(list))
	}
	stamp := url.QueryEscape(catalogtest.Now().Add(10 * time.Hour).Format(time.RFC3339Nano))
	for target, n := range map[string]int{
		"/api/projects/demo/changes/?format=json&page_size=1000&user=karel&action=63&action=59":  1,
		"/api/components/demo/app/changes/?format=json&page_size=5&timestamp_after=" + stamp:     4,
		"/api/changes/?page_size=5&timestamp_before=" + stamp:                                    5,
		"/api/changes/?page_size=5&timestamp_after=" + stamp + "&timestamp_before=" + stamp:      0,
		"/api/projects/demo/languages/?page_size=1000":                                           4, // a bare list
		"/api/units/?q=" + url.QueryEscape(`state:<translated AND language:cs`) + "&page_size=5": 3,
	} {
		if a := want(t, s.demo+target, header...); len(a.results()) != n {
			t.Errorf("%s: %d entries, want %d", target, len(a.results()), n)
		}
	}
}

// clientMishumey reads more, loops over pages by their numbers until there is no
// next, and opens pages of the web.
func clientMishumey(t *testing.T, s *sites) {
	token := []string{"Authorization", "Token k"}
	entries, change := 0, (*reply)(nil)
	for page := 1; page <= 100; page++ {
		a := want(t, fmt.Sprintf("%s/api/translations/demo/app/cs/changes/?page=%d&page_size=10", s.demo, page), token...)
		entries += len(a.results())
		if change == nil {
			change = a
		}
		if a.next() == "" {
			break
		}
	}
	if entries != 47 {
		t.Errorf("%d entries in all pages", entries)
	}
	unit := change.text("unit")
	if !unitAddress(unit) {
		t.Errorf("the string of an entry is %q", unit)
	}
	fields(t, unit, "id source target state", token...)
	fields(t, strings.Replace(unit, "?", "comments/?", 1), "", token...)
	fields(t, fmt.Sprintf("%s/api/changes/%v/", s.demo, firstObject(change.body)["id"]), "id unit timestamp action", token...)
	for _, of := range []string{"projects/demo", "components/demo/app", "translations/demo/app/cs"} {
		fields(t, s.demo+"/api/"+of+"/repository/", wlcRepository, token...)
	}
	if a := want(t, s.demo+"/api/components/demo/app/screenshots/", token...); firstOf(a, "count") != float64(0) || a.results() == nil {
		t.Errorf("screenshots: %s", a.raw)
	}
	for _, of := range []string{"projects/demo", "components/demo/app", "translations/demo/app/cs", "languages/cs"} {
		page := want(t, s.demo+"/api/"+of+"/", token...).text("web_url")
		if a := overWire(t, http.MethodGet, page, "", "Accept", "text/html"); a.status != http.StatusOK || a.header.Get("Content-Type") != rest.TypeHTML {
			t.Errorf("%s: %d", page, a.status)
		}
	}
}

func unitAddress(link string) bool {
	_, id, found := strings.Cut(link, "/units/")
	id, _, _ = strings.Cut(id, "/")
	return found && id != "" && strings.Trim(id, "0123456789") == ""
}

// clientSpring asks for what is new since a time, and follows next as a URI.
func clientSpring(t *testing.T, s *sites) {
	header := []string{"Authorization", "Token k", "Accept", "application/json"}
	fields(t, s.big+"/api/projects/big/languages/", "code translated", header...)
	since := func(at time.Time) string {
		stamp := at.Format("2006-01-02T15:04:05Z")
		return s.big + "/api/translations/big/big/cs/units/?q=" + url.QueryEscape("state:>=translated AND (added:>="+stamp+" OR changed:>="+stamp+")")
	}
	old, pages := all(t, since(catalogtest.Now().Add(-24*time.Hour)), header...)
	if len(old) != 45 || pages != 3 {
		t.Errorf("%d strings on %d pages, want all 45 on 3", len(old), pages)
	}
	for _, u := range old {
		if _, ok := u["context"].(string); !ok {
			t.Errorf("context %v", u["context"])
		}
		if target, ok := u["target"].([]any); !ok || len(target) == 0 || target[0] == "" {
			t.Errorf("target %v", u["target"])
		}
	}
	if fresh, _ := all(t, since(catalogtest.Now().AddDate(1, 0, 0)), header...); len(fresh) != 0 {
		t.Errorf("%d strings are newer than all", len(fresh))
	}
}

// clientM2MTech follows what it finds, takes 200 alone for success, and never
// asks for a second page.
func clientM2MTech(t *testing.T, s *sites) {
	token := []string{"Authorization", "Token k"}
	component := fields(t, s.big+"/api/projects/big/components/", "slug url repository_url translations_url", token...)
	want(t, component.text("repository_url"), token...)
	for _, e := range want(t, component.text("translations_url"), token...).results() {
		translation := e.(map[string]any)
		for _, key := range []string{"language_code", "filename", "file_url", "units_list_url"} {
			if value, _ := translation[key].(string); value == "" {
				t.Errorf("%s is %v", key, translation[key])
			}
		}
		if file := want(t, translation["file_url"].(string), token...); !strings.Contains(string(file.raw), translation["filename"].(string)) { // the files of bigWorld hold their names
			t.Errorf("%v: %q", translation["file_url"], file.raw)
		}
		fields(t, translation["units_list_url"].(string), "context url", token...)
	}
}

// clientWeblateMobile counts pages and sends an empty q.
func clientWeblateMobile(t *testing.T, s *sites) {
	token := []string{"Authorization", "Token k"}
	fields(t, s.demo+"/api/projects/?page=1", "id name slug", token...)
	fields(t, s.demo+"/api/components/?page=1", "id name slug", token...)
	fields(t, s.demo+"/api/projects/demo/components/?page=1", "id name slug", token...)
	fields(t, s.demo+"/api/projects/demo/statistics/?page=1", "translated total translated_percent", token...)
	fields(t, s.demo+"/api/components/demo/app/statistics/?page=1", "code translated total", token...)
	fields(t, s.demo+"/api/components/demo/app/translations/?page=1", "id language_code", token...)
	for q, n := range map[string]int{"": 44, "state:empty": 2, "state:<translated AND NOT has:suggestion": 3, "has:check": 0, "state:translated": 40} {
		found := 0
		for page, more := 1, true; more; page++ {
			a := fields(t, fmt.Sprintf("%s/api/translations/demo/app/cs/units/?page=%d&q=%s", s.demo, page, url.QueryEscape(q)), "", token...)
			found += len(a.results())
			more = a.next() != ""
			for _, e := range a.results() {
				for _, key := range []string{"id", "source", "target", "context", "note", "explanation", "state", "translated"} {
					if _, ok := e.(map[string]any)[key]; !ok {
						t.Errorf("q=%s: %s is missing", q, key)
					}
				}
			}
		}
		if found != n {
			t.Errorf("q=%s finds %d strings, want %d", q, found, n)
		}
	}
}

// clientWeblateAction takes the number of a page from the text after the first
// "=" of next, so next must be null for up to 1000 entries. It takes 404 for
// "not there".
func clientWeblateAction(t *testing.T, s *sites) {
	token := []string{"Authorization", "Token k"}
	component := fields(t, s.big+"/api/components/big/big/", "slug url", token...)
	fields(t, s.big+"/api/components/big/big/repository/", wlcRepository, token...)
	fields(t, s.big+"/api/components/big/big/statistics/?page=1&page_size=1000", "code translated total", token...)
	for _, list := range []string{"components", "categories"} {
		if a := fields(t, s.big+"/api/projects/big/"+list+"/?page=1&page_size=1000", "", token...); a.next() != "" {
			t.Errorf("%s has a second page: %s", list, a.next())
		}
	}
	if u, err := url.Parse(component.text("url")); err != nil || !strings.HasSuffix(u.Path, "/big/") {
		t.Errorf("the last segment of %s is not the slug", component.text("url"))
	}
	if a := overWire(t, http.MethodGet, s.big+"/api/components/big/nope/", "", token...); a.status != http.StatusNotFound {
		t.Errorf("a component that is not there: %d", a.status)
	}
	task := want(t, s.demo+"/api/components/demo/docs/", token...).text("task_url") // not imported yet
	fields(t, task, "completed progress result log", token...)
	if a := overWire(t, http.MethodGet, s.demo+"/api/tasks/00000000-0000-0000-0000-000000000000/", "", token...); a.status != http.StatusNotFound {
		t.Errorf("a task that is not there: %d", a.status)
	}
}

// clientThunderbird counts pages while next is not null.
func clientThunderbird(t *testing.T, _ *sites) {
	w := newWriter(t)
	var specs []store.ComponentSpec
	for i := range 45 {
		specs = append(specs, store.ComponentSpec{Project: "p", Slug: fmt.Sprint("c", i), Settings: componentDefaults(""), Repo: repoBig, Branch: fmt.Sprint("b", i)})
	}
	w.Configure([]catalog.Project{{Slug: "p", Settings: projectDefaults("P")}}, specs)
	base := listen(t, serve(w, Options{}))
	found := map[string]bool{}
	for page, more := 1, true; more; page++ {
		a := want(t, fmt.Sprintf("%s/api/projects/p/components/?page=%d", base, page), "Authorization", "Token k")
		for _, e := range a.results() {
			found[e.(map[string]any)["slug"].(string)] = true
		}
		more = a.next() != ""
	}
	if len(found) != 45 {
		t.Errorf("%d components", len(found))
	}
}

// clientScripts are planify's metrics, 3D Slicer and F-Droid.
func clientScripts(t *testing.T, s *sites) {
	fields(t, s.big+"/api/components/big/big/translations/?format=json&page_size=1000", "language_code translated_percent")
	fields(t, s.big+"/api/components/big/big/statistics/?format=json&page=1", "code name total translated fuzzy translated_percent")
	entries, pages := all(t, s.big+"/api/translations/big/big/cs/units/?format=json")
	if len(entries) != 45 || pages != 3 {
		t.Errorf("%d strings on %d pages", len(entries), pages)
	}
	if next := want(t, s.big+"/api/translations/big/big/cs/units/?format=json").next(); !strings.Contains(next, "format=json") {
		t.Errorf("next %s is of another format", next)
	}
}

// clientCompcon is a page of another origin that reads statistics.
func clientCompcon(t *testing.T, s *sites) {
	a := fields(t, s.big+"/api/components/big/big/statistics/", "translated_percent", "Origin", "https://compcon.app")
	if a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("headers %v", a.header)
	}
	pre := overWire(t, http.MethodOptions, s.big+"/api/components/big/big/statistics/", "", "Origin", "https://compcon.app", "Access-Control-Request-Method", "GET")
	if pre.status >= 300 || pre.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("preflight: %d %v", pre.status, pre.header)
	}
}

// clientPachli sends Bearer; lock_url may be null or missing.
func clientPachli(t *testing.T, s *sites) {
	a := fields(t, s.big+"/api/projects/big/", "name slug", "Authorization", "Bearer k")
	if lock, has := firstObject(a.body)["lock_url"]; has && lock != nil {
		want(t, lock.(string), "Authorization", "Bearer k")
	}
}

// clientFriendlyBridge keys strings by their ids, puts its own host into next,
// and keeps below the rate that the headers tell.
func clientFriendlyBridge(t *testing.T, s *sites) {
	q := "?q=" + url.QueryEscape("changed:>="+catalogtest.Now().Format("2006-01-02")) + "&page=1"
	ids := map[any]bool{}
	for target := s.big + "/api/translations/big/big/cs/units/" + q; target != ""; {
		a := want(t, target, "Authorization", "Token k")
		for _, e := range a.results() {
			ids[e.(map[string]any)["id"]] = true
		}
		if target = a.next(); target != "" {
			u, err := url.Parse(target)
			if err != nil || u.Query().Get("q") == "" {
				t.Fatalf("next %s lost q", target)
			}
			target = s.big + u.RequestURI()
		}
	}
	if len(ids) != 45 {
		t.Errorf("%d ids", len(ids))
	}
	limited := listen(t, serve(s.db, Options{Settings: Settings{AnonymousRate: limit.Rate{Count: 2, Per: time.Hour}}}))
	for i, remaining := range []string{"1", "0", "0"} {
		a := overWire(t, http.MethodGet, limited+"/api/translations/demo/app/cs/units/"+q, "")
		h, status := a.header, http.StatusOK
		if i == 2 {
			status = http.StatusTooManyRequests
		}
		if a.status != status || h.Get("X-RateLimit-Limit") != "2" || h.Get("X-RateLimit-Remaining") != remaining || h.Get("X-RateLimit-Reset") == "" || (i == 2) != (h.Get("Retry-After") != "") {
			t.Errorf("request %d: %d %v", i+1, a.status, h)
		}
	}
}

// clientRubyGem is generated from a description: every field has to be of its
// type, and null only where it may be.
func clientRubyGem(t *testing.T, s *sites) {
	for target, types := range map[string]string{
		"/api/projects/":                              "name:string slug:string web:string url:string components_list_url:string translation_review:bool instructions:string",
		"/api/components/":                            "name:string slug:string id:number source_language:object project:object vcs:string repo:string git_export:string branch:string filemask:string priority:number enforced_checks:array restricted:bool license_url:string? task_url:string? push_on_commit:bool commit_pending_age:number addons:array",
		"/api/translations/":                          "language:object component:object translated:number translated_percent:number language_code:string is_template:bool last_change:string? last_author:string? have_suggestion:number",
		"/api/translations/demo/app/cs/units/":        "source:array target:array id_hash:number location:string state:number fuzzy:bool translated:bool approved:bool position:number has_comment:bool num_words:number priority:number id:number source_unit:string pending:bool timestamp:string",
		"/api/changes/?action=31&action=59&action=63": "unit:string? component:string? translation:string? user:string? author:string? timestamp:string action:number target:string id:number action_name:string url:string",
		"/api/languages/":                             "code:string name:string plural:object aliases:array direction:string",
		"/api/users/karel/":                           "username:string full_name:string",
		"/api/components/demo/app/repository/":        "needs_commit:bool needs_merge:bool needs_push:bool url:string status:string merge_failure:string? remote_commit:object? weblate_commit:object?",
		"/api/components/demo/app/lock/":              "locked:bool",
		"/api/projects/demo/statistics/":              "total:number translated_percent:number last_change:string? recent_changes:number name:string",
	} {
		a := want(t, s.demo+target, "Authorization", "Token k", "Accept", "application/json")
		entries := a.results()
		if entries == nil {
			entries = []any{a.body}
		}
		for _, e := range entries {
			for field := range strings.FieldsSeq(types) {
				name, kind, _ := strings.Cut(field, ":")
				if value, ok := e.(map[string]any)[name]; !ok || !isKind(value, kind) {
					t.Errorf("%s: %s is %v, not %s", target, name, value, kind)
				}
			}
		}
	}
	if a := overWire(t, http.MethodGet, s.demo+"/api/changes/?action=31&action=x", ""); a.status != http.StatusBadRequest {
		t.Errorf("an action that is no number: %d", a.status)
	}
}

// isKind tells the type of a decoded value; a "?" allows null.
func isKind(value any, kind string) bool {
	kind, optional := strings.CutSuffix(kind, "?")
	switch value.(type) {
	case nil:
		return optional
	case string:
		return kind == "string"
	case float64:
		return kind == "number"
	case bool:
		return kind == "bool"
	case []any:
		return kind == "array"
	}
	return kind == "object"
}
