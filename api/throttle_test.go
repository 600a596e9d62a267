package api

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// TestThrottle: the figures are right, each client has its own, and a good
// token does not count for its address.
func TestThrottle(t *testing.T) {
	t.Parallel()
	w := catalogtest.Demo(t)
	key := w.Token("t", catalog.ScopeRead)
	now := catalogtest.Now()
	s := serve(w, Options{
		CacheBytes: 1 << 20, Now: func() time.Time { return now }, CORSOrigins: []string{"*"},
		AnonymousRate: limit.Rate{Count: 3, Per: time.Hour}, TokenRate: limit.Rate{Count: 1, Per: time.Minute},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, // that of httptest
	})
	expect := func(status int, remaining, reset string, header ...string) {
		t.Helper()
		_, rec := send(s, http.MethodGet, "/api/components/demo/app/", header...)
		h := rec.Header()
		if rec.Code != status || h.Get("X-RateLimit-Remaining") != remaining || h.Get("X-RateLimit-Reset") != reset {
			t.Errorf("%q: %d, headers %v", header, rec.Code, h)
		}
		if status != http.StatusTooManyRequests {
			return
		}
		if h.Get("Retry-After") != reset || rec.Body.String() != `{"detail":"Request was throttled. Expected available in `+reset+` seconds."}` {
			t.Errorf("%q: Retry-After %q, %s", header, h.Get("Retry-After"), rec.Body)
		}
	}
	expect(200, "2", "3600")
	now = now.Add(30 * time.Minute)
	expect(200, "1", "1800") // perhaps from the cache: counted as well
	expect(401, "0", "1800", "Authorization", "Token wrong")
	expect(429, "0", "1800")
	expect(429, "0", "1800", "Authorization", "Token wrong")
	for _, target := range []string{"/api/nothing/", "/nothing", "/api/units/?format=pdf", "/api/projects/nothing/", "/api/units/?q=(", "/exports/rss/", "/widget/demo/svg-badge.svg"} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodOptions, "NONE"} {
			if _, rec := send(s, method, target, "Accept", "image/png"); rec.Code != http.StatusTooManyRequests {
				t.Errorf("%s %s: %d", method, target, rec.Code)
			}
		}
	}
	for range 5 {
		asked := []string{"Origin", "https://app.example", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization"}
		_, rec := send(s, http.MethodOptions, "/api/units/", asked...)
		if rec.Code != http.StatusOK || rec.Header().Get("X-RateLimit-Limit") != "" || !strings.Contains(rec.Header().Get("Access-Control-Allow-Headers"), "Authorization") {
			t.Errorf("a preflight request of whoever is throttled: %d, %v", rec.Code, rec.Header())
		}
	}
	expect(200, "0", "60", "Authorization", "Token "+key)
	expect(429, "0", "60", "Authorization", "Token "+key)
	expect(200, "2", "3600", "X-Forwarded-For", "198.51.100.1, 203.0.113.5, 192.0.2.9")
	expect(200, "1", "3600", "X-Forwarded-For", "198.51.100.2, 203.0.113.5:4711") // the first is a claim of the second
	now = now.Add(30 * time.Minute)
	expect(200, "2", "3600")
	s.Update(Settings{AnonymousRate: limit.Rate{Count: 3, Per: time.Hour}})
	expect(200, "1", "3600") // a reload keeps the counts
	s.Update(Settings{})
	expect(200, "", "")
}

// TestClientAddress: whose word counts about where a request comes from.
func TestClientAddress(t *testing.T) {
	t.Parallel()
	trusting := &Settings{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}}
	for _, c := range []struct {
		settings                *Settings
		remote, forwarded, want string
	}{
		{&Settings{}, "198.51.100.1:5", "203.0.113.1", "198.51.100.1"},
		{trusting, "198.51.100.1:5", "203.0.113.1", "198.51.100.1"},
		{trusting, "10.1.1.1:5", "203.0.113.1", "203.0.113.1"},
		{trusting, "[2001:db8::1]:5", "1.1.1.1, 203.0.113.1, 10.2.2.2", "203.0.113.1"},
		{trusting, "10.1.1.1:5", "", "10.1.1.1"},
		{trusting, "10.1.1.1:5", "203.0.113.1, nonsense", "10.1.1.1"},
		{trusting, "10.1.1.1:5", "10.3.3.3, 10.2.2.2", "10.3.3.3"},
		{trusting, "10.1.1.1:5", "[2001:db9::1]:80", "2001:db9::1"},
		{trusting, "nonsense", "203.0.113.1", "invalid IP"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.RemoteAddr = c.remote
		r.Header.Set("X-Forwarded-For", c.forwarded)
		if got := c.settings.clientAddress(r).String(); got != c.want {
			t.Errorf("%s for %q: %s, want %s", c.remote, c.forwarded, got, c.want)
		}
	}
}
