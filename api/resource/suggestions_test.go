package resource_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestSuggestions suggests texts, which are listed beside each other, and accepts and
// rejects them.
func TestSuggestions(t *testing.T) {
	e := newEditor(t)
	unit := e.units["app cs Open"]
	list := unit + "suggestions/"
	for _, tt := range []struct {
		name, token, path, body string
		status                  int
		want                    string
	}{
		{"first", "write", list, `{"target": ["Otevřít"]}`, 201, `{"id":1,"unit":"` + e.srv.URL + unit + `?format=api","target":["Otevřít"],"user":"` + e.srv.URL + `/api/users/jana-novakova/?format=api","author_name":"Jana Nováková","timestamp":"2`},
		{"second", "admin", list, `{"target": ["Otevři"]}`, 201, `{"id":2,`},
		{"again", "admin", list, `{"target": ["Otevřít"]}`, 201, `{"id":1,`},
		{"forms", "write", list, `{"target": ["a", "b"]}`, 400, `"target":["Number of plurals does not match"]`},
		{"empty", "write", list, `{"target": [""]}`, 400, `"code":"invalid"`},
		{"nothing", "write", list, `{}`, 400, `"target":["This field is required."]`},
		{"read", "read", list, `{"target": ["x"]}`, 403, "needs a token of scope write"},
		{"stranger", "", list, `{"target": ["x"]}`, 401, "To edit this"},
		{"language", "german", list, `{"target": ["x"]}`, 403, "the token is for other projects or languages"},
		{"closed", "write", e.units["closed cs Open"] + "suggestions/", `{"target": ["x"]}`, 403, "This cannot be changed"},
		{"read-only", "write", e.units["app cs Fixed"] + "suggestions/", `{"target": ["x"]}`, 403, "The string is read-only."},
		{"turned off", "write", e.units["silent cs Open"] + "suggestions/", `{"target": ["x"]}`, 403, "suggestions are turned off"},
		{"answer of a stranger", "", "/api/suggestions/1/accept/", ``, 401, "To edit this"},
		{"answer for another language", "german", "/api/suggestions/1/reject/", ``, 403, "the token is for other projects or languages"},
		{"approve", "write", "/api/suggestions/1/accept/", `{"approve": true}`, 400, `"approve":["Invalid state"]`},
		{"unknown", "write", "/api/suggestions/9/accept/", ``, 404, `"code":"not_found"`},
	} {
		if status, answer, _ := e.send(tt.token, "POST", tt.path, asJSON, tt.body); status != tt.status || !strings.Contains(answer, tt.want) {
			t.Errorf("%s: %d %s, want %d with %s", tt.name, status, answer, tt.status, tt.want)
		}
	}
	get := func(path string, want ...string) {
		t.Helper()
		_, answer, _ := e.send("", "GET", path, "", "")
		for _, w := range want {
			if !strings.Contains(answer, w) {
				t.Errorf("%s lacks %s: %s", path, w, answer)
			}
		}
	}
	get(list, `"count":2,`, `{"id":1,`, `{"id":2,`, `"branch":"","commit":""`)
	get(unit, `"has_suggestion":true`, `"target":[""]`, `"pending":false`)
	e.Verify()
	answer := func(token, path string, status int) {
		t.Helper()
		if got, answer, _ := e.send(token, "POST", "/api/suggestions/"+path+"/", "", ""); got != status {
			t.Errorf("%s: %d %s, want %d", path, got, answer, status)
		}
	}
	answer("admin", "1/accept", 200) // by its author
	get(unit, `"target":["Otevřít"]`, `"pending":true`, `"has_suggestion":true`)
	get("/api/changes/?user=jana-novakova", `"action_name":"Suggestion accepted"`)
	answer("write", "1/accept", 404)
	answer("write", "2/reject", 200)
	answer("write", "2/accept", 404)
	get(unit, `"target":["Otevřít"]`, `"has_suggestion":false`)
	get("/api/edits/1/", `"status":"discarded","reason":"accepted"`, `"authors":["Jana Nováková"]`, `"history":[{"timestamp":"2`,
		`"name":"Jana Nováková","event":"suggested","target":["Otevřít"],"state":20}`, `"name":"admin","event":"accepted","target":["Otevřít"],"state":20}]`)
	get("/api/edits/2/", `"status":"discarded","reason":"rejected"`, `"target":["Otevři"]`)
	get("/api/edits/3/", `"status":"pending"`)
	if status, answer, _ := e.send("write", "POST", list, asJSON, `{"target": ["Otevřít"]}`); status != 400 || !strings.Contains(answer, "The string has this text.") {
		t.Errorf("the text that is there: %d %s", status, answer)
	}
	// A pull neither removes nor doubles what people suggested.
	e.send("write", "POST", list, asJSON, `{"target": ["Otevírat"]}`)
	e.Sync()
	get(list, `"count":1,`, `"target":["Otevírat"]`)
	for i := range 50 {
		want := 201
		if i == 49 {
			want = 400
		}
		if status, answer, _ := e.send("write", "POST", list, asJSON, fmt.Sprintf(`{"target": ["%d"]}`, i)); status != want {
			t.Errorf("suggestion %d: %d %s", i+2, status, answer)
		}
	}
	e.Verify()
}
