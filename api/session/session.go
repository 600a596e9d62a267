// Package session has what a browser and the server tell each other about a session: the
// cookie, and the proof that a form was sent by a page of this server.
//
// A person shows an access token once, at /login/, and gets a cookie with the secret of a
// session, which the store has (store.CreateSession). Whoever handles a form asks Check
// and FormToken first.
//
// Goals: no script reads the cookie; no other site sends a form; a page tells nobody the
// secret. Non-goals: accounts, passwords.
package session

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Lifetime is how long a session lasts.
const Lifetime = 14 * 24 * time.Hour

// Field is the name of the form field that has FormToken.
const Field = "form"

// Errors of forms.
var (
	// ErrOrigin says that a form was not sent by a page of this server.
	ErrOrigin = errors.New("the form was not sent by a page of this server")
	// ErrForm says that the form is not of this session.
	ErrForm = errors.New("the form is of another session, or of one that has ended: load the page again")
)

// cookieName is the name of a cookie. Over https it has the prefix with which browsers
// take it from this host alone, with the attribute Secure.
func cookieName(name string, https bool) string {
	if https {
		return "__Host-" + name
	}
	return name
}

// Secret returns the secret that a request shows, "" if it shows none.
func Secret(r *http.Request, https bool) string { return secret(r, "session", https) }

// FlowSecret is Secret of a sign-in with a provider that is on its way.
func FlowSecret(r *http.Request, https bool) string { return secret(r, "flow", https) }

func secret(r *http.Request, name string, https bool) string {
	c, err := r.Cookie(cookieName(name, https))
	if err != nil {
		return ""
	}
	return c.Value
}

// Cookie makes the cookie of a session; without a secret it removes it. It is sent with
// links from other sites, but not with their forms, and scripts cannot read it.
func Cookie(secret string, https bool) *http.Cookie { return cookie("session", secret, https) }

// FlowCookie makes the cookie of a sign-in with a provider, which lasts as long as the browser.
func FlowCookie(secret string, https bool) *http.Cookie {
	c := cookie("flow", secret, https)
	c.MaxAge = min(c.MaxAge, 0)
	return c
}

func cookie(name, secret string, https bool) *http.Cookie {
	c := &http.Cookie{Name: cookieName(name, https), Value: secret, Path: "/", MaxAge: int(Lifetime / time.Second), Secure: https, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if secret == "" {
		c.MaxAge = -1
	}
	return c
}

// FormToken is what forms of a session have in Field. It does not give the secret away.
func FormToken(secret string) string {
	sum := sha256.Sum256([]byte("form of session " + secret))
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// Check returns an error unless a request was sent by a page of this server, whose host
// as browsers see it is host, over https or not: ErrOrigin. With the secret of a session it also wants the
// form's token: ErrForm. Call it after the form was parsed.
func Check(r *http.Request, host string, https bool, secret string) error {
	if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" { // no browser sends a form without either
		return ErrOrigin
	}
	if https && strings.HasPrefix(r.Header.Get("Origin"), "http:") { // whoever is between could have sent it
		return ErrOrigin
	}
	seen := *r
	seen.Host = host
	if err := http.NewCrossOriginProtection().Check(&seen); err != nil {
		return ErrOrigin
	}
	if secret != "" && subtle.ConstantTimeCompare([]byte(r.PostForm.Get(Field)), []byte(FormToken(secret))) != 1 {
		return ErrForm
	}
	return nil
}
