package api

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
)

// answerKept answers a request from the cache, before it is routed, and reports
// whether it could.
func (s *Server) answerKept(w http.ResponseWriter, req *http.Request) bool {
	key, ok := s.cacheKey(req)
	if !ok {
		return false
	}
	started := s.now()
	found, rt := s.cache.get(key, s.db.Published(), started)
	if found == nil {
		return false
	}
	a := s.coded(found, key, req)
	a.status = s.write(rt, w, req, a)
	s.observe(rt, req, a, s.now().Sub(started))
	return true
}

// answerCoded makes the answer to a request in the encoding and under the
// conditions of the request (decision 9), and keeps it for the next one.
func (s *Server) answerCoded(rt *resource.Route, c echo.Context) answer {
	req := c.Request()
	if req.Method != http.MethodGet && req.Method != http.MethodHead || rt.Handle == nil || rt.Kind == resource.KindEvents {
		return s.answer(rt, c)
	}
	key, ok := s.cacheKey(req)
	if !ok || rt.Kind == resource.KindLive {
		a, made := s.rendered(rt, c)
		if made == nil {
			return a
		}
		return s.coded(made, key, req)
	}
	a, made := s.flights.do(req.Context(), flightKey{key, s.db.Published()}, func() (answer, *coded) {
		a, made := s.rendered(rt, c)
		if made != nil && a.generation > 0 {
			s.cache.put(key, a.generation, rt, made)
		}
		return a, made
	})
	if made == nil {
		return a
	}
	return s.coded(made, key, req)
}

// rendered makes the answer to a request; made is nil if it is no
// success, and for a long answer or a download, which is not made yet.
func (s *Server) rendered(rt *resource.Route, c echo.Context) (a answer, made *coded) {
	a = s.answer(rt, c)
	if a.status == http.StatusOK && a.long == nil && a.download == nil {
		made = newCoded(a)
	}
	return a, made
}

// cacheKey returns the key of a request; ok is false if its answer cannot be
// kept.
func (s *Server) cacheKey(req *http.Request) (key cacheKey, ok bool) {
	if s.cache.budget == 0 || len(req.URL.RawQuery) > maxQuery || !rest.AccessOf(req.Context()).Cacheable() ||
		req.Method != http.MethodGet && req.Method != http.MethodHead {
		return key, false
	}
	base, err := s.settings.Load().baseURL(req)
	if err != nil {
		return key, false
	}
	accept := ""
	if lines := req.Header.Values("Accept"); len(lines) == 1 {
		accept = lines[0]
	} else if len(lines) > 1 {
		return key, false
	}
	return cacheKey{base, targetOf(req), accept, rest.AccessOf(req.Context()).Key()}, len(accept) < maxKept
}

// targetOf is what a client asked for, as it was sent: that of a request is the
// same before and after it was routed.
func targetOf(req *http.Request) string {
	if req.RequestURI != "" {
		return req.RequestURI
	}
	return req.URL.RequestURI() // made by this program
}

// maxKept bounds the Accept header of an answer that is kept.
const maxKept = 1 << 10

// coded is what is sent of an answer: all of it in the encoding that the client
// likes best, or that it has it already.
func (s *Server) coded(c *coded, key cacheKey, req *http.Request) answer {
	if header := req.Header.Values("If-None-Match"); len(header) > 0 && matchesAny(c.tags, header) {
		a := notModified(c.answer)
		a.etag = c.tags[chooseEncoding(req.Header.Get("Accept-Encoding"), len(c.body))]
		return a
	}
	e := chooseEncoding(req.Header.Get("Accept-Encoding"), len(c.body))
	if c.ranges {
		if !c.exact && unmodified(c.modified, req) || c.exact && unchanged(c.modified, req) {
			a := notModified(c.answer)
			a.etag = c.tags[e]
			return a
		}
		if req.Header.Get("Range") != "" {
			e = identity // parts are those of the file
		}
	}
	a := c.answer
	var made int
	a.body, made = c.in(e)
	if made > 0 {
		s.cache.grew(key, c, made)
	}
	a.etag = c.tags[e]
	if e != identity {
		a.encoding = e.token()
	}
	return a
}

// unmodified reports whether a client that says when it got the file has it
// still (RFC 9110 §13.1.3): an ETag, where it sends one, says more.
func unmodified(modified time.Time, req *http.Request) bool {
	since := req.Header.Get("If-Modified-Since")
	if modified.IsZero() || since == "" || req.Header.Get("If-None-Match") != "" {
		return false
	}
	at, err := http.ParseTime(since)
	return err == nil && !modified.Truncate(time.Second).After(at)
}

// unchanged is unmodified for what may become older: only the very time counts.
func unchanged(modified time.Time, req *http.Request) bool {
	since, err := http.ParseTime(req.Header.Get("If-Modified-Since"))
	return err == nil && unmodified(modified, req) && modified.Truncate(time.Second).Equal(since)
}
