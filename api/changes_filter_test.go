package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
)

var changeLists = []string{
	"/api/translations/demo/app/cs/changes/", "/api/components/demo/app/changes/", "/api/projects/demo/changes/", "/api/changes/",
}

// TestKnownActions: only the actions of the table can be filtered by.
func TestKnownActions(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for n := -1; n <= 106; n++ {
		known := 0 <= n && n <= 104 && n != 10 && n != 11 && n != 12
		rec := call(t, s, http.MethodGet, fmt.Sprintf("/api/changes/?action=%d", n))
		bad := fmt.Sprintf(`{"action":["Select a valid choice. %d is not one of the available choices."]}`, n)
		if known && rec.Code != 200 || !known && (rec.Code != 400 || oldForm(rec.Body.String()) != bad) {
			t.Errorf("action %d: %d %s", n, rec.Code, rec.Body)
		}
		if l := decode[envelope](t, rec.Body.String()); known && catalog.Action(n).Name() == "" && (l.Count != 0 || len(l.Results) != 0) {
			t.Errorf("action %d has %d entries", n, l.Count)
		}
	}
}

// TestFilterErrors: all errors are reported at once, before the page is looked at
// and after the object was found.
func TestFilterErrors(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	const when = `"timestamp":["Enter a valid date/time."]`
	action := func(s string) string {
		return `"action":["Select a valid choice. ` + s + ` is not one of the available choices."]`
	}
	for query, want := range map[string]string{
		"?action=999":                         action("999"),
		"?action=31&action=x&action=y":        action("x"),
		"?action=":                            action(""),
		"?action=031":                         action("031"),
		"?action=%2B31":                       action("+31"),
		"?action=31.0":                        action("31.0"),
		"?action=31,59":                       action("31,59"),
		"?action=70000":                       action("70000"),
		"?timestamp_after=2021-01-01":         when,
		"?timestamp_before=x":                 when,
		"?timestamp_after=x&timestamp_before": when,
		"?timestamp_after=x&timestamp_before=x&action=a&after_id=b&ordering=c&page=99": action("a") +
			`,"after_id":["A valid integer is required."],"ordering":["Select a valid choice: id or -id."],` + when,
	} {
		for _, path := range changeLists {
			rec := call(t, s, http.MethodGet, path+query)
			if rec.Code != 400 || oldForm(rec.Body.String()) != "{"+want+"}" {
				t.Errorf("%s%s: %d %s", path, query, rec.Code, rec.Body)
			}
			wantAnswer(t, s, 400, "{"+want+"}", path+"stream/"+query)
		}
	}
	for target, want := range map[string]int{
		"/api/components/demo/nope/changes/?action=x":      404,
		"/api/translations/demo/docs/cs/changes/?action=x": 503,
		"/api/changes/?action=31&page=99":                  404,
		"/api/changes/?user=nobody&page=2":                 404,
	} {
		wantStatus(t, s, want, target)
	}
	for _, empty := range []string{"user=", "timestamp_after=", "timestamp_before=&timestamp_after=", "user=karel&user="} {
		if l := getList(t, s, "/api/translations/demo/app/cs/changes/?"+empty); l.Count != 47 {
			t.Errorf("%s filters: count %d", empty, l.Count)
		}
	}
	if got := get(t, s, "/api/changes/?user=nobody"); got != `{"count":0,"next":null,"previous":null,"results":[]}` {
		t.Errorf("unknown user: %s", got)
	}
}

