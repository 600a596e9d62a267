package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// gitea is Gitea and Forgejo.
type gitea struct{ client }

func (g *gitea) pulls() string { return "/repos/" + g.repository + "/pulls" }

const (
	giteaPage  = 50 // the largest page of a default configuration
	giteaPages = 20
)

// Find walks through the open requests, the last changed first: the list cannot be
// asked for one branch. Behind 1,000 it stops with an error, as it does not know.
func (g *gitea) Find(ctx context.Context, head, base string) (Request, bool, error) {
	for page := 1; page <= giteaPages; page++ {
		var list []pull
		query := url.Values{"state": {"open"}, "sort": {"recentupdate"}, "page": {strconv.Itoa(page)}, "limit": {strconv.Itoa(giteaPage)}}
		if err := g.call(ctx, http.MethodGet, g.pulls(), query, nil, &list, http.StatusOK); err != nil {
			return Request{}, false, err
		}
		if r, ok := findPull(&g.client, list, head, base); ok {
			return r, true, nil
		}
		if len(list) == 0 { // a server may have smaller pages
			return Request{}, false, nil
		}
	}
	return Request{}, false, fmt.Errorf("%w: there are too many open requests", ErrRefused)
}

// Open opens a pull request.
func (g *gitea) Open(ctx context.Context, d Draft) (Request, error) {
	return openPull(ctx, &g.client, g.pulls(), d)
}

// Update sets title, body and base.
func (g *gitea) Update(ctx context.Context, r Request) (Request, error) {
	return updatePull(ctx, &g.client, g.pulls(), http.StatusCreated, r)
}

// Close closes a pull request.
func (g *gitea) Close(ctx context.Context, number int) error {
	return closePull(ctx, &g.client, g.pulls(), http.StatusCreated, number)
}

// Read returns a pull request.
func (g *gitea) Read(ctx context.Context, number int) (Request, error) {
	return readPull(ctx, &g.client, g.pulls(), number)
}
