package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// validatedAnswers bounds how many answers of one route and status a server of
// the tests holds against openapi.yaml: some tests ask thousands of times.
const validatedAnswers = 40

// Validated makes a server hold every answer that it renders against
// openapi.yaml, whoever asks and however, and returns it.
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

// TestValidatedSees makes sure that an answer which is not as described is
// noticed on its way out.
func TestValidatedSees(t *testing.T) {
	t.Parallel()
	complaints := &complaining{TB: t}
	s := Validated(complaints, bare(catalogtest.Demo(t), Options{}))
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
