package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/labstack/echo/v4"
)

// validatedAnswers bounds how many answers of one route and status a server of
// the tests holds against openapi.yaml: some tests ask thousands of times.
const validatedAnswers = 40

// Validated makes a server hold every JSON answer to a GET against openapi.yaml,
// whoever asks, and returns it.
func Validated(tb testing.TB, s *Server) *Server {
	tb.Helper()
	type key struct {
		route  string
		status int
	}
	var mu sync.Mutex
	seen := map[key]int{}
	s.echo.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if c.Request().Method != http.MethodGet {
				return next(c)
			}
			res := c.Response()
			rec := &recorded{ResponseWriter: res.Writer}
			res.Writer = rec
			err := next(c)
			res.Writer = rec.ResponseWriter
			k := key{described(c.Path()), res.Status}
			mu.Lock()
			seen[k]++
			due := seen[k] <= validatedAnswers
			mu.Unlock()
			if due && rec.Header().Get("Content-Type") == typeJSON && res.Status != http.StatusNotModified {
				validate(tb, k.route, k.status, decoded(tb, rec.Header().Get("Content-Encoding"), rec.body.Bytes()))
			}
			return err
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

// recorded keeps a copy of JSON bodies.
type recorded struct {
	http.ResponseWriter
	body bytes.Buffer
}

func (r *recorded) Write(p []byte) (int, error) {
	if r.Header().Get("Content-Type") == typeJSON {
		r.body.Write(p)
	}
	return r.ResponseWriter.Write(p)
}

// Unwrap lets streams flush and set deadlines.
func (r *recorded) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// TestValidatedSees makes sure that an answer which is not as described is
// noticed on its way out.
func TestValidatedSees(t *testing.T) {
	t.Parallel()
	complaints := &complaining{TB: t}
	s := Validated(complaints, demoWorld(t).bare(Options{}))
	for _, path := range []string{"/api/", "/api/nope/", "/api/units/268435457/", "/api/search/?q=a"} {
		send(s, http.MethodGet, path)
	}
	if complaints.n != 0 {
		t.Fatalf("%d complaints about good answers", complaints.n)
	}
	s.echo.GET("/api/groups/:id/", func(c echo.Context) error {
		c.Response().Header().Set("Content-Type", typeJSON)
		_, err := c.Response().Write([]byte(`{"id":1}`))
		return err
	})
	s.echo.GET("/api/components/:project/:component/lock/", func(c echo.Context) error {
		c.Response().Header().Set("Content-Type", typeJSON)
		_, err := c.Response().Write([]byte(`{"locked":"no"}`))
		return err
	})
	send(s, http.MethodGet, "/api/groups/1/")
	if complaints.n == 0 {
		t.Error("no complaint about a path that is not described")
	}
	before := complaints.n
	send(s, http.MethodGet, "/api/components/demo/app/lock/")
	if complaints.n == before {
		t.Error("no complaint about a wrong type")
	}
}

// complaining counts errors instead of failing.
type complaining struct {
	testing.TB
	n int
}

func (c *complaining) Errorf(string, ...any) { c.n++ }
