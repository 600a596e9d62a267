package resource_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog/store"
)

// TestPatchUnit changes strings and is refused, each case with its answer.
func TestPatchUnit(t *testing.T) {
	e := newEditor(t)
	opened, files := e.units["app cs Open"], e.units["app cs %d file"]
	multipart := "--x\r\nContent-Disposition: form-data; name=\"state\"\r\n\r\n20\r\n--x\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\nVíceřádkový\r\ntext\r\n--x--\r\n"
	for _, tt := range []struct {
		name, token, method, path, kind, body string
		status                                int
		want                                  string
	}{
		{"json", "write", "PATCH", opened, asJSON, `{"target": ["Otevřít"], "state": 20}`, 200, `{"target":["Otevřít"],"state":20,"explanation":"","extra_flags":"","labels":[]}`},
		{"the same", "write", "PATCH", opened, asJSON, `{"target": ["Otevřít"], "state": "20"}`, 200, `"state":20`},
		{"form", "write", "PATCH", opened, asForm, "target=Otev%C5%99i&state=10", 200, `{"target":["Otevři"],"state":10`},
		{"multipart", "write", "PUT", opened, "multipart/form-data; boundary=x", multipart, 200, `"target":["Víceřádkový\ntext"]`},
		{"plural", "write", "PATCH", files, asJSON, `{"target": ["%d soubor", "%d soubory", "%d souborů"], "state": 20}`, 200, `"%d souborů"`},
		{"scope read", "read", "PATCH", opened, asJSON, `{}`, 403, "needs a token of scope write"},
		{"scope read, closed", "read", "PATCH", e.units["closed cs Open"], asJSON, `{}`, 403, `{"detail":"You do not have permission to perform this action. This cannot be changed through the API, with any token`},
		{"scope read, nothing", "read", "PATCH", "/api/units/1/", asJSON, `{}`, 403, `{"detail":"You do not have permission to perform this action. This cannot be changed through the API, with any token`},
		{"stranger", "", "PATCH", opened, asJSON, `{"target": ["x"], "state": 20}`, 401, `"detail":"Authentication credentials were not provided. To edit this, send a token of scope write: Authorization: Token KEY."`},
		{"stranger, closed", "", "PATCH", e.units["closed cs Open"], asJSON, `{}`, 401, `{"detail":"Authentication credentials were not provided. This cannot be changed through the API, with any token`},
		{"stranger, nothing", "", "PATCH", "/api/units/1/", asJSON, `{}`, 401, `{"detail":"Authentication credentials were not provided. This cannot be changed through the API, with any token`},
		{"component without push_mode", "write", "PATCH", e.units["closed cs Open"], asJSON, `{"target": ["x"], "state": 20}`, 403, `{"detail":"You do not have permission to perform this action. This cannot be changed through the API, with any token: push`},
		{"no such write", "write", "POST", "/api/translations/demo/closed/cs/units/", asJSON, `{}`, 403, `"errors":[{"code":"permission_denied","detail":"You do not have permission to perform this action. This cannot be changed`},
		{"no such write, scope read", "read", "POST", "/api/translations/demo/closed/cs/units/", asJSON, `{}`, 403, "This cannot be changed through the API, with any token"},
		{"no such write, nothing to edit", "other", "POST", "/api/translations/demo/closed/cs/units/", asJSON, `{}`, 403, "This cannot be changed through the API"},
		{"a percent sign", "write", "PATCH", opened, asForm, "target=%d x&state=20", 400, "write % as %25"},
		{"other language", "german", "PATCH", opened, asJSON, `{"target": ["x"], "state": 20}`, 403, "the token is for other projects or languages"},
		{"other project", "other", "PATCH", opened, asJSON, `{"target": ["x"], "state": 20}`, 403, "the token is for other projects or languages"},
		{"one of both", "write", "PATCH", opened, asJSON, `{"target": ["x"]}`, 400, `"Please provide both state and target for a partial update"`},
		{"PUT without state", "write", "PUT", opened, asJSON, `{"target": ["x"]}`, 400, `"attr":"state","`},
		{"forms", "write", "PATCH", files, asJSON, `{"target": ["x"], "state": 20}`, 400, `"target":["Number of plurals does not match"]`},
		{"approved", "write", "PATCH", opened, asJSON, `{"target": ["x"], "state": 30}`, 400, `"state":["Invalid state"]`},
		{"no state", "write", "PATCH", opened, asJSON, `{"target": ["x"], "state": "x"}`, 400, `"state":["Invalid state"]`},
		{"empty state", "write", "PATCH", opened, asJSON, `{"target": ["x"], "state": 0}`, 400, `"Can not use empty state with non empty target"`},
		{"empty target", "write", "PATCH", opened, asJSON, `{"target": [""], "state": 20}`, 400, `"Can not use non empty state with empty target"`},
		{"control character", "write", "PATCH", opened, asJSON, `{"target": ["a\u0000b"], "state": 20}`, 400, `Control characters`},
		{"read-only", "write", "PATCH", e.units["app cs Fixed"], asJSON, `{"target": ["x"], "state": 20}`, 403, `"detail":"The string is read-only."`},
		{"source", "write", "PATCH", e.units["app en Open"], asJSON, `{"target": ["x"], "state": 20}`, 403, `"detail":"The string is read-only."`},
		{"explanation", "write", "PATCH", opened, asJSON, `{"explanation": "x"}`, 403, `"detail":"Source strings properties can be set only on source strings"`},
		{"no unit", "write", "PATCH", "/api/units/1/", asJSON, `{}`, 404, `"code":"not_found"`},
		{"no JSON", "write", "PATCH", opened, asJSON, `[`, 400, `"code":"parse_error"`},
		{"no type", "write", "PATCH", opened, "text/plain", `x`, 415, `"code":"unsupported_media_type"`},
		{"too large", "write", "PATCH", opened, asForm, strings.Repeat("x", 2<<20), 413, `"detail":"The body is too large."`},
		{"DELETE", "write", "DELETE", opened, "", "", 403, `cannot be changed`},
	} {
		status, body, _ := e.send(tt.token, tt.method, tt.path, tt.kind, tt.body)
		if status != tt.status || !strings.Contains(body, strings.TrimSuffix(tt.want, `","`)) {
			t.Errorf("%s: %d %s, want %d with %s", tt.name, status, body, tt.status, tt.want)
		}
	}
	e.Verify()
}

