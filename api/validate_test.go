package api

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/rest"
)

// validatedAnswers bounds how many answers of one route and status a server of
// the tests compares with openapi.yaml: some tests ask thousands of times.
const validatedAnswers = 40

// Validated makes a server compare every answer that it renders with
// openapi.yaml, and returns it.
func Validated(tb testing.TB, s *Server) *Server {
	tb.Helper()
	type key struct {
		method, route, media string
		status               int
	}
	var mu sync.Mutex
	seen := map[key]int{}
	s.echo.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			res := c.Response()
			rec := &recorded{ResponseWriter: res.Writer}
			res.Writer = rec
			if err := next(c); err != nil { // of an unknown path
				c.Error(err)
			}
			res.Writer = rec.ResponseWriter
			k := key{c.Request().Method, described(c.Path()), mediaOf(rec.Header()), res.Status}
			mu.Lock()
			seen[k]++
			due := seen[k] <= validatedAnswers
			mu.Unlock()
			if due {
				body := rec.body.Bytes()
				if !rec.cut {
					body = decoded(tb, rec.Header().Get("Content-Encoding"), body)
				}
				inspect(tb, &inspected{k.method, k.route, k.media, k.status, rec.Header(), body, rec.cut})
			}
			return nil
		}
	})
	return s
}

// decoded is a body without its encoding.
func decoded(tb testing.TB, encoding string, body []byte) []byte {
	tb.Helper()
	var err error
	switch encoding {
	case gzipped.token():
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = io.ReadAll(r)
		}
	case zstandard.token():
		var r *zstd.Decoder
		if r, err = zstd.NewReader(nil); err == nil {
			defer r.Close()
			body, err = r.DecodeAll(body, nil)
		}
	}
	if err != nil {
		tb.Errorf("a body in %s: %v", encoding, err)
	}
	return body
}

// described is the path of a route as openapi.yaml writes it.
func described(route string) string {
	return regexp.MustCompile(`:(\w+)`).ReplaceAllString(route, "{$1}")
}

// recorded keeps a copy of a body, up to maxRecorded bytes.
type recorded struct {
	http.ResponseWriter
	body bytes.Buffer
	cut  bool // there is more
}

const maxRecorded = 1 << 20

func (r *recorded) Write(p []byte) (int, error) {
	room := min(len(p), maxRecorded-r.body.Len())
	r.body.Write(p[:room])
	r.cut = r.cut || room < len(p)
	return r.ResponseWriter.Write(p)
}

// Unwrap lets streams flush and set deadlines.
func (r *recorded) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// TestValidatedSees: an answer that openapi.yaml does not describe is reported.
func TestValidatedSees(t *testing.T) {
	t.Parallel()
	complaints := &complaining{TB: t}
	s := Validated(complaints, bare(demoWorld(t), Options{}))
	for _, path := range []string{"/api/", "/api/nope/", "/api/units/268435457/", "/api/search/?q=a"} {
		send(s, http.MethodGet, path)
	}
	if complaints.n != 0 {
		t.Fatalf("%d complaints about good answers", complaints.n)
	}
	// Every route that is added here answers something that is not described.
	for _, wrong := range []struct{ method, route, path, media, body string }{
		{"GET", "/api/groups/:id/", "/api/groups/1/", rest.TypeJSON, `{"id":1}`},
		{"GET", "/api/components/:project/:component/lock/", "/api/components/demo/app/lock/", rest.TypeJSON, `{"locked":"no"}`},
		{"GET", "/api/components/:project/:component/", "/api/components/demo/app/", rest.TypeJSON, strings.Replace(get(t, s, "/api/components/demo/app/"), `{"name"`, `{"more":1,"name"`, 1)},
		{"GET", "/api/changes/", "/api/changes/", rest.TypeJSON, `{"count":0,"next":null,"previous":null,"results":[],"more":1}`},
		{"GET", "/api/users/", "/api/users/", rest.TypeLines, `{"username":"x"}` + "\n"},
		{"GET", "/api/projects/", "/api/projects/?format=csv", rest.TypeCSV, "a,b\n1\n"},
		{"GET", "/api/addons/", "/api/addons/", "text/plain", "none"},
		{"GET", "/api/roles/", "/api/roles/", rest.TypeHTML, "<p>none"},
		{"GET", "/exports/rss/", "/exports/rss/", "application/rss+xml", "<rss><channel></rss>"},
		{"GET", "/api/changes/stream/", "/api/changes/stream/", rest.TypeEvents, "event: change\ndata: {\"id\":1}\n\n"},
		{"GET", "/api/projects/:project/file/", "/api/projects/demo/file/", rest.TypeZip, "PK"},
		{"HEAD", "/api/memory/", "/api/memory/", "text/plain", ""},
		{"OPTIONS", "/api/units/", "/api/units/", rest.TypeJSON, `{"name":"x"}`},
		{"PUT", "/api/units/:id/", "/api/units/1/", rest.TypeJSON, `{"error":1}`},
		{"POST", "/api/projects/", "/api/projects/", "text/plain", "no"},
	} {
		s.echo.Add(wrong.method, wrong.route, func(c echo.Context) error {
			c.Response().Header().Set("Content-Type", wrong.media)
			if wrong.method == http.MethodPut {
				c.Response().WriteHeader(http.StatusForbidden)
			}
			_, err := io.WriteString(c.Response(), wrong.body)
			return err
		})
		before := complaints.n
		if send(s, wrong.method, wrong.path); complaints.n == before {
			t.Errorf("no complaint about %s %s: %s %s", wrong.method, wrong.path, wrong.media, wrong.body)
		}
	}
}

