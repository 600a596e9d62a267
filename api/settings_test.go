package api

import (
	"crypto/tls"
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

// TestBaseURL: where the origin of links comes from
// (docs/compatibility.md#addresses).
func TestBaseURL(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, tc := range []struct {
		name     string
		settings Settings
		remote   string
		host     string
		tls      bool
		proto    []string
		forward  []string
		want     string // "" is an error
	}{
		{name: "host", host: "l10n.example.org", want: "http://l10n.example.org"},
		{name: "port", host: "127.0.0.1:8080", want: "http://127.0.0.1:8080"},
		{name: "v6", host: "[::1]:8080", want: "http://[::1]:8080"},
		{name: "v6 without port", host: "[fe80::1]", want: "http://[fe80::1]"},
		{name: "underscore", host: "my_app.internal", want: "http://my_app.internal"},
		{name: "tls", host: "example.org", tls: true, want: "https://example.org"},
		{name: "configured", settings: Settings{BaseURL: "https://l10n.example.org"}, host: "evil", want: "https://l10n.example.org"},
		{name: "configured, any host", settings: Settings{BaseURL: "https://l10n.example.org"}, host: "a b<>", want: "https://l10n.example.org"},
		{name: "untrusted proxy", remote: "192.0.2.1:1", settings: Settings{TrustedProxies: proxies}, host: "inner", proto: []string{"https"}, forward: []string{"evil"}, want: "http://inner"},
		{name: "no proxies", remote: "10.0.0.1:1", host: "inner", proto: []string{"https"}, forward: []string{"evil"}, want: "http://inner"},
		{name: "trusted proxy", remote: "10.0.0.1:1", settings: Settings{TrustedProxies: proxies}, host: "inner", proto: []string{"https"}, forward: []string{"l10n.example.org"}, want: "https://l10n.example.org"},
		{name: "trusted v6 proxy", remote: "[fd00::1]:1", settings: Settings{TrustedProxies: proxies}, host: "inner", forward: []string{"l10n.example.org:8443"}, proto: []string{"HTTPS"}, want: "https://l10n.example.org:8443"},
		{name: "mapped address", remote: "[::ffff:10.1.2.3]:1", settings: Settings{TrustedProxies: proxies}, host: "inner", proto: []string{"https"}, want: "https://inner"},
		{name: "zone", remote: "[fd00::1%eth0]:1", settings: Settings{TrustedProxies: proxies}, host: "inner", proto: []string{"https"}, want: "https://inner"},
		{name: "only proto", remote: "10.0.0.1:1", settings: Settings{TrustedProxies: proxies}, host: "inner", proto: []string{"https"}, want: "https://inner"},
		{name: "odd proto", remote: "10.0.0.1:1", settings: Settings{TrustedProxies: proxies}, host: "inner", proto: []string{"javascript"}, want: "http://inner"},
		{name: "client forged a first value", remote: "10.0.0.1:1", settings: Settings{TrustedProxies: proxies}, host: "inner", proto: []string{"http, https"}, forward: []string{"evil, l10n.example.org"}, want: "https://l10n.example.org"},
		{name: "client forged a first header", remote: "10.0.0.1:1", settings: Settings{TrustedProxies: proxies}, host: "inner", forward: []string{"evil", "l10n.example.org"}, want: "http://l10n.example.org"},
		{name: "forwarded nonsense", remote: "10.0.0.1:1", settings: Settings{TrustedProxies: proxies}, host: "inner", forward: []string{"a/b"}},
		{name: "no host", host: ""},
		{name: "path", host: "example.org/evil"},
		{name: "user", host: "user@evil.example"},
		{name: "quote", host: `exa"mple`},
		{name: "tag", host: "<script>"},
		{name: "blank", host: "a b"},
		{name: "line", host: "a\r\nX: y"},
		{name: "query", host: "a?b"},
		{name: "fragment", host: "a#b"},
		{name: "percent", host: "a%2fb"},
		{name: "port text", host: "a:b"},
		{name: "port empty", host: "a:"},
		{name: "port large", host: "a:65536"},
		{name: "two ports", host: "a:1:2"},
		{name: "only port", host: ":80"},
		{name: "open bracket", host: "[::1"},
		{name: "v4 in brackets", host: "[127.0.0.1]"},
		{name: "name in brackets", host: "[evil]"},
		{name: "after bracket", host: "[::1]evil"},
		{name: "v6 zone", host: "[fe80::1%25eth0]"},
		{name: "non-ASCII", host: "bücher.example"},
		{name: "long", host: strings.Repeat("a", 254)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/api/", nil)
			r.Host = tc.host
			if tc.remote != "" {
				r.RemoteAddr = tc.remote
			}
			if tc.tls {
				r.TLS = &tls.ConnectionState{}
			}
			r.Header["X-Forwarded-Proto"], r.Header["X-Forwarded-Host"] = tc.proto, tc.forward
			got, err := tc.settings.baseURL(r)
			if got != tc.want || (err != nil) != (tc.want == "") {
				t.Errorf("%q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

// TestBadHost: the answer does not repeat a hostile Host.
func TestBadHost(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	wantAnswer(t, s, 400, `{"detail":"Invalid Host header."}`, "/api/changes/", "Host", `evil"><script>`)
}

// TestUpdate: settings change while the server runs.
func TestUpdate(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{Settings: Settings{BaseURL: "https://one.example/"}})
	if body := get(t, s, "/api/"); !strings.Contains(body, `"https://one.example/api/projects/?format=api"`) {
		t.Error(body)
	}
	s.Update(Settings{BaseURL: "https://two.example/l10n"})
	if body := get(t, s, "/api/translations/demo/app/cs/units/"); !strings.Contains(body, `"next":"https://two.example/l10n/api/translations/demo/app/cs/units/?format=api&page=2"`) {
		t.Errorf("%.300s", body)
	}
}

// TestCORS: headers for the configured origins only.
func TestCORS(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for _, tc := range []struct {
		origins             []string
		method, origin      string
		allowed, vary, max  string
		requestsWithHeaders bool
	}{
		{nil, "GET", "https://app.example", "", "Accept, Accept-Encoding", "", false},
		{[]string{"*"}, "GET", "https://app.example", "*", "Accept, Accept-Encoding", "", false},
		{[]string{"*"}, "GET", "", "*", "Accept, Accept-Encoding", "", false},
		{[]string{"https://app.example"}, "GET", "https://app.example", "https://app.example", "Accept, Accept-Encoding, Origin", "", false},
		{[]string{"https://app.example"}, "GET", "https://evil.example", "", "Accept, Accept-Encoding, Origin", "", false},
		{[]string{"https://app.example"}, "GET", "", "", "Accept, Accept-Encoding, Origin", "", false},
		{[]string{"https://app.example"}, "OPTIONS", "https://app.example", "https://app.example", "Accept, Origin", "86400", true},
		{[]string{"https://app.example"}, "OPTIONS", "https://evil.example", "", "Accept, Origin", "", true},
	} {
		s.Update(Settings{CORSOrigins: tc.origins})
		header := []string{"Origin", tc.origin}
		if tc.requestsWithHeaders {
			header = append(header, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization")
		}
		h := call(t, s, tc.method, "/api/", header...).Header()
		if exposed := h.Get("Access-Control-Expose-Headers"); strings.Contains(exposed, "ETag") != (tc.allowed != "") {
			t.Errorf("%+v: exposes %q", tc, exposed)
		}
		if h.Get("Access-Control-Allow-Origin") != tc.allowed || strings.Join(h.Values("Vary"), ", ") != tc.vary || h.Get("Access-Control-Max-Age") != tc.max {
			t.Errorf("%+v: %v", tc, h)
		}
	}
}

// TestThrottle: the figures are right, each client has its own, and a good
// token does not count for its address.
func TestThrottle(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	key := w.Token("t", catalog.ScopeRead)
	now := catalogtest.Now()
	s := serve(w, Options{
		CacheBytes: 1 << 20, Now: func() time.Time { return now },
		Settings: Settings{
			CORSOrigins: []string{"*"}, AnonymousRate: limit.Rate{Count: 3, Per: time.Hour}, TokenRate: limit.Rate{Count: 1, Per: time.Minute},
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, // the address of httptest
		},
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
		if h.Get("Retry-After") != reset || oldForm(rec.Body.String()) != `{"detail":"Request was throttled. Expected available in `+reset+` seconds."}` {
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
			t.Errorf("a preflight request of a throttled client: %d, %v", rec.Code, rec.Header())
		}
	}
	expect(200, "0", "60", "Authorization", "Token "+key)
	expect(429, "0", "60", "Authorization", "Token "+key)
	expect(200, "2", "3600", "X-Forwarded-For", "198.51.100.1, 203.0.113.5, 192.0.2.9")
	expect(200, "1", "3600", "X-Forwarded-For", "198.51.100.2, 203.0.113.5:4711") // the first address is a claim of the second
	now = now.Add(30 * time.Minute)
	expect(200, "2", "3600")
	s.Update(Settings{AnonymousRate: limit.Rate{Count: 3, Per: time.Hour}})
	expect(200, "1", "3600") // a reload keeps the counts
	s.Update(Settings{})
	expect(200, "", "")
}

// TestClientAddress: the address of a client, directly and through proxies.
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
