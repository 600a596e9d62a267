package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// editor is a server that takes edits, with a component "app" that does and one,
// "closed", that does not.
type editor struct {
	*catalogtest.Puller
	t      *testing.T
	srv    *httptest.Server
	tokens map[string]string
	units  map[string]string // paths by component and source
}

func newEditor(t *testing.T) *editor {
	t.Helper()
	repo := testrepos.Empty(t)
	po := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=3; plural=n==1 ? 0 : n>=2 && n<=4 ? 1 : 2;\\n\"\n\nmsgid \"Open\"\nmsgstr \"\"\n\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\nmsgstr[2] \"\"\n\n#, read-only\nmsgid \"Fixed\"\nmsgstr \"Pevné\"\n"
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po, "doc/cs.po": po}})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{
		"app":    {Edits: catalog.Edits{Mode: catalog.PushDirect}},
		"closed": {Filemask: "doc/*.po"},
	})
	w.Sync()
	e := &editor{Puller: w, t: t, tokens: map[string]string{}, units: map[string]string{}}
	for name, token := range map[string]catalog.Token{
		"read": {Scope: catalog.ScopeRead}, "write": {Scope: catalog.ScopeWrite, AuthorName: "Jana Nováková", AuthorEmail: "jana@example.org"},
		"german": {Scope: catalog.ScopeWrite, Languages: catalog.Names("de")}, "other": {Scope: catalog.ScopeWrite, Projects: catalog.Names("other")},
	} {
		token.Name, token.Created = name, time.Now()
		secret, err := w.DB.CreateToken(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		e.tokens[name] = secret
	}
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		key := c.Slug + " " + tr.Language + " " + catalog.SplitForms(u.Source)[0]
		e.units[key] = "/api/units/" + json.Number(jsonText(t, u.ID)).String() + "/"
	})
	s := api.New(api.Options{DB: w.DB, Languages: w.Languages, Edits: w.Syncer, CacheBytes: 1 << 20})
	e.srv = httptest.NewServer(s)
	t.Cleanup(e.srv.Close)
	return e
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// send sends a request and returns status, body and headers.
func (e *editor) send(token, method, path, kind, body string, headers ...string) (int, string, http.Header) {
	e.t.Helper()
	req, err := http.NewRequestWithContext(e.t.Context(), method, e.srv.URL+path, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Token "+e.tokens[token])
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := e.srv.Client().Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return resp.StatusCode, string(data), resp.Header
}

const (
	asJSON = "application/json"
	asForm = "application/x-www-form-urlencoded"
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
		{"admin of nothing", "read", "PATCH", opened, asJSON, `{}`, 403, `{"detail":"You do not have permission to perform this action. This server is read-only`},
		{"stranger", "", "PATCH", opened, asJSON, `{}`, 401, `{"detail":"Authentication credentials were not provided. This server is read-only`},
		{"component without push_mode", "write", "PATCH", e.units["closed cs Open"], asJSON, `{"target": ["x"], "state": 20}`, 403, `{"detail":"You do not have permission to perform this action. This server is read-only`},
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
		{"DELETE", "write", "DELETE", opened, "", "", 403, `read-only`},
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
