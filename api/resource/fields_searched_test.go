package resource_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/repoglot/repoglot/testrepos"
)

// booleansSearched has, for each boolean field of a unit, the searches that find exactly
// the units which have it, and those that find the others.
var booleansSearched = map[string]struct{ yes, no []string }{
	"fuzzy":             {[]string{"is:fuzzy", "is:needs-editing", "state:fuzzy"}, []string{"NOT is:fuzzy"}},
	"translated":        {[]string{"is:translated", "has:translation", "state:>=20"}, []string{"is:untranslated", "NOT has:translation"}},
	"approved":          {[]string{"is:approved", "state:approved"}, []string{"NOT is:approved"}},
	"has_suggestion":    {[]string{"has:suggestion"}, []string{"NOT has:suggestion"}},
	"has_comment":       {[]string{"has:comment"}, []string{"NOT has:comment"}},
	"has_failing_check": {[]string{"has:check", "has:failing-check"}, []string{"NOT has:check"}},
	"pending":           {[]string{"is:pending", "pending:yes", "pending:TRUE", "pending:1"}, []string{"pending:no", "pending:off", "NOT is:pending"}},
	"removed":           {nil, nil}, // a removed unit is in no list
}

// TestBooleansAreSearched: every boolean field of a unit says what the search terms of
// that meaning find, before and after an edit, and after it has been taken back.
func TestBooleansAreSearched(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": e.po + "\n# the translator's\nmsgid \"Save.\"\nmsgstr \"Uložit\"\n\n#, fuzzy\nmsgid \"Quit\"\nmsgstr \"Konec\"\n"}})
	e.Sync()
	compare := func(when string) map[string]int {
		t.Helper()
		counts := map[string]int{}
		found := func(q string) map[int64]map[string]any {
			status, body, _ := e.send("", http.MethodGet, "/api/units/?page_size=1000&q="+url.QueryEscape(q), "", "")
			var list struct{ Results []map[string]any }
			if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK {
				t.Fatalf("%s: q=%s: status %d, %v, %s", when, q, status, err, body)
			}
			units := map[int64]map[string]any{}
			for _, u := range list.Results {
				units[int64(u["id"].(float64))] = u
			}
			return units
		}
		all := found("")
		fields := map[string]bool{"removed": true} // which no list has
		for _, u := range all {
			for name, value := range u {
				if _, ok := value.(bool); ok {
					fields[name] = true
				}
			}
		}
		for name := range fields {
			terms, ok := booleansSearched[name]
			if !ok {
				t.Errorf("no search for the field %q: add it to booleansSearched", name)
			}
			var with, without []int64
			for id, u := range all {
				if yes, _ := u[name].(bool); yes {
					with = append(with, id)
				} else {
					without = append(without, id)
				}
			}
			counts[name] = len(with)
			for want, list := range map[*[]int64][]string{&with: terms.yes, &without: terms.no} {
				for _, q := range list {
					var got []int64
					for id := range found(q) {
						got = append(got, id)
					}
					slices.Sort(got)
					if slices.Sort(*want); !slices.Equal(got, *want) {
						t.Errorf("%s: q=%s finds %v, %q says %v", when, q, got, name, *want)
					}
				}
			}
		}
		return counts
	}
	before := compare("before")
	unit := e.units["app cs Open"]
	if status, body, _ := e.send("write", http.MethodPatch, unit, "application/json", `{"target": ["Otevřít"], "state": 10}`); status != http.StatusOK {
		t.Fatalf("status %d %s", status, body)
	}
	if status, body, _ := e.send("write", http.MethodPost, e.units["app cs %d file"]+"suggestions/", "application/json", `{"target": ["a", "b", "c"]}`); status != http.StatusCreated {
		t.Fatalf("status %d %s", status, body)
	}
	after := compare("after")
	for name, want := range map[string]int{"pending": 1, "fuzzy": before["fuzzy"] + 1, "has_suggestion": 1} {
		if after[name] != want {
			t.Errorf("%d units with %q after the edits, want %d", after[name], name, want)
		}
	}
	for _, name := range []string{"translated", "fuzzy", "has_comment", "has_failing_check"} {
		if before[name] == 0 {
			t.Errorf("no unit has %q: the comparison shows nothing", name)
		}
	}
	if status, body, _ := e.send("admin", http.MethodPost, "/api/components/demo/app/repository/", "application/json", `{"operation": "reset"}`); status != http.StatusOK {
		t.Fatalf("status %d %s", status, body)
	}
	if got := compare("after reset"); got["pending"] != 0 {
		t.Errorf("%d pending units after reset", got["pending"])
	}
}
