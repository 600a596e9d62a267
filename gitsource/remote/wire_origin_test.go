package remote

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestSameOrigin: credentials go to the address that was configured, and neither to
// another host nor over an unencrypted connection to the same one.
func TestSameOrigin(t *testing.T) {
	t.Parallel()
	sent := ""
	c := sameOrigin{scheme: "https", host: "example.org:8443", base: roundTrip(func(r *http.Request) (*http.Response, error) {
		sent = r.Header.Get("Authorization")
		return httptest.NewRecorder().Result(), nil
	})}
	for url, want := range map[string]string{
		"https://example.org:8443/app.git/info/refs": "Basic secret",
		"http://example.org:8443/app.git/info/refs":  "",
		"https://example.org/app.git/info/refs":      "",
		"https://other.example:8443/app.git":         "",
	} {
		r := httptest.NewRequest(http.MethodGet, url, http.NoBody)
		r.Header.Set("Authorization", "Basic secret")
		res, err := c.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if sent != want || r.Header.Get("Authorization") == "" {
			t.Errorf("%s was sent %q, want %q", url, sent, want)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
