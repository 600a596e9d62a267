package resource_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// request is what a client sends, the status that it gets, and the fields that it reads of the
// answer, or of the first entry of a list; "field=JSON" has a value.
type request struct {
	token, method, path, kind, body string
	status                          int
	reads                           string
}

// measuredClients lists the requests of each client of the table that the test reads. The key is
// the beginning of the client's row there; in paths {unit} is a string, {files} one with plural
// forms, {user} an author. A client without requests has a test of its own.
func measuredClients(t *testing.T) map[string][]request {
	get := func(token, path, reads string) request { return request{token, "GET", path, "", "", 200, reads} }
	post := func(token, path, kind, body string, status int, reads string) request {
		return request{token, "POST", path, kind, body, status, reads}
	}
	patch := func(token, path, body string, status int, reads string) request {
		return request{token, "PATCH", path, asJSON, body, status, reads}
	}
	kind, upload := form(t, "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"Open\"\nmsgstr \"Otevřít\"\n", "method", "translate", "conflicts", "ignore", "fuzzy", "process")
	const component, translation, lock, operate = "/api/components/demo/app/", "/api/translations/demo/app/cs/", "/api/components/demo/app/lock/", "/api/components/demo/app/repository/"
	const refused = "detail errors type=\"client_error\""
	return map[string][]request{
		"A perceval-weblate": nil, "K wlc": nil, "M weblate-action": nil, "mmntm weblate-mcp": nil, "mishumey": nil, // TestClients
		"L searxng": nil, // wlc: TestWLCWrites
		"codegain":  nil, // mmntm's
		"B odoo-toolkit": {
			get("read", "/api/projects/demo/components/?page_size=1000", "slug repo branch url"),
			get("read", translation+"file/?q=state%3A%3Ctranslated&format=po", ""),
			get("read", "/api/projects/demo/languages/cs/file/", ""),
			post("write", translation+"file/?method=translate&conflicts=ignore&fuzzy=process&author=Eva&email=eva%40example.org", kind, upload, 200, "not_found=0 skipped accepted total=1"),
			post("read", translation+"file/?method=translate", kind, upload, 403, refused),
			{"read", "GET", "/api/translations/demo/app/de/file/?format=po", "", "", 404, refused},
			post("admin", translation+"autotranslate/", asJSON, `{"mode":"translate"}`, 403, refused),
			patch("admin", component, `{"merge_style":"rebase"}`, 403, refused),
			{"read", "GET", "/api/groups/", "", "", 200, "count"},
			{"read", "GET", "/api/roles/", "", "", 200, "count"},
		},
		"C Immich": {
			get("", lock, "locked=false"),
			post("write", lock, asForm, "lock=true", 403, refused),
			post("admin", lock, asForm, "lock=true", 200, "locked=true"),
			post("admin", operate, asForm, "operation=commit", 200, "result=true"),
			post("admin", operate, asForm, "operation=push", 200, "result=true"),
			patch("write", "{unit}", `{"target":["Otevřít"],"state":20}`, 403, refused),
			post("admin", lock, asForm, "lock=false", 200, "locked=false"),
		},
		"D weblate_export.py": {
			get("read", "/api/projects/demo/components/", "slug"),
			get("read", component+"translations/", "language"),
			get("read", translation+"file/?format=po&q=state%3A%3Ctranslated", ""),
		},
		"E mmdev": {
			get("write", "/api/components/", "name slug project"),
			get("write", component+"statistics/", "code name total translated"),
			get("write", "/api/languages/", "name code population"),
			patch("write", "{unit}", `{"state":20,"target":["Otevřít"]}`, 200, "target"),
		},
		"F r-devel dashboard": {
			get("read", "/api/languages/", "name code population"),
			get("read", "/api/languages/cs/statistics/", "total translated fuzzy last_change"),
			get("read", "/api/projects/demo/components/", "slug name"),
			get("read", "/api/projects/demo/changes/?timestamp_after=2020-01-01T00:00:00Z&timestamp_before=2100-01-01T00:00:00Z&page=1", "action user timestamp unit translation"),
			get("read", "/api/changes/?action=5", "count"),
			get("read", "/api/units/?q=project:demo%20AND%20state:empty&page=1", "language_code translation id web_url source"),
			get("read", "/api/users/?page=1", "full_name username"),
			get("read", "/api/users/{user}/statistics/", "translated=1 languages=1"),
		},
		"G weblate_exporter": {
			get("read", "/api/metrics/", "name units units_translated users changes projects components translations languages checks suggestions celery_queues"),
			{"", "GET", "/api/metrics/", "", "", 401, refused},
		},
		"H Thunderbird-Metrics": {
			get("", "/api/languages/?page_size=1000", "code name population"),
			get("", "/api/projects/demo/statistics/", "total translated approved readonly"),
			get("", "/api/projects/demo/languages/", "code name total readonly approved translated"),
			{"", "GET", "/api/projects/demo/credits/?start=2020-01-01T00%3A00%3A00&end=2100-01-01T00%3A00%3A00", "", "", 200, ""},
		},
		"I weblate-gpt4free": {
			get("write", "/api/projects/demo/components/", "url is_glossary"),
			get("write", component, "locked=false"),
			get("write", translation+"units/?q=state%3A%3E%3Dtranslated&page_size=1000", "source target"),
			get("write", translation+"units/?q=state%3A%3Ctranslated+AND+%28changed%3A%3Cyesterday+OR+state%3Aempty%29&page_size=50", "url source target"),
			patch("write", "{unit}?format=api", `{"state": 20, "target": ["Otevřít"]}`, 200, "state=20"),
			post("admin", lock, asForm, "lock=1", 200, ""),
			get("write", component, "locked=true"),
			post("admin", lock, asForm, "lock=0", 200, ""),
		},
		"J ioBroker weblate-tools": {
			get("write", "/api/projects/demo/", "url slug"),
			get("write", "/api/projects/demo/components/", "slug locked"),
			get("write", lock, "locked=false"),
			get("write", component+"translations/", "language"),
			get("write", translation+"units/", "id target state"),
			patch("write", "{files}", `{"state":10,"target":["%d soubor","%d soubory","%d souborů"]}`, 200, "state=10"),
			patch("write", "{files}", `{"state":20,"target":["%d soubor","%d soubory","%d souborů"]}`, 200, "state=20"),
			{"write", "GET", "/api/components/demo/nothing/", "", "", 404, refused},
			post("admin", "/api/projects/demo/components/", asJSON, `{"name":"x","slug":"x"}`, 403, refused),
			post("admin", component+"addons/", asJSON, `{"name":"weblate.cleanup.generic","configuration":{}}`, 403, refused),
			post("admin", operate, asJSON, `{"operation":"pull"}`, 200, "result=true"),
		},
		"soundscape": {
			get("read", "/api/units/?q=project%3Ademo%20AND%20component%3Aapp%20AND%20source%3A%3D%22Open%22", "id source target context state"),
			patch("write", "{unit}", `{"target":["Otevřít"],"state":30}`, 400, `state errors type="validation_error"`),
			get("read", "/api/units/?q=context%3A%3D%22%22%20AND%20language%3Acs&page_size=100", "id context"),
		},
	}
}

