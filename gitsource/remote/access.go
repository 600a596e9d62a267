package remote

import (
	"bufio"
	"cmp"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// access finds the credentials for a repository: the configured ones if they are
// for this host, the ones in the URL, then .netrc (https only, as curl does).
func (r Repository) access() Credential {
	e, err := parseEndpoint(r.URL)
	if err != nil {
		return Credential{}
	}
	if c := r.Credential; c != nil && c.forHost(e) {
		return Credential{Username: cmp.Or(c.Username, e.user), Password: c.Password, SSHKey: c.SSHKey}
	}
	if e.user != "" || e.password != "" || e.scheme != "https" && e.scheme != "http" {
		return Credential{Username: e.user, Password: e.password}
	}
	a, _ := lookupNetrc(netrc(), e.hostname())
	return a
}

func (c *Credential) forHost(e endpoint) bool {
	return c.Host == "" || strings.EqualFold(c.Host, e.host) || strings.EqualFold(c.Host, e.hostname())
}

// oneLine reports whether user and password can be passed on in one line each.
func (c Credential) oneLine() bool {
	return !strings.ContainsFunc(c.Username+c.Password, func(r rune) bool { return unicode.IsControl(r) })
}

// netrc is the path of the .netrc file: $NETRC, otherwise ~/.netrc.
func netrc() string {
	if name := os.Getenv("NETRC"); name != "" {
		return name
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".netrc")
}

// lookupNetrc finds login and password of a host in a .netrc file, as the GNU
// inetutils manual describes it: machine, default, login, password, account,
// macdef. The first matching entry is used.
func lookupNetrc(name, host string) (Credential, bool) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return Credential{}, false
	}
	f, err := os.Open(name)
	if err != nil {
		return Credential{}, false
	}
	defer f.Close()
	var a Credential
	var found, macro bool
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if macro = macro && len(words) > 0; macro { // it ends at the first empty line
			continue
		}
		for i := 0; i < len(words) && !strings.HasPrefix(words[i], "#"); i++ {
			word, value := words[i], ""
			switch word {
			case "machine", "login", "password", "account":
				if i++; i < len(words) {
					value = words[i]
				}
			}
			switch {
			case word == "machine" || word == "default":
				if found {
					return a, true
				}
				found = word == "default" || strings.EqualFold(value, host)
			case word == "login" && found:
				a.Username = value
			case word == "password" && found:
				a.Password = value
			case word == "macdef":
				macro, i = true, len(words)
			}
		}
	}
	return a, found
}

// redactText removes the known secrets of a remote from a text and makes it one
// line. Find out what an error means before: a short password may be part of an
// ordinary word.
func redactText(text string, remote Repository, a Credential) string {
	text = strings.ReplaceAll(text, remote.URL, remote.String())
	secrets := []string{a.Password}
	if e, err := parseEndpoint(remote.URL); err == nil {
		secrets = append(secrets, e.password, e.query)
		if e.scheme != "ssh" { // users of ssh are no secrets
			secrets = append(secrets, a.token(), Credential{Username: e.user, Password: e.password}.token())
			for _, user := range []string{a.Username, e.user} {
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
func (c Credential) token() string {
	if n := len(c.Username); n >= longToken || n >= lonelyToken && c.Password == "" {
		return c.Username
	}
	return ""
}
