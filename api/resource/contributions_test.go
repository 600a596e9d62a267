package resource_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/testrepos"
)

// TestWhatPeopleDid: the statistics of people, the contributors and the credits count the
// same entries, those of edits made here too. What is written and suggested is drawn.
func TestWhatPeopleDid(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		e := newEditor(t)
		rng := rand.New(rand.NewPCG(seed, 0))
		unit := e.units["app cs Open"]
		e.repo.Commit(t, testrepos.Change{Author: "Karel <karel@example.org>", Files: map[string]string{"po/cs.po": strings.Replace(e.po, "msgid \"Open\"\nmsgstr \"\"", "msgid \"Open\"\nmsgstr \"Otevři\"", 1)}})
		e.Sync()
		for n := range 12 {
			text := fmt.Sprintf("%d-%d", seed, n)
			switch kind := rng.IntN(4); kind {
			case 0, 1:
				e.ask(t, "PATCH", unit, fmt.Sprintf(`{"target": [%q], "state": %d}`, text, 10+10*kind))
			case 2:
				e.ask(t, "POST", unit+"suggestions/", fmt.Sprintf(`{"target": [%q]}`, text))
			case 3:
				var list struct{ Results []struct{ ID int } }
				readInto(t, e.ask(t, "GET", unit+"suggestions/", ""), &list)
				if len(list.Results) > 0 {
					e.ask(t, "POST", fmt.Sprintf("/api/suggestions/%d/%s/", list.Results[0].ID, []string{"accept", "reject"}[rng.IntN(2)]), "{}")
				}
			}
		}
		e.wantCounts(t)
	}
}

// readInto parses an answer.
func readInto(t *testing.T, answer string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(answer), into); err != nil {
		t.Fatal(err)
	}
}

// ask sends a request of the token "write" that must succeed.
func (e *editor) ask(t *testing.T, method, path, body string) string {
	t.Helper()
	status, answer, _ := e.send("write", method, path, asJSON, body)
	if status >= 300 {
		t.Fatalf("%s %s %s: %d %s", method, path, body, status, answer)
	}
	return answer
}

// wantCounts compares everyone's counts with the entries of their changes.
func (e *editor) wantCounts(t *testing.T) {
	t.Helper()
	var changes struct {
		Results []struct {
			Action      int
			Translation string
			Details     struct {
				AuthorName string `json:"author_name"`
			}
		}
	}
	readInto(t, e.ask(t, "GET", "/api/changes/?page_size=1000", ""), &changes)
	updated, suggested := map[string]int{}, map[string]int{}
	for _, c := range changes.Results {
		switch {
		case strings.Contains(c.Translation, "/en/"):
		case slices.Contains([]int{2, 5, 7, 37, 59}, c.Action):
			updated[c.Details.AuthorName]++
		case c.Action == 4:
			suggested[c.Details.AuthorName]++
		}
	}
	if updated["Jana Nováková"] == 0 || updated["Karel"] == 0 {
		t.Fatalf("the entries show nothing: %v", updated)
	}
	for username, name := range map[string]string{"jana-novakova": "Jana Nováková", "karel": "Karel"} {
		var own struct{ Translated, Suggested int }
		readInto(t, e.ask(t, "GET", "/api/users/"+username+"/statistics/", ""), &own)
		if own.Translated != updated[name] || own.Suggested != suggested[name] {
			t.Errorf("%s: statistics %+v, entries %d and %d", name, own, updated[name], suggested[name])
		}
		var list struct {
			Results []struct {
				Username string
				Updated  int
			}
		}
		readInto(t, e.ask(t, "GET", "/api/translations/demo/app/cs/contributors/", ""), &list)
		for _, c := range list.Results {
			if c.Username == username && c.Updated != updated[name] {
				t.Errorf("%s: contributors/ has %d, entries %d", name, c.Updated, updated[name])
			}
		}
	}
}

// TestBooleans: yes and no are said as Django REST framework takes them; wlc sends
// overwrite=yes. Anything else is refused, not ignored.
func TestBooleans(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	upload := func(text, overwrite string, want int, accepted string) {
		t.Helper()
		kind, body := form(t, "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"Open\"\nmsgstr \""+text+"\"\n", "method", "translate", "overwrite", overwrite)
		status, answer, _ := e.send("write", "POST", "/api/translations/demo/app/cs/file/", kind, body)
		if status != want || !strings.Contains(answer, accepted) {
			t.Errorf("overwrite=%s: %d %s, want %d %s", overwrite, status, answer, want, accepted)
		}
	}
	upload("first", "", 200, `"accepted":1`)
	for i, yes := range []string{"yes", "on", "Y", "true", "T", "1", "True"} {
		upload(fmt.Sprint("text ", i), yes, 200, `"accepted":1`)
	}
	for _, no := range []string{"no", "off", "n", "0", "False", "f"} {
		upload("other", no, 200, `"accepted":0`)
	}
	upload("other", "perhaps", 400, `"overwrite":["Must be a valid boolean."]`)
	for text, want := range map[string]int{"yes": 200, "off": 200, "On": 200, "no": 200, "2": 400} {
		if status, answer, _ := e.send("admin", "POST", "/api/components/demo/app/lock/", asForm, "lock="+text); status != want {
			t.Errorf("lock=%s: %d %s", text, status, answer)
		}
	}
}