// naive filters entries of a list, as JSON, by the meaning of each parameter.
func naive(all []map[string]any, q url.Values) []int {
	var ids []int
	for _, e := range all {
		id, action := int(e["id"].(float64)), fmt.Sprint(e["action"])
		user, _ := e["user"].(string)
		unit, _ := e["unit"].(string)
		author, _ := e["details"].(map[string]any)["author_name"].(string)
		at, _ := time.Parse(time.RFC3339, e["timestamp"].(string))
		in := func(name string, ok func(bound time.Time) bool) bool {
			if !q.Has(name) {
				return true
			}
			bound, err := time.Parse(time.RFC3339, q.Get(name))
			return err == nil && ok(bound)
		}
		after := 0
		_, _ = fmt.Sscan(q.Get("after_id"), &after)
		if id > after && (!q.Has("action") || slices.Contains(q["action"], action)) &&
			(!q.Has("unit") || strings.Contains(unit, "/api/units/"+q.Get("unit")+"/")) &&
			(q.Get("author") != "" && author != "" && catalog.Username(author) == q.Get("author") || q.Get("author") == "" && (q.Get("user") == "" || strings.Contains(user, "/api/users/"+q.Get("user")+"/"))) &&
			in("timestamp_after", func(b time.Time) bool { return !at.Before(b) }) &&
			in("timestamp_before", func(b time.Time) bool { return !at.After(b) }) {
			ids = append(ids, id)
		}
	}
	if q.Get("ordering") == "-id" {
		slices.Reverse(ids)
	}
	return ids
}

// TestFilterProperty compares every list with any filters, order, page and page
// size with the whole list filtered by hand, links included.
func TestFilterProperty(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	w.Import("demo/docs", repoDocs, "Karel", sourceFile(numberedUnits(9)))
	s := serve(w, Options{})
	whole := map[string][]map[string]any{}
	for _, path := range changeLists {
		whole[path] = getList(t, s, path+"?page_size=1000").Results
	}
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SampledFrom(changeLists).Draw(t, "list")
		q := drawChangeFilter(t, whole[path])
		want := naive(whole[path], q)
		size := rapid.IntRange(1, 40).Draw(t, "page size")
		pages := max(1, (len(want)+size-1)/size)
		page := rapid.IntRange(1, pages).Draw(t, "page")
		q.Set("page_size", fmt.Sprint(size))
		q.Set("page", fmt.Sprint(page))
		_, rec := send(s, http.MethodGet, path+"?"+q.Encode())
		var l envelope
		if err := json.Unmarshal(rec.Body.Bytes(), &l); err != nil || rec.Code != 200 {
			t.Fatalf("%s?%s: %d %s", path, q.Encode(), rec.Code, rec.Body)
		}
		part := want[min((page-1)*size, len(want)):min(page*size, len(want))]
		if int(l.Count) != len(want) || !slices.Equal(idsOf(l), part) {
			t.Fatalf("%s?%s: count %d, %v; want %d, %v", path, q.Encode(), l.Count, idsOf(l), len(want), part)
		}
		checkLink(t, path, q, "next", l.Next, page+1, page < pages)
		checkLink(t, path, q, "previous", l.Previous, page-1, page > 1)
	})
}

func checkLink(t *rapid.T, path string, q url.Values, name string, link *string, page int, there bool) {
	if !there {
		if link != nil {
			t.Fatalf("%s of %s?%s: %s", name, path, q.Encode(), *link)
		}
		return
	}
	want := url.Values{"format": {"api"}}
	for key, values := range q {
		want[key] = values
	}
	want.Set("page", fmt.Sprint(page))
	if page == 1 {
		want.Del("page")
	}
	if full := "http://l10n.example.org" + path + "?" + want.Encode(); text(link) != full {
		t.Fatalf("%s is %s\nwant %s", name, text(link), full)
	}
}