// complaining counts errors instead of failing.
type complaining struct {
	testing.TB
	n int
}

func (c *complaining) Errorf(string, ...any) { c.n++ }

// inspected is an answer that is compared with openapi.yaml.
type inspected struct {
	method string
	route  string // as openapi.yaml writes paths
	media  string // without parameters
	status int
	header http.Header
	body   []byte
	cut    bool // body is only its beginning
}

// mediaOf is the media type of an answer; "" for none.
func mediaOf(h http.Header) string {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return media
}

// inspect complains about an answer that openapi.yaml does not describe: its
// media type, and what it is made of.
func inspect(tb testing.TB, a *inspected) {
	tb.Helper()
	at := a.method + " " + a.route
	switch {
	case a.status == http.StatusNotModified && len(a.body) == 0, a.status == http.StatusFound && a.header.Get("Location") != "":
		return
	case a.status == http.StatusPartialContent: // of what is described for 200
		return
	case a.media == "text/html" && a.route != "/api/docs/": // the page of a resource (info.description)
		if len(a.body) > 0 && !bytes.HasPrefix(a.body, []byte("<!DOCTYPE html>")) {
			tb.Errorf("%s: not a page: %.80q", at, a.body)
		}
		return
	case a.method == http.MethodOptions && a.status == http.StatusOK:
		inspectJSON(tb, at, newValidator(tb).resolve("#/components/schemas/Options"), a.body)
		return
	}
	v := newValidator(tb)
	op := v.operation(a.route)
	read := a.method == http.MethodGet || a.method == http.MethodHead
	if op == nil || !read {
		if a.status < http.StatusBadRequest {
			tb.Errorf("%s: %d, which openapi.yaml does not describe", at, a.status)
			return
		}
		op = v.operation("/api/") // all have the same errors
	}
	schema := v.response(op, a.status, a.media)
	if schema == nil {
		tb.Errorf("%s: openapi.yaml does not describe %q for status %d", at, a.media, a.status)
		return
	}
	if a.method != http.MethodHead && !a.cut {
		inspectBody(tb, at, schema, itemOf(v, v.response(op, a.status, rest.TypeJSON)), a)
	}
}

// inspectBody looks into a body of the media types that have something to look
// at. item is the schema of the entries of a list, or nil.
func inspectBody(tb testing.TB, at string, schema, item map[string]any, a *inspected) {
	tb.Helper()
	var err error
	switch a.media {
	case rest.TypeJSON:
		inspectJSON(tb, at, schema, a.body)
	case rest.TypeLines:
		for line := range bytes.Lines(a.body) {
			inspectJSON(tb, at, item, line)
		}
	case rest.TypeEvents:
		change := newValidator(tb).resolve("#/components/schemas/Change")
		for event := range strings.SplitSeq(string(a.body), "\n\n") {
			if _, data, ok := strings.Cut(event, "\ndata: "); ok && strings.Contains(event, "event: change\n") {
				inspectJSON(tb, at, change, []byte(data))
			}
		}
	case "text/csv":
		_, err = csv.NewReader(bytes.NewReader(a.body)).ReadAll()
	case "application/zip":
		_, err = zip.NewReader(bytes.NewReader(a.body), int64(len(a.body)))
	case "application/rss+xml", "application/atom+xml", "image/svg+xml":
		d := xml.NewDecoder(bytes.NewReader(a.body))
		for err == nil {
			_, err = d.Token()
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		tb.Errorf("%s: not %s: %v in %.200q", at, a.media, err, a.body)
	}
}

// itemOf is the schema of a list's entries; nil if the schema is not a list's.
func itemOf(v *validator, schema map[string]any) map[string]any {
	if ref, ok := schema["$ref"].(string); ok {
		return itemOf(v, v.resolve(ref))
	}
	if item, ok := schema["items"].(map[string]any); ok {
		return item
	}
	properties, _ := schema["properties"].(map[string]any)
	results, _ := properties["results"].(map[string]any)
	if item, ok := results["items"].(map[string]any); ok {
		return item
	}
	parts, _ := schema["allOf"].([]any)
	for _, part := range parts {
		if item := itemOf(v, part.(map[string]any)); item != nil {
			return item
		}
	}
	return nil
}

// inspectJSON compares a JSON value with a schema.
func inspectJSON(tb testing.TB, at string, schema map[string]any, body []byte) {
	tb.Helper()
	if schema == nil {
		tb.Errorf("%s: openapi.yaml does not describe %.200s", at, body)
		return
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		tb.Errorf("%s: not JSON: %v in %.200q", at, err, body)
		return
	}
	v := newValidator(tb)
	v.check("$", schema, value)
	for _, p := range v.problems {
		tb.Errorf("%s: %s", at, p)
	}
}
