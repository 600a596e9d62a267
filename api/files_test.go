package api

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/export"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

const csFile = "/api/translations/demo/app/cs/file/"

// TestFile: the bytes of the repository with what caches and resuming clients
// need.
func TestFile(t *testing.T) {
	const changedBody = `{"detail":"The object has changed since you read it: read it again."}`
	t.Parallel()
	s := serve(demoWorld(t), Options{CacheBytes: 1 << 20})
	rec := call(t, s, http.MethodGet, csFile)
	h := rec.Header()
	if rec.Code != 200 || rec.Body.String() != "# po/cs.po\n" || h.Get("Content-Type") != "text/x-gettext-catalog" ||
		h.Get("Content-Disposition") != `attachment; filename=demo-app-cs.po` ||
		h.Get("Last-Modified") != catalogtest.Now().Add(-time.Hour).Format(http.TimeFormat) || h.Get("Accept-Ranges") != "bytes" {
		t.Fatalf("%d %v %q", rec.Code, h, rec.Body)
	}
	etag, modified := h.Get("ETag"), h.Get("Last-Modified")
	if etag == "" || strings.HasPrefix(etag, "W/") {
		t.Fatalf("ETag %s is not strong", etag)
	}
	later := catalogtest.Now().Add(time.Hour).Format(http.TimeFormat)
	earlier := catalogtest.Now().Add(-2 * time.Hour).Format(http.TimeFormat)
	for _, tc := range []struct {
		header []string
		status int
		body   string
	}{
		{[]string{"If-None-Match", etag}, 304, ""},
		{[]string{"If-None-Match", `"other"`, "If-Modified-Since", later}, 200, "# po/cs.po\n"},
		{[]string{"If-Modified-Since", modified}, 200, "# po/cs.po\n"}, // dates of commits repeat
		{[]string{"If-Modified-Since", later}, 200, "# po/cs.po\n"},
		{[]string{"If-Match", etag}, 200, "# po/cs.po\n"},
		{[]string{"If-Match", `"other"`}, 412, changedBody},
		{[]string{"If-Unmodified-Since", modified}, 200, "# po/cs.po\n"},
		{[]string{"If-Unmodified-Since", earlier}, 412, changedBody},
		{[]string{"If-Match", etag, "If-Unmodified-Since", earlier}, 200, "# po/cs.po\n"},
		{[]string{"Range", "bytes=2-5", "If-Unmodified-Since", modified}, 200, "# po/cs.po\n"},
		{[]string{"Range", "bytes=2-5"}, 206, "po/c"},
		{[]string{"Range", "bytes=-4"}, 206, ".po\n"},
		{[]string{"Range", "bytes=2-5", "If-Range", etag}, 206, "po/c"},
		{[]string{"Range", "bytes=2-5", "If-Range", `"other"`}, 200, "# po/cs.po\n"},
		{[]string{"Range", "bytes=2-5", "If-Range", modified}, 200, "# po/cs.po\n"},
		{[]string{"Range", "bytes=99-"}, 416, ""},
		{[]string{"Accept", "application/x-none"}, 200, "# po/cs.po\n"},
	} {
		rec := call(t, s, http.MethodGet, csFile, tc.header...)
		if rec.Code != tc.status || tc.status != 416 && oldForm(rec.Body.String()) != tc.body {
			t.Errorf("%v: %d %q", tc.header, rec.Code, rec.Body)
		}
	}
	head := call(t, s, http.MethodHead, csFile)
	if head.Code != 200 || head.Body.Len() != 0 || head.Header().Get("Content-Length") != "11" || head.Header().Get("ETag") != etag {
		t.Errorf("HEAD: %d %v", head.Code, head.Header())
	}
	if body := get(t, s, csFile+"?format=api"); body != "# po/cs.po\n" {
		t.Errorf("format=api: %q", body)
	}
	if rec := call(t, s, http.MethodGet, "/api/translations/demo/app/en/file/"); rec.Header().Get("Content-Disposition") != `attachment; filename=demo-app-en.pot` {
		t.Errorf("source: %v", rec.Header())
	}
}

