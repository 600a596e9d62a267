package remote

import (
	"net/url"
	"strings"
)

// redactText removes the known secrets of a remote from a text and makes it one
// line. Find out what an error means before: a short password may be part of an
// ordinary word.
func redactText(text string, remote Repository, a access) string {
	text = strings.ReplaceAll(text, remote.URL, remote.String())
	secrets := []string{a.password}
	if e, err := parseEndpoint(remote.URL); err == nil {
		secrets = append(secrets, e.password, e.query)
		if e.scheme != "ssh" { // users of ssh are no secrets
			secrets = append(secrets, a.token(), access{user: e.user, password: e.password}.token())
			for _, user := range []string{a.user, e.user} {
				text = strings.ReplaceAll(text, url.User(user).String()+"@"+e.host, e.host)
			}
		}
	}
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			text = strings.ReplaceAll(text, form, "***")
		}
	}
	return oneLine(text)
}

const (
	// lonelyToken: a user of at least so many bytes without a password may be a
	// token (https://TOKEN@host).
	lonelyToken = 8
	// longToken: any user of at least so many bytes may be a token
	// (TOKEN:x-oauth-basic). Names of users are shorter, tokens longer.
	longToken = 16
)

// token returns the user if it could be a secret, otherwise "". A short name is
// no secret: a message without any "u" cannot be read.
func (a access) token() string {
	if n := len(a.user); n >= longToken || n >= lonelyToken && a.password == "" {
		return a.user
	}
	return ""
}
