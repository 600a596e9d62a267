package forge

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// gitHub is GitHub and GitHub Enterprise Server.
type gitHub struct{ client }

// pull is a pull request, as GitHub, Gitea and Forgejo have it.
type pull struct {
	Number   int     `json:"number"`
	State    string  `json:"state"`
	Merged   bool    `json:"merged"`
	MergedAt *string `json:"merged_at"`
	Title    string  `json:"title"`
	Body     string  `json:"body"`
	HTMLURL  string  `json:"html_url"`
	Head     end     `json:"head"`
	Base     end     `json:"base"`
}

// end is the branch at one end of a pull request.
type end struct {
	Ref  string `json:"ref"`
	Repo *struct {
		FullName string `json:"full_name"`
	} `json:"repo"`
}

func (e end) is(branch, repository string) bool {
	return e.Ref == branch && e.Repo != nil && strings.EqualFold(e.Repo.FullName, repository)
}

func (p *pull) request(c *client) Request {
	state := Open
	switch {
	case p.Merged || p.MergedAt != nil:
		state = Merged
	case p.State == "closed":
		state = Closed
	}
	return Request{Number: p.Number, State: state, URL: c.page(p.HTMLURL), Title: p.Title, Body: p.Body, Base: p.Base.Ref}
}

// texts are the fields of an update, and with the others those of a new request.
type pullTexts struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	Head  string `json:"head,omitempty"`
	Base  string `json:"base,omitempty"`
}

func (g *gitHub) pulls() string { return "/repos/" + g.repository + "/pulls" }

// Find asks for the open requests of the branch.
func (g *gitHub) Find(ctx context.Context, head, base string) (Request, bool, error) {
	owner, _, _ := strings.Cut(g.repository, "/")
	var list []pull
	query := url.Values{"state": {"open"}, "head": {owner + ":" + head}, "base": {base}, "per_page": {"10"}}
	if err := g.call(ctx, http.MethodGet, g.pulls(), query, nil, &list, http.StatusOK); err != nil {
		return Request{}, false, err
	}
	r, ok := findPull(&g.client, list, head, base)
	return r, ok, nil
}

// findPull returns the first open request of the branches: forks may have branches of
// the same name.
func findPull(c *client, list []pull, head, base string) (Request, bool) {
	for i := range list {
		if p := &list[i]; p.Head.is(head, c.repository) && p.Base.is(base, c.repository) {
			if r := p.request(c); r.State == Open {
				return r, true
			}
		}
	}
	return Request{}, false
}

// Open opens a pull request.
func (g *gitHub) Open(ctx context.Context, d Draft) (Request, error) {
	return openPull(ctx, &g.client, g.pulls(), d)
}

// Update sets title, body and base.
func (g *gitHub) Update(ctx context.Context, r Request) (Request, error) {
	return updatePull(ctx, &g.client, g.pulls(), http.StatusOK, r)
}

// Close closes a pull request.
func (g *gitHub) Close(ctx context.Context, number int) error {
	return closePull(ctx, &g.client, g.pulls(), http.StatusOK, number)
}

// Read returns a pull request.
func (g *gitHub) Read(ctx context.Context, number int) (Request, error) {
	return readPull(ctx, &g.client, g.pulls(), number)
}

func openPull(ctx context.Context, c *client, path string, d Draft) (Request, error) {
	var p pull
	err := c.call(ctx, http.MethodPost, path, nil, pullTexts{title(d.Title), body(d.Body), d.Head, d.Base}, &p, http.StatusCreated)
	return p.request(c), err
}

func updatePull(ctx context.Context, c *client, path string, want int, r Request) (Request, error) {
	var p pull
	texts := pullTexts{Title: title(r.Title), Body: body(r.Body), Base: r.Base}
	err := c.call(ctx, http.MethodPatch, path+"/"+strconv.Itoa(r.Number), nil, texts, &p, want)
	return p.request(c), err
}

func closePull(ctx context.Context, c *client, path string, want, number int) error {
	return c.call(ctx, http.MethodPatch, path+"/"+strconv.Itoa(number), nil, map[string]string{"state": "closed"}, &pull{}, want)
}

func readPull(ctx context.Context, c *client, path string, number int) (Request, error) {
	var p pull
	err := c.call(ctx, http.MethodGet, path+"/"+strconv.Itoa(number), nil, nil, &p, http.StatusOK)
	return p.request(c), err
}