// TestEditIsServed looks for an edit in everything that shows it, at once.
func TestEditIsServed(t *testing.T) {
	e := newEditor(t)
	unit := e.units["app cs Open"]
	get := func(path string) string {
		_, body, _ := e.send("", "GET", path, "", "")
		return body
	}
	for range 2 { // now they are in the cache
		get(unit)
		get("/api/translations/demo/app/cs/")
		get("/api/translations/demo/app/cs/file/")
	}
	_, _, header := e.send("write", "GET", unit, "", "")
	tag := header.Get("ETag")
	status, body, _ := e.send("write", "PATCH", unit, asJSON, `{"target": ["Otevřít"], "state": 20}`, "If-Match", tag)
	if status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if status, body, _ := e.send("write", "PATCH", unit, asJSON, `{"target": ["Jinak"], "state": 20}`, "If-Match", tag); status != 412 {
		t.Errorf("with an old ETag: %d %s", status, body)
	}
	for path, want := range map[string]string{
		unit:                                     `"target":["Otevřít"]`,
		unit + "?x":                              `"pending":true`,
		"/api/translations/demo/app/cs/units/":   `"pending":true`,
		"/api/translations/demo/app/cs/":         `"last_author":"Jana Nováková"`,
		"/api/translations/demo/app/cs/?x":       `"translated":2`,
		"/api/translations/demo/app/cs/file/":    `msgstr "Otevřít"`,
		"/api/translations/demo/app/cs/changes/": `"action":5,`,
		"/api/changes/?action=5":                 `"count":1,`,
		"/api/changes/?user=jana-novakova":       `"action_name":"New translation"`,
		"/api/translations/demo/app/cs/edits/":   `"status":"pending"`,
		"/api/components/demo/app/edits/":        `"authors":["Jana Nováková"]`,
		"/api/projects/demo/edits/":              `"count":1,"next":null,"previous":null,"results":[{"id":1,`,
		"/api/components/demo/app/repository/":   `"needs_commit":true,"needs_merge":false,"needs_push":true`,
		"/api/projects/demo/repository/":         `"needs_commit":true,`,
	} {
		if body := get(path); !strings.Contains(body, want) {
			t.Errorf("%s lacks %s: %s", path, want, body)
		}
	}
	if body := get("/api/components/demo/app/edits/?status=flushed"); !strings.Contains(body, `"count":0,`) {
		t.Errorf("of another status: %s", body)
	}
	if status, _, _ := e.send("", "GET", "/api/components/demo/app/edits/?status=x", "", ""); status != 400 {
		t.Errorf("of no status: %d", status)
	}
	if all := get("/api/components/demo/app/edits/") + get("/api/changes/") + get("/api/users/"); strings.Contains(all, "jana@example.org") {
		t.Errorf("an address is shown: %s", all)
	}
	e.Read(func(ctx context.Context, snap *store.Snapshot) error {
		_, err := snap.User(ctx, "jana-novakova")
		return err
	})
}

// TestWLCWrites runs Debian's wlc: what it does must be done, with status 0.
func TestWLCWrites(t *testing.T) {
	if _, err := exec.LookPath("wlc"); err != nil {
		t.Skip("skipped: wlc is not installed (apt-get install wlc)")
	}
	e := newEditor(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "up.po")
	if err := os.WriteFile(file, []byte("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"Open\"\nmsgstr \"Otevřít\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want string }{
		{"lock demo/app", ""},
		{"lock-status demo/app", `"locked": true`},
		{"commit demo/app", ""},
		{"pull demo/app", ""},
		{"unlock demo/app", ""},
		{"lock-status demo/app", `"locked": false`},
		{"upload demo/app/cs --input " + file, ""},
		{"upload demo/app/cs --method suggest --overwrite --input " + file, ""},
		{"show demo/app/cs", `"translated": 2`},
		{"push demo/app/cs", ""},
		{"reset demo/app", ""},
		{"cleanup demo/app", ""},
		{"show demo/app/cs", `"translated": 1`},
	} {
		args := append([]string{"--url", e.srv.URL + "/api/", "--key", e.tokens["admin"], "--format", "json"}, strings.Fields(tt.args)...)
		cmd := exec.CommandContext(t.Context(), "wlc", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), tt.want) || strings.Contains(string(out), "Traceback") {
			t.Errorf("wlc %s: %v\n%s", tt.args, err, out)
		}
	}
	if e.operator.pushes != 1 || e.operator.pulls != 1 || e.operator.clones != 1 || !slices.Equal(e.operator.commits, []int{1, 0}) { // the second of the reset
		t.Errorf("%+v", e.operator)
	}
}
