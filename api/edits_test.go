package api_test

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// editor is a server that takes edits, with a component "app" that does, one,
// "closed", that does not, one, "silent", that takes no suggestions, and a glossary, "terms".
type editor struct {
	*catalogtest.Puller
	t      *testing.T
	srv    *httptest.Server
	pools  limit.Pools
	tokens map[string]string
	units  map[string]string // paths by component and source
	repo   *testrepos.Repo
	po     string // of all components

	operator operator
}

func newEditor(t *testing.T) *editor {
	t.Helper()
	repo := testrepos.Empty(t)
	po := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=3; plural=n==1 ? 0 : n>=2 && n<=4 ? 1 : 2;\\n\"\n\nmsgid \"Open\"\nmsgstr \"\"\n\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\nmsgstr[2] \"\"\n\n#, read-only\nmsgid \"Fixed\"\nmsgstr \"Pevné\"\n"
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po, "doc/cs.po": po, "quiet/cs.po": po, "terms/cs.po": po}})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{
		"app":    {Edits: catalog.Edits{Mode: catalog.PushDirect}, EnableSuggestions: true},
		"silent": {Edits: catalog.Edits{Mode: catalog.PushDirect}, Filemask: "quiet/*.po"},
		"closed": {Filemask: "doc/*.po"},
		"terms":  {Edits: catalog.Edits{Mode: catalog.PushDirect}, Filemask: "terms/*.po", IsGlossary: true},
	})
	w.Sync()
	e := &editor{Puller: w, t: t, repo: repo, po: po, tokens: map[string]string{}, units: map[string]string{}}
	for name, token := range map[string]catalog.Token{
		"read": {Scope: catalog.ScopeRead}, "write": {Scope: catalog.ScopeWrite, AuthorName: "Jana Nováková", AuthorEmail: "jana@example.org"},
		"german": {Scope: catalog.ScopeWrite, Languages: catalog.Names("de")}, "other": {Scope: catalog.ScopeWrite, Projects: catalog.Names("other")},
		"admin": {Scope: catalog.ScopeAdmin},
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
	s := api.New(api.Options{DB: w.DB, Languages: w.Languages, Edits: w.Editor, Files: w.Editor, Operations: &e.operator, CacheBytes: 1 << 20})
	e.srv, e.pools = httptest.NewServer(s), s.Pools()
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

// pool is one of those that clients share.
func (e *editor) pool(name string) *limit.Pool {
	return e.pools[slices.IndexFunc(e.pools, func(p *limit.Pool) bool { return p.Name() == name })]
}

// client is how a token is named in pools.
func (e *editor) client(token string) string {
	e.t.Helper()
	var found catalog.Token
	err := e.DB.Read(e.t.Context(), func(ctx context.Context, snap *store.Snapshot) (err error) {
		found, _, _, err = snap.Token(ctx, e.tokens[token])
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return limit.Token(found.ID)
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
		{"scope read", "read", "PATCH", opened, asJSON, `{}`, 403, "needs a token of scope write"},
		{"scope read, closed", "read", "PATCH", e.units["closed cs Open"], asJSON, `{}`, 403, `{"detail":"You do not have permission to perform this action. This cannot be changed through the API, with any token`},
		{"scope read, nothing", "read", "PATCH", "/api/units/1/", asJSON, `{}`, 403, `{"detail":"You do not have permission to perform this action. This cannot be changed through the API, with any token`},
		{"stranger", "", "PATCH", opened, asJSON, `{"target": ["x"], "state": 20}`, 401, `"detail":"Authentication credentials were not provided. To edit this, send a token of scope write: Authorization: Token KEY."`},
		{"stranger, closed", "", "PATCH", e.units["closed cs Open"], asJSON, `{}`, 401, `{"detail":"Authentication credentials were not provided. This cannot be changed through the API, with any token`},
		{"stranger, nothing", "", "PATCH", "/api/units/1/", asJSON, `{}`, 401, `{"detail":"Authentication credentials were not provided. This cannot be changed through the API, with any token`},
		{"component without push_mode", "write", "PATCH", e.units["closed cs Open"], asJSON, `{"target": ["x"], "state": 20}`, 403, `{"detail":"You do not have permission to perform this action. This cannot be changed through the API, with any token: push`},
		{"no such write", "write", "POST", "/api/translations/demo/app/cs/units/", asJSON, `{}`, 403, `"errors":[{"code":"permission_denied","detail":"You do not have permission to perform this action. This cannot be changed`},
		{"no such write, scope read", "read", "POST", "/api/translations/demo/app/cs/units/", asJSON, `{}`, 403, "This cannot be changed through the API, with any token"},
		{"no such write, nothing to edit", "other", "POST", "/api/translations/demo/app/cs/units/", asJSON, `{}`, 403, "This cannot be changed through the API"},
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

// TestArchivesOfEdits: archives have files as they are in the repository, converted ones the
// strings as they are served; a kept one is not sent after an edit.
func TestArchivesOfEdits(t *testing.T) {
	e := newEditor(t)
	open := func(query string) (text string) {
		t.Helper()
		status, body, _ := e.send("", "GET", "/api/components/demo/app/file/"+query, "", "")
		z, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
		if status != 200 || err != nil {
			t.Fatalf("%s: status %d, %v", query, status, err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			text += string(data)
		}
		return text
	}
	raw, csv := open(""), open("?format=zip:csv")
	if !strings.Contains(raw, `msgid "Open"`) || !strings.Contains(csv, "Open") {
		t.Fatalf("without edits: %s\n%s", raw, csv)
	}
	if status, body, _ := e.send("write", "PATCH", e.units["app cs Open"], "application/json", `{"target":["Otevřít"],"state":20}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if now := open(""); now != raw {
		t.Errorf("an archive with an edit: %s", now)
	}
	if now := open("?format=zip:csv"); !strings.Contains(now, "Otevřít") {
		t.Errorf("a converted archive without the edit: %s", now)
	}
}

// operator counts operations.
type operator struct {
	pushes, pulls int
	clones        int
	commits       []int // numbers of translations
	fails         error
	onPush        func()
}

func (o *operator) Commit(_ context.Context, _ int64, translations []int64) (bool, error) {
	o.commits = append(o.commits, len(translations))
	return true, o.fails
}

func (o *operator) Push(context.Context, int64, *catalog.Token) (bool, error) {
	if o.pushes++; o.onPush != nil {
		o.onPush()
	}
	return true, o.fails
}

func (o *operator) Pull(context.Context, int64) (bool, error) {
	o.pulls++
	return false, nil
}

func (o *operator) Reclone(context.Context, int64) (bool, error) {
	o.clones++
	return true, o.fails
}

// form makes a multipart body.
func form(t *testing.T, file string, fields ...string) (kind, body string) {
	t.Helper()
	var b strings.Builder
	w := multipart.NewWriter(&b)
	if file != "" {
		part, err := w.CreateFormFile("file", "cs.po")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(part, file)
	}
	for i := 0; i < len(fields); i += 2 {
		_ = w.WriteField(fields[i], fields[i+1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.String()
}

// TestUpload uploads files by each method.
func TestUpload(t *testing.T) {
	e := newEditor(t)
	const path = "/api/translations/demo/app/cs/file/"
	po := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"Open\"\nmsgstr \"%s\"\n\nmsgid \"Unknown\"\nmsgstr \"Neznámé\"\n"
	for _, tt := range []struct {
		name, token, file string
		fields            []string
		status            int
		want              string
	}{
		{"translate", "write", "Otevřít", []string{"method", "translate"}, 200, `{"not_found":1,"skipped":0,"accepted":1,"total":2,"result":true,"count":2}`},
		{"again", "write", "Otevři", nil, 200, `"skipped":1,"accepted":0,"total":2,"result":false`},
		{"overwrite", "write", "Otevři", []string{"overwrite", "true"}, 200, `"skipped":0,"accepted":1`},
		{"fuzzy", "write", "Otvírej", []string{"method", "fuzzy", "conflicts", "replace-translated"}, 200, `"accepted":1`},
		{"suggest", "write", "Otevírat", []string{"method", "suggest"}, 200, `"accepted":1`},
		{"approve", "write", "x", []string{"method", "approve"}, 400, `"method":["This method is not available here."]`},
		{"conflicts", "write", "x", []string{"conflicts", "x"}, 400, `"conflicts":["\"x\" is not a valid choice."]`},
		{"author", "write", "x", []string{"author_name", "Eva"}, 403, "it needs a token of scope admin"},
		{"language", "german", "x", nil, 403, "the token is for other projects or languages"},
		{"read", "read", "x", nil, 403, "needs a token of scope write"},
	} {
		kind, body := form(t, strings.Replace(po, "%s", tt.file, 1), tt.fields...)
		if status, answer, _ := e.send(tt.token, "POST", path, kind, body); status != tt.status || !strings.Contains(answer, tt.want) {
			t.Errorf("%s: %d %s, want %d with %s", tt.name, status, answer, tt.status, tt.want)
		}
	}
	for name, tt := range map[string]struct {
		file   string
		fields []string
		want   string
	}{
		"empty":           {"", []string{"method", "replace"}, `"file":["The submitted file is empty."]`},
		"NUL":             {"msgid \"Open\"\nmsgstr \"x\x00\"\n", nil, `"file":["Line 2 has a NUL, which no text can have."]`},
		"another plural":  {"msgid \"\"\nmsgstr \"charset=UTF-8\\nPlural-Forms: nplurals=2; plural=n!=1;\\n\"\n\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"x\"\nmsgstr[1] \"y\"\n", nil, `"file":["Plural forms do not match the language."]`},
		"no address":      {po, []string{"author_name", "Eva", "author_email", "not an address"}, `"author_email":["Enter a valid email address."]`},
		"a very long one": {po, []string{"author_name", strings.Repeat("ž", 201)}, `"author_name":["Ensure this field has no more than 200 characters."]`},
	} {
		kind, body := form(t, cmp.Or(tt.file, "\x00"), tt.fields...)
		if tt.file == "" {
			body = strings.Replace(body, "\x00", "", 1)
		}
		if status, answer, _ := e.send("admin", "POST", path, kind, body); status != 400 || !strings.Contains(answer, tt.want) {
			t.Errorf("%s: %d %s, want 400 with %s", name, status, answer, tt.want)
		}
	}
	kind, body := form(t, strings.Replace(po, "%s", "a\\ab", 1), "method", "replace")
	if status, answer, _ := e.send("write", "POST", path, kind, body); status != 200 || !strings.Contains(answer, `"problems":["line 4: Control characters other than tab and line feed are not allowed, found U+0007"]`) {
		t.Errorf("a text that is skipped: %d %s", status, answer)
	}
	kind, body = form(t, "msgid")
	if status, answer, _ := e.send("write", "PUT", path, kind, body); status != 400 || !strings.Contains(answer, `"attr":"file"`) {
		t.Errorf("no PO file: %d %s", status, answer)
	}
	kind, body = form(t, "", "method", "translate")
	if status, answer, _ := e.send("write", "PUT", path, kind, body); status != 400 || !strings.Contains(answer, "No file was submitted.") {
		t.Errorf("no file: %d %s", status, answer)
	}
	kind, body = form(t, po, "method", "suggest")
	if status, answer, _ := e.send("write", "POST", "/api/translations/demo/silent/cs/file/", kind, body); status != 403 || !strings.Contains(answer, "suggestions are turned off") {
		t.Errorf("suggestions where they are turned off: %d %s", status, answer)
	}
	if _, answer, _ := e.send("", "GET", e.units["app cs Open"], "", ""); !strings.Contains(answer, `"target":["Otvírej"]`) || !strings.Contains(answer, `"state":10`) || !strings.Contains(answer, `"has_suggestion":true`) {
		t.Errorf("served: %s", answer)
	}
	if _, answer, _ := e.send("", "GET", e.units["app cs Open"]+"suggestions/", "", ""); !strings.Contains(answer, `"target":["Otevírat"]`) || !strings.Contains(answer, `"author_name":"Jana Nováková"`) {
		t.Errorf("the suggestion: %s", answer)
	}
	e.Verify()
}

// TestUploadsOfClients: bytes of edits are counted for each token and in total, until they
// are answered. A client over its share is refused before its body is in memory; the edits
// of others go on.
func TestUploadsOfClients(t *testing.T) {
	e := newEditor(t)
	pool := e.pool("uploads")
	writer := e.client("write")
	edit := func(token string, want int) {
		t.Helper()
		status, answer, header := e.send(token, "PATCH", e.units["app cs Open"], asJSON, `{"target": ["Otevřít `+token+`"], "state": 20}`)
		if status != want || (status != 200) != (header.Get("Retry-After") != "") {
			t.Errorf("%s: %d %s %q, want %d", token, status, answer, header.Get("Retry-After"), want)
		}
	}
	hold := func(client string, n int64) (free func()) {
		l := pool.Lease(client)
		if err := l.Take(n); err != nil {
			t.Fatal(err)
		}
		return l.Release
	}
	const small = 64 << 10
	free := hold(writer, pool.Share()-small)
	edit("write", 200)
	kind, body := form(t, "#"+strings.Repeat(" long", small))
	if status, answer, _ := e.send("write", "POST", "/api/translations/demo/app/cs/file/", kind, body); status != 429 {
		t.Errorf("a file that is over the share: %d %s", status, answer)
	}
	more := hold(writer, small)
	edit("write", 429)
	edit("admin", 200)
	all := hold("another", pool.Share())
	edit("admin", 503)
	free()
	more()
	all()
	edit("write", 200)
	if used := pool.Used(); used != 0 {
		t.Errorf("%d bytes are held by nobody", used)
	}
	if status, answer, _ := e.send("write", "PATCH", e.units["app cs Open"], asJSON, strings.Repeat(" ", 1<<20)+"{}"); status != 413 {
		t.Errorf("a long edit: %d %s", status, answer)
	}
}

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

// TestOperationsOfProject runs operations on the components of a project that take edits,
// on their branch once.
func TestOperationsOfProject(t *testing.T) {
	e := newEditor(t)
	const path = "/api/projects/demo/repository/"
	operate := func(token, operation string, status int, want string) {
		t.Helper()
		if got, answer, _ := e.send(token, "POST", path, asJSON, `{"operation": "`+operation+`"}`); got != status || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s, want %d with %s", operation, got, answer, status, want)
		}
	}
	takes := catalog.Edits{Mode: catalog.PushDirect}
	e.Configure(e.Branch.Remote.URL, "", map[string]catalog.ComponentSettings{"app": {Edits: takes}, "closed": {Filemask: "doc/*.po", Edits: takes}})
	e.Sync()
	operate("", "push", 401, "To edit this")
	operate("write", "push", 403, "it needs a token of scope admin")
	operate("other", "push", 403, "it needs a token of scope admin")
	operate("admin", "push", 200, `{"result":true}`)
	if e.operator.pushes != 1 {
		t.Errorf("%d pushes of one branch", e.operator.pushes)
	}
	both := []string{e.units["app cs Open"], e.units["closed cs Open"]}
	for _, unit := range both {
		if status, answer, _ := e.send("write", "PATCH", unit, asJSON, `{"target": ["Otevřít"], "state": 20}`); status != 200 {
			t.Errorf("%s: %d %s", unit, status, answer)
		}
	}
	operate("admin", "reset", 200, `{"result":true}`)
	for _, unit := range both {
		if _, answer, _ := e.send("", "GET", unit, "", ""); !strings.Contains(answer, `"target":[""]`) {
			t.Errorf("served after a reset: %s", answer)
		}
	}
	e.operator.fails = errors.New("declined")
	operate("admin", "push", 200, `{"result":false,"detail":"declined"}`)
}

// TestOperations runs operations on repositories, and takes edits back and restores them.
func TestOperations(t *testing.T) {
	e := newEditor(t)
	const path = "/api/components/demo/app/repository/"
	unit := e.units["app cs Open"]
	operate := func(token, operation string, status int, want string) {
		t.Helper()
		if got, answer, _ := e.send(token, "POST", path, asJSON, `{"operation": "`+operation+`"}`); got != status || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s, want %d with %s", operation, got, answer, status, want)
		}
	}
	operate("write", "push", 403, "it needs a token of scope admin")
	operate("read", "push", 403, "needs a token of scope write")
	operate("admin", "dance", 400, `"operation":["\"dance\" is not a valid choice."]`)
	for _, operation := range []string{"commit", "push", "cleanup", "reset-keep", "file-scan", "file-sync"} {
		operate("admin", operation, 200, `{"result":true}`)
	}
	operate("admin", "pull", 200, `{"result":true,"detail":"Another process was asked to."}`)
	if e.operator.pushes != 1 || e.operator.pulls != 1 || e.operator.clones != 3 || !slices.Equal(e.operator.commits, []int{1}) {
		t.Errorf("%+v", e.operator)
	}
	if status, answer, _ := e.send("admin", "POST", "/api/components/demo/closed/repository/", asJSON, `{"operation": "push"}`); status != 403 || !strings.Contains(answer, "cannot be changed") {
		t.Errorf("of a component that takes no edits: %d %s", status, answer)
	}
	e.operator.fails = errors.New("declined")
	operate("admin", "push", 200, `{"result":false,"detail":"declined"}`)
	if status, answer, _ := e.send("admin", "POST", path, asJSON, `{}`); status != 400 || !strings.Contains(answer, `"code":"required"`) {
		t.Errorf("no operation: %d %s", status, answer)
	}

	e.operator.fails = nil
	if status, answer, _ := e.send("admin", "DELETE", "/api/translations/demo/app/cs/", "", ""); status != 202 {
		t.Errorf("removal of a language: %d %s", status, answer)
	}
	removals := func(want string) {
		t.Helper()
		if _, answer, _ := e.send("", "GET", "/api/components/demo/app/edits/?kind=remove-file&status=pending", "", ""); !strings.Contains(answer, want) {
			t.Errorf("edits of files: %s, want %s", answer, want)
		}
	}
	for _, left := range [][2]string{{"en", `"results":[{"id":1,"kind":"remove-file","unit":null,`}, {"cs", `"count":0,`}} {
		if status, answer, _ := e.send("admin", "POST", "/api/translations/demo/app/"+left[0]+"/repository/", asJSON, `{"operation": "reset"}`); status != 200 {
			t.Errorf("reset of a translation: %d %s", status, answer)
		}
		removals(left[1])
	}
	e.send("write", "PATCH", unit, asJSON, `{"target": ["Otevřít"], "state": 20}`)
	operate("admin", "reset", 200, `{"result":true}`)
	served := func(want string) {
		t.Helper()
		if _, answer, _ := e.send("", "GET", unit, "", ""); !strings.Contains(answer, want) {
			t.Errorf("served: %s, want %s", answer, want)
		}
	}
	served(`"target":[""]`)
	if _, answer, _ := e.send("", "GET", "/api/components/demo/app/edits/", "", ""); !strings.Contains(answer, `"status":"discarded","reason":"reset"`) || strings.Contains(answer, "history") {
		t.Errorf("the journal: %s", answer)
	}
	if status, answer, _ := e.send("write", "POST", "/api/edits/2/restore/", "", ""); status != 200 {
		t.Errorf("restore: %d %s", status, answer)
	}
	served(`"target":["Otevřít"]`)
	if status, answer, _ := e.send("german", "DELETE", "/api/edits/3/", "", ""); status != 403 {
		t.Errorf("delete with another token: %d %s", status, answer)
	}
	if status, answer, _ := e.send("write", "DELETE", "/api/edits/3/", "", ""); status != 200 || !strings.Contains(answer, `{"result":true}`) {
		t.Errorf("delete: %d %s", status, answer)
	}
	served(`"target":[""]`)
	if _, answer, _ := e.send("", "GET", "/api/edits/3/", "", ""); !strings.Contains(answer, `"reason":"taken back"`) || !strings.Contains(answer, `"name":"Jana Nováková","event":"discarded"`) {
		t.Errorf("one edit: %s", answer)
	}
	if status, _, _ := e.send("write", "DELETE", "/api/edits/9/", "", ""); status != 404 {
		t.Errorf("no edit: %d", status)
	}
	e.Verify()
}

// TestLock locks and unlocks.
func TestLock(t *testing.T) {
	e := newEditor(t)
	const path = "/api/components/demo/app/lock/"
	edited := func(want int) {
		t.Helper()
		if status, answer, _ := e.send("write", "PATCH", e.units["app cs Open"], asForm, "target=x&state=20"); status != want {
			t.Errorf("an edit: %d %s, want %d", status, answer, want)
		}
	}
	for _, tt := range []struct {
		token, path, body string
		status            int
		want              string
	}{
		{"write", path, `{"lock": true}`, 403, "it needs a token of scope admin"},
		{"admin", path, `{}`, 400, `"lock":["This field is required."]`},
		{"admin", path, `{"lock": "perhaps"}`, 400, `"Must be a valid boolean."`},
		{"admin", "/api/components/demo/closed/lock/", `{"lock": true}`, 403, "This cannot be changed through the API"},
		{"admin", path, `{"lock": true}`, 200, `{"locked":true}`},
		{"admin", path, `{"lock": true}`, 200, `{"locked":true}`},
	} {
		if status, answer, _ := e.send(tt.token, "POST", tt.path, asJSON, tt.body); status != tt.status || !strings.Contains(answer, tt.want) {
			t.Errorf("%s %s: %d %s, want %d with %s", tt.token, tt.body, status, answer, tt.status, tt.want)
		}
	}
	if _, answer, _ := e.send("", "GET", path, "", ""); answer != `{"locked":true}` {
		t.Errorf("the lock: %s", answer)
	}
	edited(403)
	if _, answer, _ := e.send("admin", "POST", "/api/projects/demo/lock/", asForm, "lock=true"); answer != `{"locked":true}` {
		t.Errorf("locked with its project: %s", answer)
	}
	if _, answer, _ := e.send("", "GET", "/api/projects/demo/lock/", "", ""); answer != `{"locked":true}` {
		t.Errorf("the lock of the project, with a component that takes no edits: %s", answer)
	}
	if _, answer, _ := e.send("admin", "POST", "/api/projects/demo/lock/", asForm, "lock=false"); answer != `{"locked":false}` {
		t.Errorf("unlocked with its project: %s", answer)
	}
	edited(200)
	if _, answer, _ := e.send("", "GET", "/api/components/demo/app/changes/?action=14&action=15", "", ""); !strings.Contains(answer, `"count":2,`) || !strings.Contains(answer, "/api/users/admin/") {
		t.Errorf("entries: %s", answer)
	}
	e.Verify()
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
