package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// answerKept answers a request from the cache, before it is routed, and reports
// whether it could.
func (s *Server) answerKept(w http.ResponseWriter, req *http.Request) bool {
	key, ok := s.cacheKey(req)
	if !ok {
		return false
	}
	started := s.now()
	found, rt := s.cache.get(key, s.db.Published())
	if found == nil {
		return false
	}
	a := s.coded(found, key, req)
	s.write(rt, w, req, a)
	s.observe(rt, req, a, s.now().Sub(started))
	return true
}

// answerCoded makes the answer to a request in the encoding and under the
// conditions of the request (decision 9), and keeps it for the next one.
func (s *Server) answerCoded(rt *route, c echo.Context) answer {
	req := c.Request()
	if req.Method != http.MethodGet && req.Method != http.MethodHead || rt.handle == nil || rt.kind == events {
		return s.answer(rt, c)
	}
	a := s.answer(rt, c)
	if a.status != http.StatusOK {
		return a
	}
	made := newCoded(a)
	key, ok := s.cacheKey(req)
	if ok && a.generation > 0 && rt.kind != live {
		s.cache.put(key, a.generation, rt, made)
	}
	return s.coded(made, key, req)
}

// cacheKey returns the key of a request; ok is false if its answer cannot be
// kept.
func (s *Server) cacheKey(req *http.Request) (key cacheKey, ok bool) {
	if s.cache.budget == 0 || len(req.URL.RawQuery) > maxQuery || !accessOf(req.Context()).kept() ||
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
	return cacheKey{base, req.URL.EscapedPath() + "?" + req.URL.RawQuery, accept, accessOf(req.Context()).key()}, len(accept) < maxKept
}

// maxKept bounds the Accept header of an answer that is kept.
const maxKept = 1 << 10

// coded is what is sent of an answer: all of it in the encoding that the client
// likes best, or that it has it already.
func (s *Server) coded(c *coded, key cacheKey, req *http.Request) answer {
	if header := req.Header.Values("If-None-Match"); len(header) > 0 && c.matches(header) {
		a := notModified(c.answer)
		a.etag = c.etag(chooseEncoding(req.Header.Get("Accept-Encoding"), len(c.body)))
		return a
	}
	e := chooseEncoding(req.Header.Get("Accept-Encoding"), len(c.body))
	a := c.answer
	var made int
	a.body, made = c.in(e)
	if made > 0 {
		s.cache.grew(key, c, made)
	}
	a.etag = c.etag(e)
	if e != identity {
		a.encoding = e.token()
	}
	return a
}
