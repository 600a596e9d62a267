package api

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web"
)

// serveKept answers a request from the cache, before it is routed, and reports
// whether it could.
func (s *Server) serveKept(w http.ResponseWriter, req *http.Request) bool {
	key, ok := s.keyOf(req)
	if !ok || !s.db.Reached() {
		return false
	}
	x := s.begin(w, req)
	found, rt := s.cache.get(key, s.db.Published(), x.started)
	if found == nil {
		return false
	}
	x.rt = rt
	a := s.choose(found, key, req)
	done := a.body.send(x, a.header)
	x.observe(done, s.now().Sub(x.started))
	return true
}

// keyOf returns the key of a request; ok is false if its answer cannot be
// cached.
func (s *Server) keyOf(req *http.Request) (key cacheKey, ok bool) {
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
	if web.Paths(req.URL.Path) {
		accept = s.pages.Key(req)
	}
	return cacheKey{base, targetOf(req), accept, rest.AccessOf(req.Context()).Key()}, len(accept) < maxKept
}

// targetOf is the request's target as the client sent it. Routing does not
// change it.
func targetOf(req *http.Request) string {
	if req.RequestURI != "" {
		return req.RequestURI
	}
	return req.URL.RequestURI() // a request made by this program
}

// maxKept bounds the Accept header of an answer that is cached.
const maxKept = 1 << 10

// choose makes the answer to one request: the body in the encoding that the
// client likes best, or a 304 (docs/compatibility.md#conditional-requests).
func (s *Server) choose(v *variants, key cacheKey, req *http.Request) answer {
	e := chooseEncoding(accepted(req), len(v.plain))
	switch {
	case v.failed(req, v.tags):
		a := newFailure(errChanged, 0)
		a.at = v.at
		return a
	case matchesAny(v.tags, req.Header.Values("If-None-Match"), weak):
		return v.notModified(e)
	case v.parts && req.Header.Get("Range") != "":
		e = identity // parts are parts of the file itself
	}
	a := answer{header: v.header}
	var grown int
	a.body, grown = v.in(e)
	if grown > 0 {
		s.cache.grew(key, v, grown)
	}
	a.etag, a.encoding = v.tags[e], e.contentEncoding()
	return a
}

// failed reports whether a condition of a request is not met (RFC 9110 §13.1.1, §13.1.4):
// If-Match names no ETag of the answer, or it is newer than If-Unmodified-Since.
//
// If-Modified-Since is not read. The dates of commits repeat and go back, and so may those
// of a database that was restored: other bytes would count as those that the client has.
func (h *header) failed(req *http.Request, tags [encodings]string) bool {
	if match := req.Header.Values("If-Match"); len(match) > 0 {
		return !matchesAny(tags, match, "")
	}
	since, err := http.ParseTime(req.Header.Get("If-Unmodified-Since"))
	return err == nil && h.modified.Truncate(time.Second).After(since)
}

// accepted is what the client says about encodings, in one header line or several.
func accepted(req *http.Request) string {
	return strings.Join(req.Header.Values("Accept-Encoding"), ",")
}

// weak is what If-None-Match may have before an ETag (RFC 9110 §13.1.2).
const weak = "W/"

// matchesAny reports whether a header names one of the ETags of an answer, or all by "*":
// the encodings stand for the same content. What is ignored stands before ETags.
func matchesAny(tags [encodings]string, header []string, ignored string) bool {
	for item := range strings.SplitSeq(strings.Join(header, ","), ",") {
		item = strings.TrimPrefix(strings.TrimSpace(item), ignored)
		if item == "*" || slices.Contains(tags[:], item) {
			return true
		}
	}
	return false
}
