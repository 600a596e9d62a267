package resource_test

import (
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/testrepos"
)

// TestMissingStrings translates strings that only the template has.
func TestMissingStrings(t *testing.T) {
	e := newEditor(t)
	pot := strings.Replace(e.po, "Pevné", "", 1)
	e.Commit(e.repo, testrepos.Change{Files: map[string]string{"po/app.pot": pot + "\n#: a.c:7\nmsgctxt \"menu\"\nmsgid \"Close\"\nmsgstr \"\"\n\nmsgid \"%d dir\"\nmsgid_plural \"%d dirs\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n\n#, read-only\nmsgid \"Name\"\nmsgstr \"\"\n\nmsgid \"a\\004b\"\nmsgstr \"\"\n"}})
	e.Configure(e.repo.URL(), "", map[string]catalog.ComponentSettings{
		"app": {Edits: catalog.Edits{Mode: catalog.PushDirect}, EnableSuggestions: true, NewBase: "po/app.pot"},
	})
	e.Sync()
	const path = "/api/translations/demo/app/cs/units/"
	for _, tt := range []struct {
		name, token, body string
		status            int
		want              string
	}{
		{"other language", "german", `{"source": "Close", "context": "menu", "target": "x"}`, 403, "the token is for other projects or languages"},
		{"not in the template", "write", `{"source": "Close", "target": "x"}`, 400, `"source":["The template has no such string that the file lacks."]`},
		{"in the file", "write", `{"source": "Open", "target": "x"}`, 400, "The template has no such string that the file lacks."},
		{"forms", "write", `{"source": ["%d dir", "%d dirs"], "target": ["a", "b"]}`, 400, "Number of plurals does not match"},
		{"blank", "write", `{"source": "Close", "context": "menu", "target": ""}`, 400, `"target":["This field may not be blank."]`},
		{"blank forms", "write", `{"source": ["%d dir", "%d dirs"], "target": ["", "", ""], "state": 20}`, 400, `"target":["This field may not be blank."]`},
		{"empty state", "write", `{"source": "Close", "context": "menu", "target": "x", "state": 0}`, 400, `"state":["Can not use empty state with non empty target"]`},
		{"approved", "write", `{"source": "Close", "context": "menu", "target": "x", "state": 30}`, 400, `"state":["Invalid state"]`},
		{"read-only", "write", `{"source": "Name", "target": "x"}`, 403, "read-only"},
		{"what gettext refuses", "write", `{"source": "a\u0004b", "target": "x"}`, 403, "read-only"},
		{"control character", "write", `{"source": "Close", "context": "menu", "target": "a\u0001"}`, 400, "Control characters"},
		{"singular", "write", `{"source": "Close", "context": "menu", "target": "Zavřít"}`, 200, `"source":["Close"],"previous_source":"","target":["Zavřít"]`},
		{"again", "write", `{"source": "Close", "context": "menu", "target": "Zavři"}`, 400, "The template has no such string that the file lacks."},
		{"plural, fuzzy", "write", `{"source": ["%d dir", "%d dirs"], "target": ["a", "b", "c"], "state": 10}`, 200, `"target":["a","b","c"]`},
	} {
		if status, answer, _ := e.send(tt.token, "POST", path, asJSON, tt.body); status != tt.status || !strings.Contains(answer, tt.want) {
			t.Errorf("%s: %d %s, want %d with %s", tt.name, status, answer, tt.status, tt.want)
		}
	}
	_, text, _ := e.send("read", "GET", "/api/translations/demo/app/cs/file/", "", "")
	if want := "#: a.c:7\nmsgctxt \"menu\"\nmsgid \"Close\"\nmsgstr \"Zavřít\"\n\n#, fuzzy\nmsgid \"%d dir\"\nmsgid_plural \"%d dirs\"\nmsgstr[0] \"a\""; !strings.Contains(text, want) {
		t.Errorf("the file:\n%s", text)
	}
	e.Verify()
}

