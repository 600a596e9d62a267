package api

import (
	"net/http"
	"slices"
)

// cors adds the headers that let pages of other origins read the answer. A
// preflight request is an ordinary OPTIONS with them. Nothing depends on
// cookies, so credentials are not allowed.
func (s *Settings) cors(r *http.Request, h http.Header) {
	if len(s.CORSOrigins) == 0 {
		return
	}
	origin := r.Header.Get("Origin")
	switch {
	case slices.Contains(s.CORSOrigins, "*"):
		origin = "*"
	default:
		h.Add("Vary", "Origin")
		if origin == "" || !slices.Contains(s.CORSOrigins, origin) {
			return
		}
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Accept-Ranges, Allow, Content-Disposition, Content-Length, Content-Range, ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset")
	if preflight(r) {
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
		h.Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, If-Modified-Since, If-None-Match, If-Range, Last-Event-ID, Range")
		h.Set("Access-Control-Max-Age", "86400")
	}
}

// preflight reports whether a browser asks whether it may send a request. Such
// a request cannot show a token.
func preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}