// TestFileProblems: bad requests get the recorded texts, and private files are
// not found.
func TestFileProblems(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for path, want := range map[string]string{
		csFile + "?format=json":                            `400 {"format":"File format is not compatible with this translation"}`,
		csFile + "?format=nope":                            `400 {"format":"File format is not compatible with this translation"}`,
		"/api/translations/demo/app/cs/file.json":          `400 {"format":"File format is not compatible with this translation"}`,
		"/api/translations/demo/app/cs/file.zip":           `400 {"format":"File format is not compatible with this translation"}`,
		"/api/translations/demo/app/cs/file.nope":          `404 {"detail":"Not found."}`,
		"/api/translations/demo/app/cs/units.xliff":        `404 {"detail":"Not found."}`,
		csFile + "?q=a":                                    `400 {"q":"A search needs a format: the file as it is in the repository has all strings."}`,
		"/api/projects/demo/languages/xx/file/":            `404 {"detail":"Not found."}`,
		"/api/translations/demo/app/xx/file/":              `404 {"detail":"Not found."}`,
		"/api/translations/demo/hidden/en/file/":           `404 {"detail":"Not found."}`,
		"/api/translations/demo/hidden/en/file/?format=po": `404 {"detail":"Not found."}`,
		"/api/components/demo/hidden/file/":                `404 {"detail":"Not found."}`,
		"/api/components/secret/lib/file/":                 `404 {"detail":"Not found."}`,
		"/api/components/demo/app/file/?format=zip:nope":   `400 {"format":"File format is not compatible with this translation"}`,
	} {
		rec := call(t, s, http.MethodGet, path)
		if got := wire.FormatID(int64(rec.Code)) + " " + oldForm(rec.Body.String()); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestFileSuffixes: a suffix is the parameter format
// (docs/compatibility.md#format-parameter).
func TestFileSuffixes(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	formats := []string{"api"}
	for _, f := range export.Formats() {
		formats = append(formats, f.Name)
	}
	described := sources(t, "resource", "openapi.yaml")
	for _, format := range formats {
		if f, _ := export.Lookup(format); !strings.Contains(described, "            "+strings.Split(f.MediaType, ";")[0]+":") && format != "api" {
			t.Errorf("openapi.yaml lacks the media type of %s", format)
		}
		got, want := call(t, s, http.MethodGet, strings.TrimSuffix(csFile, "/")+"."+format), call(t, s, http.MethodGet, csFile+"?format="+format)
		if got.Code != 200 || got.Body.String() != want.Body.String() || !reflect.DeepEqual(got.Header(), want.Header()) {
			t.Errorf("file.%s: %d %v, want %v", format, got.Code, got.Header(), want.Header())
		}
	}
	for _, path := range []string{"/api/components/demo/app/file", "/api/projects/demo/file"} {
		if rec := call(t, s, http.MethodGet, path+".zip"); rec.Code != 200 || rec.Header().Get("Content-Type") != rest.TypeZip {
			t.Errorf("%s.zip: %d %v", path, rec.Code, rec.Header())
		}
	}
}

// TestExports writes the odd strings in every format; msgfmt, if it is installed,
// reads the PO and makes the same MO from it.
func TestExports(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for format, kind := range map[string]string{
		"po": "text/x-po", "mo": "application/x-gettext-catalog", "csv": "text/csv", "xliff": "application/x-xliff+xml",
		"xliff11": "application/x-xliff+xml", "tmx": "application/x-tmx",
		"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	} {
		rec := call(t, s, http.MethodGet, csFile+"?format="+format)
		if rec.Code != 200 || rec.Header().Get("Content-Type") != kind+"; charset=utf-8" || !strings.Contains(rec.Header().Get("Content-Disposition"), "demo-app-cs.") {
			t.Errorf("%s: %d %v", format, rec.Code, rec.Header())
		}
	}
	po, mo := get(t, s, csFile+"?format=po"), get(t, s, csFile+"?format=mo")
	for _, want := range []string{
		"\"Language: cs\\n\"", "msgctxt \"menu\"\nmsgid \"Open\"\nmsgstr \"Otevři\"", "#, fuzzy\n#| msgid \"Old text\"\nmsgid \"New text\"",
		"msgid_plural \"%d bananas\"\nmsgstr[0] \"%d banán\"\nmsgstr[1] \"%d banány\"", "#: src/a.c:1 src/b.c:2\n#, c-format, no-wrap",
	} {
		if !strings.Contains(po, want) {
			t.Errorf("no %s in\n%.3000s", want, po)
		}
	}
	if strings.Contains(mo, "Starý text") || !strings.Contains(mo, "menu\x04Open\x00") {
		t.Error("MO has a fuzzy string, or lacks the string of the menu")
	}
	found := get(t, s, csFile+"?format=api?format=po&q=context:menu")
	if strings.Count(found, "\nmsgid ") != 1 || !strings.Contains(found, "Otevři\"") {
		t.Errorf("q: %s", found)
	}
	if _, err := exec.LookPath("msgfmt"); err != nil {
		t.Skip("skipped: msgfmt is not installed (apt-get install gettext)")
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "cs.po"), filepath.Join(dir, "cs.mo")
	must(t, os.WriteFile(in, []byte(po), 0o600))
	if text, err := exec.CommandContext(t.Context(), "msgfmt", "--no-hash", "-o", out, in).CombinedOutput(); err != nil {
		t.Fatalf("msgfmt: %v\n%s", err, text)
	}
	theirs, err := os.ReadFile(out)
	must(t, err)
	if string(theirs) != mo {
		t.Errorf("our MO has %d bytes, msgfmt's %d, or they differ", len(mo), len(theirs))
	}
}

// TestArchives: files of components and projects, the same bytes each time, and
// nothing private.
func TestArchives(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for path, want := range map[string]string{
		"/api/components/demo/app/file/":        "po/app.pot po/cs.po po/cs_CZ.po po/sr@latin.po",
		"/api/projects/demo/file/":              "app/po/app.pot app/po/cs.po app/po/cs_CZ.po app/po/sr@latin.po",
		"/api/projects/demo/languages/cs/file/": "app/po/cs.po",
	} {
		rec := call(t, s, http.MethodGet, path+"?format=api")
		body := rec.Body.Bytes()
		z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
		if err != nil || rec.Code != 200 || rec.Header().Get("Content-Type") != "application/zip" {
			t.Fatalf("%s: %d %v %v", path, rec.Code, rec.Header(), err)
		}
		var names []string
		for _, f := range z.File {
			names = append(names, f.Name)
			r, err := f.Open()
			must(t, err)
			data, err := io.ReadAll(r)
			if err != nil || !strings.HasSuffix(f.Name, strings.TrimSpace(string(data[2:]))) || !f.Modified.Equal(catalogtest.Now().Add(-time.Hour).Truncate(time.Second)) {
				t.Errorf("%s: %q, %v, %v", f.Name, data, f.Modified, err)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s", path, got)
		}
		if again := call(t, s, http.MethodGet, path).Body.Bytes(); !bytes.Equal(again, body) {
			t.Errorf("%s: other bytes the second time", path)
		}
		etag := rec.Header().Get("ETag")
		if rec := call(t, s, http.MethodGet, path, "If-None-Match", etag); rec.Code != 304 || rec.Body.Len() != 0 || etag == "" {
			t.Errorf("%s: If-None-Match %s: %d", path, etag, rec.Code)
		}
		if rec := call(t, s, http.MethodHead, path); rec.Code != 200 || rec.Body.Len() != 0 || rec.Header().Get("ETag") != etag {
			t.Errorf("HEAD %s: %d %v", path, rec.Code, rec.Header())
		}
	}
}

// TestDownloadsBounded: a client gets 503 while too many downloads run.
func TestDownloadsBounded(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	free := useUp(t, s.shares.downloads)
	for _, path := range []string{csFile + "?format=po", "/api/components/demo/app/file/"} {
		if rec := call(t, s, http.MethodGet, path); rec.Code != 503 || rec.Header().Get("Retry-After") != "5" {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
	free()
	get(t, s, "/api/components/demo/app/file/")
	get(t, s, csFile+"?format=po")
}

// TestNewTemplate: the bytes of the POT, as an attachment; 404 without new_base
// or before the first import.
func TestNewTemplate(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := serve(w, Options{})
	rec := call(t, s, http.MethodGet, "/api/components/demo/app/new_template/?format=api")
	if rec.Code != 200 || rec.Body.String() != "# po/app.pot\n" || rec.Header().Get("Content-Type") != "application/binary" ||
		rec.Header().Get("Content-Disposition") != `attachment; filename="app.pot"` {
		t.Errorf("%d %v %q", rec.Code, rec.Header(), rec.Body)
	}
	const template = "/api/components/demo/app/new_template/"
	if rec.Header().Get("Last-Modified") == "" {
		t.Error(rec.Header())
	}
	wantStatus(t, s, 304, template, "If-None-Match", rec.Header().Get("ETag"))
	wantAnswer(t, s, 206, "po", template, "Range", "bytes=2-3")
	wantStatus(t, s, 416, template, "Range", "bytes=99-")
	w.Import("demo/docs", repoDocs, "", sourceFile(nil)) // without new_base
	rec = call(t, s, http.MethodGet, "/api/components/demo/docs/new_template/")
	if rec.Code != 404 || oldForm(rec.Body.String()) != `{"detail":"No template found!"}` || rec.Header().Get("Content-Disposition") != "" {
		t.Errorf("%d %v %q", rec.Code, rec.Header(), rec.Body)
	}
}
