package resource_test

import (
	"archive/zip"
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

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
	free := hold(writer, pool.Share-small)
	edit("write", 200)
	kind, body := form(t, "#"+strings.Repeat(" long", small))
	if status, answer, _ := e.send("write", "POST", "/api/translations/demo/app/cs/file/", kind, body); status != 429 {
		t.Errorf("a file that is over the share: %d %s", status, answer)
	}
	more := hold(writer, small)
	edit("write", 429)
	edit("admin", 200)
	all := hold("another", pool.Share)
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
	for _, mib := range []int{33, 49} { // beyond the bound of a file, and beyond a client's share
		kind, body := form(t, strings.Repeat("#\n", mib<<19))
		for token, want := range map[string]int{"Token " + e.tokens["write"]: 413, "Token none": 401} {
			if got := sendFirst(t, e.srv.Listener.Addr(), "/api/translations/demo/app/cs/file/", token, kind, body); got != want {
				t.Errorf("a file of %d MiB: %d, want %d", mib, got, want)
			}
		}
	}
}

// sendFirst posts a body as most clients do, who read the answer when they have sent all of
// it, and returns its status.
func sendFirst(t *testing.T, to net.Addr, path, token, kind, body string) int {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), to.Network(), to.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: l10n.example.org\r\nAuthorization: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", path, token, kind, len(body))
	if _, err := io.WriteString(conn, head+body); err != nil {
		t.Errorf("%d bytes: %v", len(body), err)
		return 0
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
