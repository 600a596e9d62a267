package api

import (
	"net/http/httptest"
	"testing"
)

// TestIsLocal: a client is on this machine if it connects from it, names it, and speaks for
// nobody else.
func TestIsLocal(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{Settings: Settings{BaseURL: "https://l10n.example.org", AllowedHosts: []string{"metrics.internal"}}})
	for _, c := range []struct {
		peer, host, header string
		local, named       bool
	}{
		{"127.0.0.1:5", "127.0.0.1:9090", "", true, true},
		{"[::1]:5", "localhost:9090", "", true, true},
		{"[::ffff:127.0.0.1]:5", "[::1]:9090", "", true, true},
		{"127.0.0.1:5", "evil.example:9090", "", false, false},
		{"127.0.0.1:5", "10.0.0.5:9090", "", false, true},
		{"10.0.0.6:5", "localhost:9090", "", false, true},
		{"10.0.0.6:5", "metrics.internal:9090", "", false, true},
		{"10.0.0.6:5", "l10n.example.org", "", false, true},
		{"127.0.0.1:5", "127.0.0.1:9090", "X-Forwarded-For", false, true},
		{"127.0.0.1:5", "127.0.0.1:9090", "Forwarded", false, true},
		{"127.0.0.1:5", "127.0.0.1:9090", "Via", false, true},
	} {
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.RemoteAddr, r.Host = c.peer, c.host
		if c.header != "" {
			r.Header.Set(c.header, "8.8.8.8")
		}
		if IsLocal(r) != c.local || s.NamesMachine(r) != c.named {
			t.Errorf("%+v: local %v, named %v", c, IsLocal(r), s.NamesMachine(r))
		}
	}
}