// TestSuggestedMissing suggests a text for a string that the file lacks, finds it, accepts it, takes
// it back, and restores it.
func TestSuggestedMissing(t *testing.T) {
	e := newEditor(t)
	e.Commit(e.repo, testrepos.Change{Files: map[string]string{"po/app.pot": strings.Replace(e.po, "Pevné", "", 1) + "\nmsgid \"Close\"\nmsgstr \"\"\n\nmsgid \"Quit\"\nmsgstr \"\"\n"}})
	e.Configure(e.repo.URL(), "", map[string]catalog.ComponentSettings{
		"app": {Edits: catalog.Edits{Mode: catalog.PushDirect}, EnableSuggestions: true, NewBase: "po/app.pot"},
	})
	e.Sync()
	const of = "/api/translations/demo/app/cs/"
	want := func(about, method, path string, status int, want ...string) {
		t.Helper()
		got, answer, _ := e.send("write", method, path, "", "")
		for _, w := range want {
			if got != status || !strings.Contains(answer, w) {
				t.Errorf("%s: %d %s, want %d with %s", about, got, answer, status, w)
			}
		}
	}
	kind, body := form(t, e.po+"\nmsgid \"Quit\"\nmsgstr \"Konec\"\n", "method", "suggest")
	if status, answer, _ := e.send("write", "POST", of+"file/", kind, body); status != 200 || !strings.Contains(answer, `"accepted":1`) {
		t.Fatalf("a suggestion is uploaded: %d %s", status, answer)
	}
	found, none := []string{`"count":1,`, `"source":["Quit"]`}, `"count":0,`
	for q, in := range map[string][]string{
		"has:suggestion": found, "suggestion:kon": found, "suggestion:jinak": {none}, "NOT+has:suggestion": {`"count":1,`, `"source":["Close"]`}, "quit+has:suggestion": found, "close+has:suggestion": {none},
	} {
		want(q, "GET", of+"missing/?q="+q, 200, in...)
	}
	want("the file's own", "GET", of+"units/?q=has:suggestion", 200, none)
	want("another language's", "GET", "/api/translations/demo/app/en/missing/?q=has:suggestion", 200, none)
	want("accepted", "POST", "/api/suggestions/1/accept/", 200, `"result":true`)
	want("of the file now", "GET", of+"units/?q=quit", 200, `"target":["Konec"]`, `"pending":true`)
	want("missing no more", "GET", of+"missing/?q=has:suggestion", 200, none)
	want("taken back", "DELETE", "/api/edits/2/", 200, `"result":true`)
	want("missing again", "GET", of+"missing/", 200, `"count":2,`)
	want("restored", "POST", "/api/edits/2/restore/", 200, `"target":["Konec"]`)
	want("of the file again", "GET", of+"units/?q=quit", 200, `"target":["Konec"]`, `"pending":true`)
	e.Verify()
}

// TestNewStrings adds strings to a glossary: who may, what is refused, and the answers while
// a string waits, when the repository has it, and when it is taken back.
func TestNewStrings(t *testing.T) {
	e := newEditor(t)
	const path = "/api/translations/demo/terms/cs/units/"
	term := `{"source": "Branch", "target": ["Větev"], "context": "git"}`
	for _, tt := range []struct {
		name, token, path, kind, body string
		status                        int
		want                          string
	}{
		{"no glossary", "write", "/api/translations/demo/app/cs/units/", asJSON, term, 403, "This cannot be changed through the API"},
		{"source language", "write", "/api/translations/demo/terms/en/units/", asJSON, term, 403, "add the string to a translation."},
		{"scope read", "read", path, asJSON, term, 403, "needs a token of scope write"},
		{"stranger", "", path, asJSON, term, 401, "send a token of scope write"},
		{"other language", "german", path, asJSON, term, 403, "the token is for other projects or languages"},
		{"no source", "write", path, asJSON, `{"target": "x"}`, 400, `"attr":"source"`},
		{"no target", "write", path, asJSON, `{"source": "x"}`, 400, `"attr":"target"`},
		{"blank", "write", path, asJSON, `{"source": "", "target": "x"}`, 400, "This field may not be blank."},
		{"plural", "write", path, asJSON, `{"source": ["a", "b"], "target": ["x"]}`, 400, "Plurals cannot be added."},
		{"state", "write", path, asJSON, `{"source": "x", "target": "x", "state": 30}`, 400, `"state":["Invalid state"]`},
		{"control character", "write", path, asForm, "source=a%00b&target=x", 400, "Control characters"},
		{"there", "write", path, asForm, "source=Open&target=x", 400, `"source":["This string seems to already exist."]`},
		{"there with a plural", "write", path, asJSON, `{"source": "%d file", "target": "x"}`, 400, `"source":["This string exists already, with a plural."]`},
		{"waits", "write", path, asJSON, term, 202, "The string is served when the repository has it."},
		{"again", "write", path, asJSON, term, 400, "already exist"},
	} {
		if status, answer, _ := e.send(tt.token, "POST", tt.path, tt.kind, tt.body); status != tt.status || !strings.Contains(answer, tt.want) {
			t.Errorf("%s: %d %s, want %d with %s", tt.name, status, answer, tt.status, tt.want)
		}
	}
	want := func(method, path string, status int, want string) {
		t.Helper()
		if got, answer, _ := e.send("write", method, path, "", ""); got != status || !strings.Contains(answer, want) {
			t.Errorf("%s %s: %d %s, want %d with %s", method, path, got, answer, status, want)
		}
	}
	want("GET", "/api/components/demo/terms/edits/", 200, `"language_code":"cs","filename":"terms/cs.po","status":"pending","reason":"","source":["Branch"],"context":"git","base_target":[],"base_state":0,"target":["Větev"]`)
	want("DELETE", "/api/edits/1/", 200, `"result":true`)
	e.operator.onPush = func() {
		e.repo.Commit(t, testrepos.Change{Files: map[string]string{"terms/cs.po": e.po + "\nmsgid \"Tag\"\nmsgstr \"Značka\"\n"}})
		e.Sync()
	}
	if status, answer, _ := e.send("write", "POST", path, asForm, "source=Tag&target=Zna%C4%8Dka"); status != 200 || !strings.Contains(answer, `"source":["Tag"]`) || !strings.Contains(answer, `"target":["Značka"]`) {
		t.Errorf("a string that was pushed: %d %s", status, answer)
	}
	want("POST", "/api/edits/1/restore/", 202, "is served when")
	e.Verify()
}
