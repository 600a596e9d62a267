package catalogtest

import (
	_ "embed" // of demo-pages.txt
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// Browser is the header Accept of a browser.
const Browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// Request makes a request; target is a path with a query.
func Request(method, target string, header ...string) *http.Request {
	r := httptest.NewRequest(method, "http://l10n.example.org"+target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// Send sends a request to a handler.
func Send(h http.Handler, method, target string, header ...string) (*http.Request, *httptest.ResponseRecorder) {
	r, rec := Request(method, target, header...), httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return r, rec
}

// Visitor is a browser with cookies.
type Visitor struct {
	TB      testing.TB
	Server  http.Handler
	Cookies map[string]string
}

// NewVisitor makes a visitor without cookies.
func NewVisitor(tb testing.TB, server http.Handler) *Visitor {
	return &Visitor{TB: tb, Server: server, Cookies: map[string]string{}}
}

// Send sends a request as a browser does.
func (v *Visitor) Send(r *http.Request) *httptest.ResponseRecorder {
	v.TB.Helper()
	r.Header.Set("Accept", Browser)
	for name, value := range v.Cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	rec := httptest.NewRecorder()
	v.Server.ServeHTTP(rec, r)
	for _, c := range rec.Result().Cookies() {
		v.Cookies[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(v.Cookies, c.Name)
		}
	}
	return rec
}

// Get asks for a page.
func (v *Visitor) Get(target string, header ...string) *httptest.ResponseRecorder {
	v.TB.Helper()
	return v.Send(Request(http.MethodGet, target, header...))
}

// Post sends a form; without a header as a page of the server does.
func (v *Visitor) Post(target string, form url.Values, header ...string) *httptest.ResponseRecorder {
	v.TB.Helper()
	if header == nil {
		header = []string{"Sec-Fetch-Site", "same-origin"}
	}
	r := Request(http.MethodPost, target, header...)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Body = io.NopCloser(strings.NewReader(form.Encode()))
	return v.Send(r)
}

//go:embed demo-pages.txt
var demoPages string

// DemoPages are addresses of all pages of the demo.
func DemoPages() []string { return strings.Fields(demoPages) }
