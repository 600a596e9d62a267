package remote

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/repoglot/repoglot/gitsource/repourl"
)

// endpoint is the parts of a network address, with the secrets apart from the rest.
type endpoint struct {
	scheme         string // http, https, ssh, git
	host           string // host or host:port, IPv6 in brackets
	path           string
	query          string
	user, password string
}

// parseEndpoint splits a network address into its parts. Its errors hold no part
// of the address except the scheme, since any other may be a secret.
func parseEndpoint(address string) (endpoint, error) {
	scheme, rest, isURL := strings.Cut(address, "://")
	if !isURL {
		return parseSCP(address)
	}
	known := repourl.Transport(scheme)
	if known == "" || known == "file" {
		return endpoint{}, fmt.Errorf("scheme %q is not known", oneLine(scheme))
	}
	u, err := url.Parse(known + "://" + rest)
	if err != nil {
		return endpoint{}, errors.New("address is not a URL; special characters in user or password must be written %XX")
	}
	e := endpoint{scheme: known, host: u.Host, path: u.Path, query: u.RawQuery, user: u.User.Username()}
	e.password, _ = u.User.Password()
	return e, e.check()
}

// parseSCP reads user@host:path.
func parseSCP(address string) (endpoint, error) {
	host, path, ok := strings.Cut(address, ":")
	if !ok || strings.HasPrefix(path, ":") {
		return endpoint{}, errors.New("address is neither a URL nor host:path")
	}
	e := endpoint{scheme: "ssh", host: host, path: path}
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		e.user, e.host = host[:at], host[at+1:]
	}
	return e, e.check()
}

func (e endpoint) check() error {
	switch {
	case e.host == "" || strings.HasPrefix(e.host, "-"):
		return errors.New("address names no host")
	case strings.HasPrefix(e.user, "-"):
		return errors.New("user name begins with \"-\"")
	case strings.Trim(e.path, "/") == "":
		return errors.New("address names no repository on the host")
	}
	return nil
}

// clean returns the address without user and password, for an argument list. An
// ssh address keeps its user, which is no secret.
func (e endpoint) clean() string {
	u := url.URL{Scheme: e.scheme, Host: e.host, Path: e.path, RawQuery: e.query}
	if !strings.HasPrefix(u.Path, "/") {
		u.Path = "/" + u.Path
	}
	if e.scheme == "ssh" {
		if e.user != "" {
			u.User = url.User(e.user)
		}
		if !strings.HasPrefix(e.path, "/") { // relative to the home directory
			host := e.host
			if e.user != "" {
				host = e.user + "@" + host
			}
			return host + ":" + e.path
		}
	}
	return u.String()
}

// hostname returns the host without its port.
func (e endpoint) hostname() string { return (&url.URL{Host: e.host}).Hostname() }

// port returns the port of the address, "" if it has none.
func (e endpoint) port() string { return (&url.URL{Host: e.host}).Port() }

// The services of git's protocol over HTTP (gitprotocol-http(5)).
const (
	uploadService  = "git-upload-pack"
	receiveService = "git-receive-pack"
)

// maxRedirects is how often a remote may redirect one request.
const maxRedirects = 5

// mayFollow decides about the redirects of a remote, for an http.Client: it may lead to
// another place on its host, and from http to https. What it leads to inside our network
// would answer us, and our errors would say what.
func (c *client) mayFollow(e endpoint) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		to, from := req.URL, via[len(via)-1].URL
		switch {
		case len(via) > maxRedirects:
			return c.fail(ErrUnreachable, "it redirects too often", "correct the address")
		case to.Scheme != "https" && to.Scheme != "http", !strings.EqualFold(to.Hostname(), e.hostname()):
			return c.fail(ErrUnreachable, "it redirects to another host, which is not followed", "correct the address, if the repository has moved")
		case to.Scheme == "http" && from.Scheme == "https":
			return c.fail(ErrUnreachable, "it redirects from https to http, which is not followed", "correct the address")
		}
		return nil
	}
}

// redirected reports whether git was redirected, which it does not follow.
func redirected(err error) bool {
	failed, ok := errors.AsType[*gitError](err)
	return ok && strings.Contains(failed.stderr, "requested URL returned error: 30")
}

// follow returns the address that the remote redirects the requests of a service to. Git
// follows to any host or to none.
func (s *binarySource) follow(ctx context.Context, service string) (string, error) {
	e, err := parseEndpoint(s.remote.URL)
	if err != nil {
		return "", err
	}
	const tail = "/info/refs"
	wire := &wireSource{s.client}
	c, auth, finish := wire.httpClient(e)
	defer finish()
	first := e
	first.path, first.query = strings.TrimSuffix(e.path, "/")+tail, "service="+service
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, first.clean(), http.NoBody)
	if err != nil {
		return "", err
	}
	if auth != nil {
		auth.SetAuth(req)
	}
	res, err := c.Do(req)
	if err != nil {
		return "", wire.describe(err)
	}
	_ = res.Body.Close()
	to := *res.Request.URL
	path, ok := strings.CutSuffix(to.Path, tail)
	if !ok {
		return "", s.fail(ErrUnreachable, "it redirects to what is no repository", "correct the address")
	}
	return endpoint{scheme: to.Scheme, host: to.Host, path: path}.clean(), nil
}

// access finds the credentials for a repository: the configured ones if they are
// for this host, the ones in the URL, then .netrc (https only, as curl does).
func (r Repository) access() Credential {
	e, err := parseEndpoint(r.URL)
	if err != nil {
		return Credential{}
	}
	if c := r.Credential; c != nil && (c.Host == "" || strings.EqualFold(c.Host, e.host) || strings.EqualFold(c.Host, e.hostname())) {
		return Credential{Username: cmp.Or(c.Username, e.user), Password: c.Password, SSHKey: c.SSHKey}
	}
	if e.user != "" || e.password != "" || e.scheme != "https" && e.scheme != "http" {
		return Credential{Username: e.user, Password: e.password}
	}
	a, _ := lookupNetrc(netrc(), e.hostname())
	return a
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

// redactText removes the known secrets of a remote from a text and makes it one line. Find out
// what an error means before: a short password may be part of an ordinary word.
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
