package remote

import (
	"net/url"
	"strings"
)

// redactText takes everything secret that we know of out of a text, and makes
// one line of it. Decide what an error means before: a short password may be
// part of an ordinary word.
func redactText(text string, remote Repository, a access) string {
	text = strings.ReplaceAll(text, remote.URL, remote.String())
	secrets := []string{a.password}
	if e, err := parseEndpoint(remote.URL); err == nil {
		secrets = append(secrets, e.password, e.query)
		if e.scheme != "ssh" { // whose users are no secrets
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
	// lonelyToken: from so many bytes on, a user without a password is taken
	// for a token (https://TOKEN@host).
	lonelyToken = 8
	// longToken: from so many bytes on, any user is (TOKEN:x-oauth-basic); real
	// names of users are shorter, tokens longer.
	longToken = 16
)

// token is the user if it could be a secret. A plain name of a user is none:
// taking "u" out of a message leaves nothing that can be read.
func (a access) token() string {
	if n := len(a.user); n >= longToken || n >= lonelyToken && a.password == "" {
		return a.user
	}
	return ""
}