func drawChangeFilter(t *rapid.T, all []map[string]any) url.Values {
	q := url.Values{}
	if rapid.Bool().Draw(t, "by action") {
		q["action"] = rapid.SliceOfN(rapid.SampledFrom([]string{"31", "59", "63", "51", "24", "25", "48", "2", "104"}), 1, 3).Draw(t, "actions")
	}
	if rapid.Bool().Draw(t, "by user") {
		q.Set("user", rapid.SampledFrom([]string{"karel", "jane-doe", "nobody", "KAREL", ""}).Draw(t, "user"))
	}
	if rapid.Bool().Draw(t, "by author") {
		q.Set("author", rapid.SampledFrom([]string{"karel", "jane-doe", "nobody", ""}).Draw(t, "author"))
	}
	if rapid.Bool().Draw(t, "by unit") {
		unit, _ := all[rapid.IntRange(0, len(all)-1).Draw(t, "unit of entry")]["unit"].(string)
		if id := regexp.MustCompile(`/api/units/(\d+)/`).FindStringSubmatch(unit); id != nil {
			q.Set("unit", id[1])
		}
	}
	for _, name := range []string{"timestamp_after", "timestamp_before"} {
		if rapid.Bool().Draw(t, name) {
			stamp := all[rapid.IntRange(0, len(all)-1).Draw(t, "like entry")]["timestamp"].(string)
			at, err := time.Parse(time.RFC3339, stamp)
			if err != nil {
				t.Fatal(err)
			}
			at = at.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "off by")) * time.Microsecond)
			zone := time.FixedZone("", rapid.SampledFrom([]int{0, 2 * 3600, -30 * 60}).Draw(t, "zone"))
			q.Set(name, at.In(zone).Format("2006-01-02T15:04:05.000000-07:00"))
		}
	}
	if rapid.Bool().Draw(t, "after") {
		q.Set("after_id", fmt.Sprint(rapid.IntRange(0, 130).Draw(t, "after_id")))
	}
	if rapid.Bool().Draw(t, "ordered") {
		q.Set("ordering", rapid.SampledFrom([]string{"id", "-id"}).Draw(t, "ordering"))
	}
	return q
}

// TestUnitChanges: the history of a string is the entries of its id in the list of its
// translation.
func TestUnitChanges(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	units := getList(t, s, "/api/translations/demo/app/cs/units/?page_size=1000").Results
	entries := 0
	for _, u := range units {
		id := fmt.Sprintf("%.0f", u["id"])
		got := getList(t, s, "/api/units/"+id+"/changes/?page_size=1000")
		want := getList(t, s, "/api/translations/demo/app/cs/changes/?page_size=1000&unit="+id)
		if !slices.Equal(idsOf(got), idsOf(want)) || int(got.Count) != len(got.Results) {
			t.Errorf("unit %s: %v, want %v", id, idsOf(got), idsOf(want))
		}
		entries += len(got.Results)
	}
	if entries < len(units) {
		t.Errorf("%d strings have %d entries", len(units), entries)
	}
	wantAnswer(t, s, 404, `{"detail":"Not found."}`, "/api/units/1/changes/")
	wantAnswer(t, s, 400, `{"unit":["A valid integer is required."]}`, "/api/changes/?unit=x")
}

// TestContributions: the translations of an author are those whose lists of changes
// name the author.
func TestContributions(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for _, user := range []string{"karel", "jane-doe"} {
		listed := map[string]bool{}
		for _, o := range getList(t, s, "/api/users/"+user+"/contributions/").Results {
			listed[o["url"].(string)] = true
		}
		for _, o := range getList(t, s, "/api/translations/?page_size=1000").Results {
			list := o["url"].(string)
			path := regexp.MustCompile(`/api/[^?]*`).FindString(list) + "changes/?page_size=1000"
			_, rec := send(s, http.MethodGet, path)
			if strings.Contains(rec.Body.String(), "/api/users/"+user+"/") && !listed[list] {
				t.Errorf("%s: %s is not listed", user, list)
			}
		}
		if len(listed) == 0 {
			t.Errorf("%s contributed nothing", user)
		}
	}
	wantAnswer(t, s, 404, `{"detail":"Not found."}`, "/api/users/nobody/contributions/")
}

// TestFilterCSV: format=csv has what JSON has.
func TestFilterCSV(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	rec := call(t, s, http.MethodGet, "/api/changes/?format=csv&action=63&action=59")
	if lines := strings.Count(rec.Body.String(), "\n"); rec.Code != 200 || lines != 3 || !strings.Contains(rec.Body.String(), "Zpráva 36") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}