// TestMeasuredClients sends the requests of each row of the table; what a client changes, it leaves for
// the next one.
func TestMeasuredClients(t *testing.T) {
	programs := measuredClients(t)
	if data, err := os.ReadFile("../../../shared/findings/clients.md"); err == nil {
		_, text, _ := strings.Cut(string(data), "## 1. Clients")
		text, _, _ = strings.Cut(text, "\n## ")
		seen := map[string]bool{}
		for line := range strings.Lines(text) {
			row, ok := strings.CutPrefix(strings.ReplaceAll(line, "*", ""), "| ")
			if ok && !strings.HasPrefix(row, "client, commit") && !slices.ContainsFunc(slices.Sorted(maps.Keys(programs)), func(name string) bool {
				found := strings.HasPrefix(row, name)
				seen[name] = seen[name] || found
				return found
			}) {
				t.Errorf("no requests of %.60s", row)
			}
		}
		if len(seen) != len(programs) {
			t.Errorf("rows of %v", seen)
		}
	} else if os.Getenv("CI") == "true" {
		t.Error(err)
	}
	e := newEditor(t)
	if status, body, _ := e.send("write", "PATCH", e.units["app cs Open"], asJSON, `{"target":["Otevřít"],"state":20}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		for _, r := range programs[name] {
			path := strings.NewReplacer("{unit}", e.units["app cs Open"], "{files}", e.units["app cs %d file"], "{user}", "jana-novakova").Replace(r.path)
			status, body, header := e.send(r.token, r.method, path, r.kind, r.body, "Accept", asJSON)
			if status != r.status {
				t.Errorf("%s: %s %s: %d, want %d: %.300s", name, r.method, path, status, r.status, body)
				continue
			}
			if r.reads == "" {
				if body == "" || header.Get("Content-Type") == "" {
					t.Errorf("%s: %s is empty", name, path)
				}
				continue
			}
			fields := firstOf(t, body)
			for want := range strings.FieldsSeq(r.reads) {
				field, value, _ := strings.Cut(want, "=")
				if got, ok := fields[field]; !ok || value != "" && string(got) != value {
					t.Errorf("%s: %s %s has no %s: %.500s", name, r.method, path, want, body)
				}
			}
		}
	}
}

// firstOf is an object, or the first of a list of them, together with what the list says itself.
func firstOf(t *testing.T, body string) (object map[string]json.RawMessage) {
	t.Helper()
	var list []map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &object) != nil {
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			t.Errorf("%v: %.300s", err, body)
		}
	} else if results := object["results"]; results != nil {
		if err := json.Unmarshal(results, &list); err != nil {
			t.Errorf("%v: %.300s", err, body)
		}
	}
	if len(list) > 0 {
		if object == nil {
			return list[0]
		}
		maps.Copy(object, list[0])
	}
	return object
}
