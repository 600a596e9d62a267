package resource_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestWriteErrors: the answer to a write that is refused has the keys of both of
// Weblate's forms, up to 5.9 and from 5.10, with the same text.
func TestWriteErrors(t *testing.T) {
	e := newEditor(t)
	unit, list, lock := e.units["app cs Open"], e.units["app cs Open"]+"suggestions/", "/api/components/demo/app/lock/"
	operate, file := "/api/components/demo/app/repository/", "/api/translations/demo/app/cs/file/"
	upload := func(po string, fields ...string) []string {
		kind, body := form(t, po, fields...)
		return []string{kind, body}
	}
	e.tokens["unknown"], e.tokens["none"], e.tokens["spaces"] = "rgt_UNKNOWN", "", "a b"
	for _, tt := range []struct {
		name, token, method, path string
		body                      []string // its type and text
		status                    int
		code, attr                string
	}{
		{"no token", "", "PATCH", unit, []string{asForm, "target=x&state=20"}, 401, "not_authenticated", ""},
		{"no token for an upload", "", "POST", file, upload("msgid"), 401, "not_authenticated", ""},
		{"unknown token", "unknown", "PATCH", unit, []string{asForm, "target=x&state=20"}, 401, "authentication_failed", ""},
		{"unknown token for an operation", "unknown", "POST", operate, []string{asForm, "operation=commit"}, 401, "authentication_failed", ""},
		{"no secret", "none", "PATCH", unit, []string{asForm, "target=x&state=20"}, 401, "authentication_failed", ""},
		{"spaces", "spaces", "PATCH", unit, []string{asForm, "target=x&state=20"}, 401, "authentication_failed", ""},
		{"scope read", "read", "PATCH", unit, []string{asForm, "target=x&state=20"}, 403, "permission_denied", ""},
		{"scope write", "write", "POST", lock, []string{asForm, "lock=true"}, 403, "permission_denied", ""},
		{"forms", "write", "PATCH", e.units["app cs %d file"], []string{asJSON, `{"target": ["x"], "state": 20}`}, 400, "invalid", "target"},
		{"one of both", "write", "PATCH", unit, []string{asForm, "target=x"}, 400, "invalid", "target"},
		{"PUT without state", "write", "PUT", unit, []string{asForm, "target=x"}, 400, "required", "state"},
		{"state", "write", "PATCH", unit, []string{asForm, "target=x&state=30"}, 400, "invalid", "state"},
		{"control character", "write", "PATCH", unit, []string{asForm, "target=%00&state=20"}, 400, "invalid", "target"},
		{"no JSON", "write", "PATCH", unit, []string{asJSON, "["}, 400, "parse_error", ""},
		{"no type", "write", "PATCH", unit, []string{"text/plain", "x"}, 415, "unsupported_media_type", ""},
		{"too large", "write", "PATCH", unit, []string{asForm, strings.Repeat("x", 2<<20)}, 413, "too_large", ""},
		{"read-only", "write", "PATCH", e.units["app cs Fixed"], []string{asForm, "target=x&state=20"}, 403, "permission_denied", ""},
		{"explanation", "write", "PATCH", unit, []string{asForm, "explanation=x"}, 403, "permission_denied", ""},
		{"language", "german", "PATCH", unit, []string{asForm, "target=x&state=20"}, 403, "permission_denied", ""},
		{"no unit", "write", "PATCH", "/api/units/1/", []string{asForm, "target=x&state=20"}, 404, "not_found", ""},
		{"suggestion without a text", "write", "POST", list, []string{asJSON, "{}"}, 400, "required", "target"},
		{"suggestions are off", "write", "POST", e.units["silent cs Open"] + "suggestions/", []string{asForm, "target=x"}, 403, "permission_denied", ""},
		{"no suggestion", "write", "POST", "/api/suggestions/9/accept/", []string{asForm, ""}, 404, "not_found", ""},
		{"method", "write", "POST", file, upload("msgid", "method", "approve"), 400, "invalid", "method"},
		{"no PO file", "write", "POST", file, upload("msgid"), 400, "invalid", "file"},
		{"no file", "write", "PUT", file, upload("", "method", "translate"), 400, "invalid", "file"},
		{"author", "write", "POST", file, upload("msgid \"\"\nmsgstr \"\"\n", "author_name", "Eva"), 403, "permission_denied", ""},
		{"lock without a value", "admin", "POST", lock, []string{asForm, ""}, 400, "required", "lock"},
		{"lock", "admin", "POST", lock, []string{asForm, "lock=x"}, 400, "invalid", "lock"},
		{"operation", "admin", "POST", operate, []string{asForm, "operation=x"}, 400, "invalid", "operation"},
		{"no operation", "admin", "POST", operate, []string{asForm, ""}, 400, "required", "operation"},
		{"no edit", "write", "DELETE", "/api/edits/9/", []string{asForm, ""}, 404, "not_found", ""},
		{"nothing to restore", "write", "POST", "/api/edits/9/restore/", []string{asForm, ""}, 404, "not_found", ""},
	} {
		status, body, _ := e.send(tt.token, tt.method, tt.path, tt.body[0], tt.body[1])
		var got map[string]json.RawMessage
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != tt.status {
			t.Errorf("%s: %d, want %d: %s", tt.name, status, tt.status, body)
			continue
		}
		var list []struct{ Code, Detail, Attr string }
		var kind, detail string
		var details []string
		if json.Unmarshal(got["errors"], &list) != nil || len(list) != 1 || list[0].Code != tt.code || list[0].Attr != tt.attr || list[0].Detail == "" {
			t.Errorf("%s: errors %s, want one of code %s about %q", tt.name, got["errors"], tt.code, tt.attr)
			continue
		}
		_ = json.Unmarshal(got["type"], &kind)
		if tt.attr == "" {
			_ = json.Unmarshal(got["detail"], &detail)
			details = []string{detail}
		} else {
			_ = json.Unmarshal(got[tt.attr], &details)
		}
		if want := map[bool]string{true: "client_error", false: "validation_error"}[tt.attr == ""]; kind != want || !slices.Equal(details, []string{list[0].Detail}) {
			t.Errorf("%s: type %q, want %q; %q, want %q", tt.name, kind, want, details, list[0].Detail)
		}
	}
}

