package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog/catalogtest"
)

func searchURL(list, q string) string {
	return list + "?format=json&page_size=1000&q=" + url.QueryEscape(q)
}

const czechUnits = "/api/translations/demo/app/cs/units/"

// TestUnitSearch: every field and form of a search over oddUnits.
// The strings that are found are named by position; "many" are the 35 plain
// strings after them.
func TestUnitSearch(t *testing.T) {
	w := demoWorld(t)
	s := serve(w, Options{})
	many := func(also ...int) []int {
		for i := 10; i <= 44; i++ {
			also = append(also, i)
		}
		return also
	}
	all := many(1, 2, 3, 4, 5, 6, 7, 8, 9)
	first := getList(t, s, czechUnits+"?page_size=1000")
	ids := map[int]int64{}
	for _, u := range first.Results {
		ids[int(u["position"].(float64))] = int64(u["id"].(float64))
	}
	for _, c := range []struct {
		q    string
		want []int
	}{
		{"", all},
		{"  ", all},
		// Plain words: in source, target or context, in any case.
		{"OPEN", []int{4}},
		{"otev", []int{4}},
		{"MENU", []int{4}},
		{"text starý", []int{5}},
		{`"new text"`, []int{5}},
		{"'new text'", []int{5}},
		{"ŠČŘ", nil},
		{"BANÁNŮ", []int{2}},
		{`r"^%d "`, []int{2, 3}},
		{`r"^Op|^Ne"`, []int{4, 5}},
		// Operators.
		{"open OR banana", []int{2, 4}},
		{"open AND menu", []int{4}},
		{"open banana", nil},
		{"NOT NOT open", []int{4}},
		{strings.Repeat("nothing OR ", 97) + "open OR banana OR text", []int{2, 4, 5}},
		{"NOT (source:e OR target:e OR context:e OR note:e OR location:c) position:<9", []int{8}},
		{"open menu OR banana", []int{2, 4}},
		{"NOT message", []int{1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{"not (message or %d)", []int{1, 4, 5, 6, 7, 8, 9}},
		// Texts.
		{"source:text", []int{5}},
		{"source:=Open", []int{4}},
		{"source:=open", nil},
		{`source:"back\\slash"`, []int{9}},
		{"source:日本", []int{9}},
		{"target:NĚCO", []int{6}},
		{"target:=\"\"", []int{3, 7}},
		{`target:r"^$"`, []int{3, 7}},
		{`target:"` + "\u0001" + `"`, []int{9}},
		{"context:source", []int{6}},
		{"key:=menu", []int{4}},
		{"note:translators", []int{1}},
		{`note:r"^two$"`, nil},
		{`note:r"(?m)^two$"`, []int{1}},
		{"location:src/b", []int{1}},
		{`location:r"a\.c:3$"`, []int{2}},
		{"flags:C-FORMAT", []int{1}},
		{"source:<b>", []int{1}},
		// Numbers.
		{"state:empty", []int{3, 7}},
		{"state:needs-editing", []int{5}},
		{"state:<translated", []int{3, 5, 7}},
		{"state:[fuzzy to 99] NOT message", []int{1, 2, 4, 5, 6, 9}},
		{"state:>=approved", []int{8}},
		{"source_state:readonly", all},
		{"position:>42", []int{43, 44}},
		{"position:[2 to 3]", []int{2, 3}},
		{"priority:>100", []int{8}},
		{fmt.Sprintf("id:%d,%d", ids[3], ids[7]), []int{3, 7}},
		{fmt.Sprintf("id:>%d", ids[43]), []int{44}},
		// Yes or no.
		{"is:translated NOT message", []int{1, 2, 4, 6, 8, 9}},
		{"is:untranslated", []int{3, 5, 7}},
		{"is:fuzzy", []int{5}},
		{"is:read-only", []int{8}},
		{"is:approved", nil},
		{"is:pending", nil},
		{"pending:no", all},
		{"has:plural", []int{2, 3}},
		{"has:note", []int{1}},
		{"has:context", []int{4, 6}},
		{"has:translation position:<9", []int{1, 2, 4, 6, 8}},
		{"has:location NOT message", []int{1, 2}},
		{"has:suggestion OR has:comment OR has:failing_check OR has:label OR has:flags", nil},
		{"check:same OR label:x OR suggestion:x OR screenshot:x OR labels_count:>0", nil},
		{"NOT has:suggestion", all},
		// Times: strings appeared an hour before the demo's clock; number 4 was
		// updated in the second step.
		{"added:2026", all},
		{"added:2026-03-04", all},
		{"added:<2026-03-04", nil},
		{"added:>=2026-03-04T04:00:00Z", all},
		{"added:[2025 to 2026-03]", all},
		{"changed:>=2026-03-04T10:00:00Z", []int{4}},
		{"change_time:>2026-03-04T10:00:00Z", []int{4}},
		{"last_changed:>2026-03-04T10:00:00Z", []int{4}},
		{"last_changed:<2026-03-04T10:00:00Z position:<6", []int{1, 2, 3, 5}},
		{"source_changed:2026", all},
		{"changed:2025", nil},
		{"changed_by:karel", []int{4}},
		{"changed_by:KAREL", []int{4}},
		{"changed_by:jane-doe position:<9", []int{1, 2, 4, 5, 6, 8}},
		{"change_action:string-updated-in-the-repository", []int{4}},
		{`change_action:"New string added"`, all},
		{"change_action:marked-for-edit", nil},
		// Places.
		{"language:CS open", []int{4}},
		{"language:de", nil},
		{"project:Demo component:app open", []int{4}},
		{"component:xyz", nil},
		{"source_language:en open", []int{4}},
		{"path:demo/app/cs open", []int{4}},
	} {
		got := getList(t, s, searchURL(czechUnits, c.q))
		positions := []int{}
		for _, u := range got.Results {
			positions = append(positions, int(u["position"].(float64)))
		}
		slices.Sort(positions)
		want := append([]int{}, c.want...)
		slices.Sort(want)
		if !slices.Equal(positions, want) || got.Count != int64(len(want)) {
			t.Errorf("%s: %d, %v; want %v", c.q, got.Count, positions, want)
		}
	}
}

// TestServerSearch: a search over the whole server is ascending by id, and finds
// nothing that is private, not imported or gone.
func TestServerSearch(t *testing.T) {
	w := demoWorld(t)
	w.ImportBranch("secret/open", repoSecret, "release", "Jane", sourceFile(numberedUnits(5)))
	s := serve(w, Options{})
	for _, c := range []struct {
		q    string
		want []string // project/component/language × number
	}{
		{`source:="Open"`, []string{"demo/app/en 1", "demo/app/cs 1"}},
		{`source:="Message 1"`, []string{"demo/app/en 1", "demo/app/cs 1", "secret/open/en 1"}},
		{"language:cs has:plural", []string{"demo/app/cs 2"}},
		{"language:cs has:plural OR language:cs_CZ OR project:secret", []string{"demo/app/cs 2", "demo/app/cs_CZ 2", "secret/open/en 5"}},
		{"component:OPEN", []string{"secret/open/en 5"}},
		{"path:demo state:needs-editing", []string{"demo/app/cs 1"}},
		{"component:hidden OR component:lib", nil},
		{fmt.Sprintf("id:%d,%d", w.IDs["demo/hidden"]<<28+1, w.IDs["secret/lib"]<<28+1), nil},
		{fmt.Sprintf("id:[%d to %d]", w.IDs["demo/hidden"]<<28, w.IDs["demo/hidden"]<<28+9), nil},
		{"changed_by:mallory", nil},
		{"language:de", nil},
	} {
		got := getList(t, s, searchURL("/api/units/", c.q))
		var places []string
		counts := map[string]int{}
		last := 0.0
		for _, u := range got.Results {
			link, _ := url.Parse(u["translation"].(string))
			place := strings.Trim(strings.TrimPrefix(link.Path, "/api/translations/"), "/")
			if counts[place]++; counts[place] == 1 {
				places = append(places, place)
			}
			if id := u["id"].(float64); id <= last {
				t.Errorf("%s: %v after %v", c.q, id, last)
			} else {
				last = id
			}
		}
		for i, place := range places {
			places[i] = fmt.Sprint(place, " ", counts[place])
		}
		if !slices.Equal(places, c.want) || int(got.Count) != len(got.Results) {
			t.Errorf("%s: %d, %v; want %v", c.q, got.Count, places, c.want)
		}
	}
}

// TestUnitSearchPages: page links keep q, and pages have no gap.
func TestUnitSearchPages(t *testing.T) {
	s := serve(demoWorld(t), Options{})
	target := czechUnits + "?q=" + url.QueryEscape("message state:>=translated") + "&page_size=10"
	var seen []float64
	pages := 0
	for target != "" {
		l := getList(t, s, target)
		for _, u := range l.Results {
			seen = append(seen, u["id"].(float64))
		}
		if pages++; l.Count != 35 || pages > 4 {
			t.Fatalf("page %d: count %d", pages, l.Count)
		}
		if (l.Previous == nil) != (pages == 1) {
			t.Errorf("page %d: previous %v", pages, l.Previous)
		}
		target = ""
		if l.Next != nil {
			target = strings.TrimPrefix(*l.Next, "http://l10n.example.org")
			if !strings.Contains(target, "q=message+state%3A%3E%3Dtranslated") {
				t.Errorf("next %s", target)
			}
		}
	}
	if len(seen) != 35 || !slices.IsSorted(seen) || len(slices.Compact(seen)) != 35 {
		t.Errorf("%d pages, %v", pages, seen)
	}
	wantStatus(t, s, http.StatusNotFound, czechUnits+"?q=open&page=2")
	rec := call(t, s, http.MethodGet, czechUnits+"?q=open&format=csv")
	if lines := strings.Count(strings.TrimSpace(rec.Body.String()), "\n"); lines != 1 {
		t.Errorf("%d lines of CSV: %s", lines, rec.Body)
	}
}

// TestUnitSearchGeneration: a search finds the strings of a later step.
func TestUnitSearchGeneration(t *testing.T) {
	w := demoWorld(t)
	s := serve(w, Options{})
	target := searchURL("/api/units/", "source:message")
	before := getList(t, s, target).Count
	w.ImportBranch("secret/open", repoSecret, "release", "Jane", sourceFile(numberedUnits(5)))
	if after := getList(t, s, target).Count; after != before+5 {
		t.Errorf("%d, then %d", before, after)
	}
}

func TestUnitSearchErrors(t *testing.T) {
	s := serve(demoWorld(t), Options{})
	for _, list := range []string{czechUnits, "/api/units/"} {
		for q, want := range map[string]string{
			"(foo":        "Could not parse query string: The parenthesis is not closed at column 1",
			"a nope:x":    "Could not parse query string: Unsupported field: nope at column 3",
			`source:r"["`: "Could not parse query string: Invalid regular expression: missing closing ]: `[` at column 8",
			"NOT":         "Could not parse query string: Expected a term at column 4",
		} {
			rec := call(t, s, http.MethodGet, list+"?q="+url.QueryEscape(q))
			if body := fmt.Sprintf(`{"q":[%q]}`, want); rec.Code != http.StatusBadRequest || oldForm(rec.Body.String()) != body {
				t.Errorf("%s: %d %s, want %s", q, rec.Code, rec.Body, body)
			}
		}
	}
}

// TestUnitSearchLimits: a search that costs too much is answered like one that
// cannot be parsed: 400, one text of q.
func TestUnitSearchLimits(t *testing.T) {
	s := serve(demoWorld(t), Options{})
	for name, c := range map[string]struct{ within, beyond string }{
		"length":       {strings.Repeat("x", 8192), strings.Repeat("x", 8193)},
		"terms":        {strings.TrimSuffix(strings.Repeat("a OR ", 100), " OR "), strings.TrimSuffix(strings.Repeat("a OR ", 101), " OR ")},
		"depth":        {strings.Repeat("(", 40) + "a" + strings.Repeat(")", 40), strings.Repeat("(", 41) + "a" + strings.Repeat(")", 41)},
		"negations":    {strings.Repeat("NOT ", 40) + "a", strings.Repeat("NOT ", 41) + "a"},
		"ids":          {"id:1" + strings.Repeat(",1", 999), "id:1" + strings.Repeat(",1", 1000)},
		"regexp":       {`source:r"(a{5}){5}"`, `source:r"(a{40}){40}"`},
		"regexps":      {`r"a{200}" OR r"b{200}"`, `r"a{400}" OR r"b{400}" OR r"c{400}"`},
		"regexp depth": {`r"` + strings.Repeat("(", 50) + strings.Repeat(")", 50) + `"`, `r"` + strings.Repeat("(", 2000) + strings.Repeat(")", 2000) + `"`},
	} {
		for _, list := range []string{czechUnits, "/api/units/"} {
			wantStatus(t, s, http.StatusOK, list+"?q="+url.QueryEscape(c.within))
			rec := call(t, s, http.MethodGet, list+"?q="+url.QueryEscape(c.beyond))
			var body map[string][]string
			if err := json.Unmarshal([]byte(oldForm(rec.Body.String())), &body); err != nil || rec.Code != http.StatusBadRequest || len(body) != 1 || len(body["q"]) != 1 ||
				!strings.HasPrefix(body["q"][0], "Could not parse query string: ") || strings.Contains(body["q"][0], "  ") {
				t.Errorf("%s: %d %.200s %v", name, rec.Code, rec.Body, err)
			}
		}
	}
}

// FuzzUnitSearch: for any q the answer is a page or an error, and has nothing
// private.
func FuzzUnitSearch(f *testing.F) {
	for _, q := range []string{
		`a OR NOT (b source:="x") r"^[a-z]+$" location:r"\d"`, `state:[0 to 100] id:1,2,3,4,5,268435460 position:>1`, `added:2026 changed:<2027 last_changed:>2020 source_changed:2026`,
		`changed_by:mallory change_action:31 has:plural pending:no`, `language:en project:secret OR component:hidden path:demo/hidden`, "target:\x00%_'\"", `id:>-9223372036854775808 priority:<9223372036854775807`,
	} {
		f.Add(q)
	}
	w := demoWorld(f)
	w.ImportBranch("secret/open", repoSecret, "release", "Jane", sourceFile(numberedUnits(5)))
	s := brief(serve(w, Options{}))
	f.Fuzz(func(t *testing.T, q string) {
		for _, list := range []string{czechUnits, "/api/units/"} {
			_, rec := send(s, http.MethodGet, searchURL(list, q))
			if rec.Code != http.StatusOK && rec.Code != http.StatusBadRequest && rec.Code != http.StatusRequestURITooLong {
				t.Errorf("%q: %d %s", q, rec.Code, rec.Body)
			}
			for _, never := range []string{"/demo/hidden/", "/secret/lib/"} {
				if strings.Contains(rec.Body.String(), never) {
					t.Errorf("%q: %s in %s", q, never, rec.Body)
				}
			}
		}
	})
}

// TestClientsSearch: searches that real clients send (weblate-spring,
// WeblateMobile and friendly-bridge).
func TestClientsSearch(t *testing.T) {
	s := serve(demoWorld(t), Options{})
	since := catalogtest.Now().Add(time.Hour).Format(time.RFC3339)
	for _, c := range []struct {
		query string // as it goes over the wire
		count int64
	}{
		{"q=state%3A%3E%3Dtranslated%20AND%20(added%3A%3E%3D" + since + "%20OR%20changed%3A%3E%3D" + since + ")", 1},
		{"q=&page=1", 44},
		{"page=1&q=state:empty", 2},
		{"q=state:%3Ctranslated+AND+NOT+has:suggestion", 3},
		{"q=has:check", 0},
		{"q=changed:>=" + since + "&page=1", 1},
		{"q=changed:%3E=" + catalogtest.Now().Add(time.Hour).Format("2006-01-02T15:04:05") + "+00:00", 1}, // an unescaped plus
	} {
		if got := getList(t, s, czechUnits+"?"+strings.ReplaceAll(c.query, ">", "%3E")); got.Count != c.count {
			t.Errorf("%s: %d, want %d", c.query, got.Count, c.count)
		}
	}
}
