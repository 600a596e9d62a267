package api

import (
	"net/http"
	"strings"
	"testing"
)

// TestConditional: every ETag of an answer gives 304 without a body.
func TestConditional(t *testing.T) {
	t.Parallel()
	s := serve(cacheWorld(t), Options{CacheBytes: 1 << 20})
	tags := map[string]string{}
	for _, encoding := range []string{"", "gzip", "zstd"} {
		rec := ask(s, http.MethodGet, cacheTarget, "Accept-Encoding", encoding)
		tags[encoding] = rec.Header().Get("ETag")
		if got := rec.Header().Get("Content-Encoding"); got != encoding {
			t.Errorf("Content-Encoding %q, want %q", got, encoding)
		}
	}
	if tags[""] == tags["gzip"] || tags["gzip"] == tags["zstd"] {
		t.Errorf("encodings share an ETag: %q", tags)
	}
	for _, uncached := range []bool{false, true} {
		for _, tag := range []string{tags[""], tags["gzip"], tags["zstd"], "W/" + tags["zstd"], "*", `"x", ` + tags["gzip"] + `, "y"`} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				header := []string{"If-None-Match", tag, "Accept-Encoding", "zstd"}
				if uncached {
					header = append(header, "Authorization", "Token x")
				}
				rec := ask(s, method, cacheTarget, header...)
				if rec.Code != http.StatusNotModified || rec.Body.Len() > 0 || rec.Header().Get("ETag") != tags["zstd"] || rec.Header().Get("Content-Length") != "" {
					t.Errorf("%s with %s: %d, %d bytes, headers %v", method, tag, rec.Code, rec.Body.Len(), rec.Header())
				}
			}
		}
	}
	for _, tag := range []string{`"x"`, "", strings.Trim(tags[""], `"`), `"*"`} {
		if rec := ask(s, http.MethodGet, cacheTarget, "If-None-Match", tag); rec.Code != http.StatusOK {
			t.Errorf("status %d for %q", rec.Code, tag)
		}
	}
	if rec := ask(s, http.MethodGet, "/api/units/999999/", "If-None-Match", "*"); rec.Code != http.StatusNotFound || rec.Header().Get("ETag") != "" {
		t.Errorf("a missing unit: %d %v", rec.Code, rec.Header())
	}
}