// TestRefusedTokens: a bad token is told what to do where strings can be edited; elsewhere
// a server answers as one without edits does, byte for byte.
func TestRefusedTokens(t *testing.T) {
	e := newEditor(t)
	e.tokens["unknown"] = "rgt_UNKNOWN"
	const invalid = `{"detail":"Invalid token.","errors":[{"code":"authentication_failed","detail":"Invalid token.","attr":null}],"type":"client_error"}`
	for path, remedy := range map[string]bool{e.units["app cs Open"]: true, e.units["closed cs Open"]: false, "/api/units/1/": false, "/api/projects/demo/": false} {
		status, body, header := e.send("unknown", "PATCH", path, asJSON, `{"target": ["x"], "state": 20}`)
		if status != 401 || header.Get("WWW-Authenticate") != "Token" || strings.Contains(body, "repoglot token create") != remedy || !remedy && body != invalid {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, body, _ := e.send("unknown", "GET", e.units["app cs Open"], "", ""); status != 401 || body != invalid {
		t.Errorf("GET: %d %s", status, body)
	}
}

// TestEditUnit sends what `wlc edit-unit` of wlc 2.1.1 does (Unit.patch and invoke_request
// of its wlc/models.py and wlc/client.py): it reads the unit, and sends JSON to the address
// in its payload. Other clients send forms.
func TestEditUnit(t *testing.T) {
	e := newEditor(t)
	for kind, body := range map[string]string{
		asJSON: `{"target": ["%d soubor", "%d soubory", "%d souborů"], "state": 20}`,
		asForm: "target=%25d+soubor&target=%25d+soubory&target=%25d+soubor%C5%AF&state=20",
	} {
		status, answer, _ := e.send("write", "GET", e.units["app cs %d file"], "", "", "Accept", "application/json", "User-Agent", "wlc/2.0")
		var unit struct{ URL string }
		if err := json.Unmarshal([]byte(answer), &unit); err != nil || status != 200 || !strings.HasPrefix(unit.URL, e.srv.URL) {
			t.Fatalf("%d %s", status, answer)
		}
		status, answer, _ = e.send("write", "PATCH", strings.TrimPrefix(unit.URL, e.srv.URL), kind, body, "Accept", "application/json", "User-Agent", "wlc/2.0")
		if want := `{"target":["%d soubor","%d soubory","%d souborů"],"state":20,"explanation":"","extra_flags":"","labels":[]}`; status != 200 || strings.TrimSpace(answer) != want {
			t.Errorf("%s: %d %s", kind, status, answer)
		}
	}
}
