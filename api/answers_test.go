package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/repoglot/repoglot/api/rest"
)

var update = flag.Bool("update", false, "write testdata/answers.txtar anew")

// TestAnswers compares whole bodies with testdata/answers.txtar, including key
// order, escapes and number forms: each file there is named by a request. The
// bodies there are indented; indenting keeps order and escapes.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const golden = "testdata/answers.txtar"
	s := serve(demoWorld(t), Options{})
	archive, err := txtar.ParseFile(golden)
	must(t, err)
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
		must(t, os.WriteFile(golden, txtar.Format(archive), 0o644))
	}
}

func indent(tb testing.TB, body []byte) []byte {
	tb.Helper()
	var buf bytes.Buffer
	must(tb, json.Indent(&buf, body, "", "  "))
	buf.WriteByte('\n')
	return buf.Bytes()
}

// TestCompact: no blanks, no newline at the end, and no escapes that JSON does
// not require, except for the two line separators (docs/compatibility.md#json).
func TestCompact(t *testing.T) {
	t.Parallel()
	body := get(t, serve(demoWorld(t), Options{}), "/api/translations/demo/app/cs/units/")
	var compact bytes.Buffer
	must(t, json.Compact(&compact, []byte(body)))
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
	s := serve(demoWorld(t), Options{})
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

// TestAttachment: no name breaks out of its quotes, and clients read it back.
func TestAttachment(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"app.pot": "app.pot", "a b.pot": "a b.pot", "žluť.pot": "žluť.pot", `q".pot`: `q".pot`, "x\r\nSet-Cookie: a=b": "x\r\nSet-Cookie: a=b",
		`a\b`: `a\b`, "100%.po": "100%.po", "a@b:c=d.po": "a@b:c=d.po",
	} {
		header := attachment(name, false)
		for _, c := range header {
			if c < ' ' || c > '~' {
				t.Errorf("%q: header %q", name, header)
			}
		}
		kind, attrs, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" || attrs["filename"] != want {
			t.Errorf("%q: %q is read as %q (%v)", name, header, attrs["filename"], err)
		}
	}
}

// TestCSV: nested objects, arrays, null, and what CSV has to quote.
func TestCSV(t *testing.T) {
	t.Parallel()
	got, err := renderCSV([]any{
		map[string]any{"a": map[string]any{"b": 1, "c": []string{"x", "y"}}, "z": nil},
		map[string]any{"a": map[string]any{"b": true}, "z": "q\"u,o\nte", "more": "<&>"},
	})
	want := "a.b,a.c.0,a.c.1,z,more\n1,x,y,,\ntrue,,,\"q\"\"u,o\nte\",<&>\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	for _, empty := range []any{[]int{}, []any{map[string]any{}}} {
		if got, err := renderCSV(empty); err != nil || strings.TrimSpace(string(got)) != "" {
			t.Errorf("%v: %v %q", empty, err, got)
		}
	}
}

// TestEncodings: the body is the same in every encoding.
func TestEncodings(t *testing.T) {
	t.Parallel()
	s := serve(bigWorld(t, 60), Options{CacheBytes: 1 << 20})
	plain := ask(s, http.MethodGet, cacheTarget).Body.Bytes()
	for _, encoding := range []string{"gzip", "zstd"} {
		body := ask(s, http.MethodGet, cacheTarget, "Accept-Encoding", encoding).Body.Bytes()
		if got := decoded(t, encoding, body); !bytes.Equal(got, plain) {
			t.Errorf("%s: %d bytes, want %d", encoding, len(got), len(plain))
		}
	}
	// What a client accepts may be in several lines.
	req, rec := request(http.MethodGet, cacheTarget), httptest.NewRecorder()
	req.Header["Accept-Encoding"] = []string{"identity;q=0.5", "gzip"}
	s.ServeHTTP(rec, req)
	if got := rec.Header().Get("Content-Encoding"); got != "gzip" || !bytes.Equal(decoded(t, "gzip", rec.Body.Bytes()), plain) {
		t.Errorf("two lines: %q", got)
	}
}

// TestCompressTogether: one answer at a time uses a compressor, and the next one
// does not change its bytes.
func TestCompressTogether(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			type made struct{ body, gzip, zstd []byte }
			var list []made
			for i := range 50 {
				body := bytes.Repeat(fmt.Appendf(nil, "%d of %d. ", i, worker), 1+i*i)
				list = append(list, made{body, compress(gzipped, body), compress(zstandard, body)})
			}
			for _, m := range list {
				for encoding, data := range map[string][]byte{"gzip": m.gzip, "zstd": m.zstd} {
					if got := decoded(t, encoding, data); !bytes.Equal(got, m.body) || cap(data) > len(data)+len(data)/4+32 {
						t.Errorf("%s: %d of %d bytes, %d kept for %d", encoding, len(got), len(m.body), cap(data), len(data))
					}
				}
			}
		})
	}
	all.Wait()
}

// TestChooseEncoding: RFC 9110 §12.5.3.
func TestChooseEncoding(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]encoding{
		"": identity, "gzip": gzipped, "gzip, zstd": zstandard, "zstd;q=0.5, gzip": gzipped, "x-gzip": gzipped,
		"br": identity, "*": zstandard, "*;q=0": identity, "gzip;q=0": identity, "gzip;q=0, *": zstandard,
		"identity, gzip;q=0.5": identity, "gzip;q=0.5": gzipped, "GZIP": gzipped, "gzip;q=x": identity,
		"gzip;q=2": identity, "zstd;q=0, gzip;q=0.001": gzipped, ",,;": identity,
	} {
		if got := chooseEncoding(header, minEncoded); got != want {
			t.Errorf("%q: %s, want %s", header, got.token(), want.token())
		}
	}
	if got := chooseEncoding("gzip", minEncoded-1); got != identity {
		t.Errorf("a small answer: %s", got.token())
	}
}
