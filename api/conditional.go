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
	e := chooseEncoding(req.Header.Get("Accept-Encoding"), len(v.plain))
	if header := req.Header.Values("If-None-Match"); len(header) > 0 && matchesAny(v.tags, header) {
		return v.notModified(e)
	}
	if v.parts {
		if v.fresh(req) {
			return v.notModified(e)
		}
		if req.Header.Get("Range") != "" {
			e = identity // parts are parts of the file itself
		}
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

// fresh reports whether the copy of a client that sends the time of it is still
// good.
func (h *header) fresh(req *http.Request) bool {
	if h.exact {
		return unchanged(h.modified, req)
	}
	return unmodified(h.modified, req)
}

// unmodified reports whether a client's copy is still good by If-Modified-Since
// (RFC 9110 §13.1.3). It is false if the client sends an ETag, which says more.
func unmodified(modified time.Time, req *http.Request) bool {
	since := req.Header.Get("If-Modified-Since")
	if modified.IsZero() || since == "" || req.Header.Get("If-None-Match") != "" {
		return false
	}
	at, err := http.ParseTime(since)
	return err == nil && !modified.Truncate(time.Second).After(at)
}

// unchanged is unmodified for answers that may become older: only the very same
// time counts.
func unchanged(modified time.Time, req *http.Request) bool {
	since, err := http.ParseTime(req.Header.Get("If-Modified-Since"))
	return err == nil && unmodified(modified, req) && modified.Truncate(time.Second).Equal(since)
}

// matchesAny reports whether If-None-Match names one of the ETags of an answer:
// the encodings stand for the same content (RFC 9110 §13.1.2).
func matchesAny(tags [encodings]string, header []string) bool {
	for _, line := range header {
		for item := range strings.SplitSeq(line, ",") {
			item = strings.TrimPrefix(strings.TrimSpace(item), "W/")
			if item == "*" || slices.Contains(tags[:], item) {
				return true
			}
		}
	}
	return false
}
