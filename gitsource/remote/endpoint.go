package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/repoglot/repoglot/gitsource/repourl"
)

// endpoint is the parts of a network address, with the secrets apart from the
// rest.
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
	var failed *gitError
	return errors.As(err, &failed) && strings.Contains(failed.stderr, "requested URL returned error: 30")
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
