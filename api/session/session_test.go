package session

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestCheck: only a page of this server sends a form, and with a session only one of it.
func TestCheck(t *testing.T) {
	t.Parallel()
	const own = "l10n.example.org"
	for _, test := range []struct {
		name, fetchSite, origin, secret, form string
		want                                  error
	}{
		{"own page", "same-origin", "https://" + own, "", "", nil},
		{"own page over http", "", "http://" + own, "", "", nil},
		{"behind a proxy with another name", "", "https://" + own, "", "", nil},
		{"own page of https", "", "https://" + own, "", "", nil},
		{"own page of https over http", "", "http://" + own, "", "", ErrOrigin},
		{"another site", "cross-site", "https://evil.example", "", "", ErrOrigin},
		{"another site in an old browser", "", "https://evil.example", "", "", ErrOrigin},
		{"a neighbour", "same-site", "https://git.example.org", "", "", ErrOrigin},
		{"a frame without an origin", "", "null", "", "", ErrOrigin},
		{"no browser", "", "", "", "", ErrOrigin},
		{"own form of the session", "same-origin", "", "secret", FormToken("secret"), nil},
		{"form without a session's token", "same-origin", "", "secret", "", ErrForm},
		{"form of another session", "same-origin", "", "secret", FormToken("other"), ErrForm},
		{"right token from elsewhere", "cross-site", "", "secret", FormToken("secret"), ErrOrigin},
	} {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8080/login/", strings.NewReader(url.Values{Field: {test.form}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for name, value := range map[string]string{"Sec-Fetch-Site": test.fetchSite, "Origin": test.origin} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		if err := r.ParseForm(); err != nil {
			t.Fatal(err)
		}
		if err := Check(r, own, strings.Contains(test.name, "https"), test.secret); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
	if strings.Contains(FormToken("secret"), "secret") || FormToken("a") == FormToken("b") {
		t.Error("a form's token tells the secret, or is the same for all")
	}
}

// TestCookie: browsers keep the cookie from scripts and from forms of other sites; over
// https it cannot be set by a neighbour.
func TestCookie(t *testing.T) {
	t.Parallel()
	for https, want := range map[bool]string{
		true:  "__Host-session=s; Path=/; Max-Age=1209600; HttpOnly; Secure; SameSite=Lax",
		false: "session=s; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax",
	} {
		c := Cookie("s", https)
		if c.String() != want {
			t.Errorf("%s", c)
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.AddCookie(c)
		if Secret(r, https) != "s" || Secret(r, !https) != "" {
			t.Errorf("the secret of %s is %q", c, Secret(r, https))
		}
		if gone := Cookie("", https); gone.MaxAge >= 0 {
			t.Errorf("%s removes nothing", gone)
		}
	}
}
