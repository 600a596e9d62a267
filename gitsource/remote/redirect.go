package remote

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

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
	first := e.withPath(strings.TrimSuffix(e.path, "/") + tail)
	first.query = "service=" + service
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
