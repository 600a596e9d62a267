package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

var update = flag.Bool("update", false, "write testdata/answers.txtar anew")

// TestAnswers compares whole bodies with testdata/answers.txtar, including key
// order, escapes and number forms: each file there is named by a request. The
// bodies there are indented; indenting keeps order and escapes.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const golden = "testdata/answers.txtar"
	s := serve(catalogtest.Demo(t), Options{})
	archive, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for i := range archive.Files {
		f := &archive.Files[i]
		rec := call(t, s, http.MethodGet, f.Name)
		body := rec.Body.Bytes()
		if rec.Header().Get("Content-Type") == rest.TypeJSON {
			body = indent(t, body)
		}
		if *update {
			f.Data = body
			continue
		}
		if diff := cmp.Diff(string(f.Data), string(body)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func indent(tb testing.TB, body []byte) []byte {
	tb.Helper()
	var buf bytes.Buffer
	if err := json.Indent(&buf, body, "", "  "); err != nil {
		tb.Fatal(err)
	}
	buf.WriteByte('\n')
	return buf.Bytes()
}

// TestCompact: no blanks, no newline at the end, and no escapes that JSON does
// not require, except for the two line separators (docs/compatibility.md#json).
func TestCompact(t *testing.T) {
	t.Parallel()
	body := get(t, serve(catalogtest.Demo(t), Options{}), "/api/translations/demo/app/cs/units/")
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(body)); err != nil {
		t.Fatal(err)
	}
	if compact.String() != body {
		t.Error("the body is not compact")
	}
	for _, want := range []string{`<b>světe</b> & vy!\n`, `quote\" back\\slash\ttab\u2028line 日本語 👍`, `"\u0001control"`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in the body", want)
		}
	}
}

func TestIndent(t *testing.T) {
	t.Parallel()
	s := serve(catalogtest.Demo(t), Options{})
	for accept, want := range map[string]string{
		"application/json; indent=2":            "{\n  \"users\":",
		"text/html, application/json; indent=1": "{\n \"users\":",
		"application/json; indent=99":           "{\n        \"users\":",
		"application/json; indent=-3":           "{\"users\":",
		"application/json; indent=x":            "{\"users\":",
	} {
		body := call(t, s, http.MethodGet, "/api/", "Accept", accept).Body.String()
		if !strings.HasPrefix(body, want) {
			t.Errorf("%s: %.30q", accept, body)
		}
	}
}
