package api

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// TestAllowedHosts: with a base URL or a list, other hosts are refused; a trusted proxy's
// X-Forwarded-Host counts. The first X-Forwarded-For of a proxy that is not trusted is
// logged, once.
func TestAllowedHosts(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := bare(demoWorld(t), Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	const base = "https://l10n.example.org"
	for _, tt := range []struct {
		base    string
		allowed []string
		host    string
		want    bool
	}{
		{"", nil, "evil.example", true},
		{base, nil, "l10n.example.org", true},
		{base, nil, "L10N.example.org:8443", true},
		{base, nil, "evil.example", false},
		{base, nil, "l10n.example.org.evil.example", false},
		{base, nil, "", false},
		{base, nil, "localhost:8080", true},
		{base, nil, "127.0.0.1:8080", true},
		{base, nil, "[::1]:8080", true},
		{base, nil, "192.0.2.7", false},
		{base, []string{"repoglot"}, "repoglot:8080", true},
		{"", []string{"repoglot"}, "evil.example", false},
		{base, []string{"*"}, "evil.example", true},
	} {
		s.Update(Settings{BaseURL: tt.base, AllowedHosts: tt.allowed, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
		r := request(http.MethodGet, "/api/")
		r.Host = tt.host
		if got := s.AllowsHost(r); got != tt.want {
			t.Errorf("%q with %q, %q: %v", tt.host, tt.base, tt.allowed, got)
		}
		r.Header.Set("X-Forwarded-Host", "l10n.example.org")
		r.Header.Set("X-Forwarded-For", "192.0.2.1")
		if got := s.AllowsHost(r); got != tt.want {
			t.Errorf("a stranger's X-Forwarded-Host changes %q to %v", tt.host, got)
		}
		r.RemoteAddr = "10.1.2.3:4"
		if want := tt.base != "" || len(tt.allowed) == 0; s.AllowsHost(r) != want {
			t.Errorf("a proxy's X-Forwarded-Host with %q, %q: want %v", tt.base, tt.allowed, want)
		}
	}
	if n := strings.Count(log.String(), "trusted_proxies does not list"); n != 1 {
		t.Errorf("%d lines: %s", n, log.String())
	}
}
