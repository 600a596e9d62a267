package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// service is what the API of one kind of forge has of its own.
type service struct {
	public  string // the API of the public service; "": everybody has their own
	below   string // the path of the API below the address of a forge
	headers func(token string) map[string]string
	path    func(repository string) string // of the requests
	// query asks for the open requests of a branch into another one, or if paged is set for
	// a page of all.
	query func(c *client, head, base string, page int) url.Values
	paged bool
	// all asks for a page of all open requests into a branch, which only some forges select.
	all func(base, page string) url.Values

	update  string // the method of updates
	updated int    // the status of their answers
	closing map[string]string

	body, head, base string // names of fields
}

const (
	giteaPage = 50 // the largest page of a default configuration
	maxPages  = 20
	listPage  = 50 // of List
	listPages = 4
)

// services are the known ones by kind.
func services() map[string]service {
	repos := func(repository string) string { return "/repos/" + repository + "/pulls" }
	closed := map[string]string{"state": "closed"}
	most := strconv.Itoa(listPage)
	gitea := service{
		below: "/api/v1", path: repos, paged: true,
		headers: func(token string) map[string]string {
			return map[string]string{"Authorization": "token " + token, "Accept": "application/json"}
		},
		query: func(_ *client, _, _ string, page int) url.Values { // the last changed first
			return url.Values{"state": {"open"}, "sort": {"recentupdate"}, "page": {strconv.Itoa(page)}, "limit": {strconv.Itoa(giteaPage)}}
		},
		all: func(_, page string) url.Values {
			return url.Values{"state": {"open"}, "sort": {"recentupdate"}, "page": {page}, "limit": {most}}
		},
		update: http.MethodPatch, updated: http.StatusCreated, closing: closed, body: "body", head: "head", base: "base",
	}
	return map[string]service{
		"gitea": gitea, "forgejo": gitea,
		"github": {
			public: "https://api.github.com", below: "/api/v3", path: repos,
			headers: func(token string) map[string]string {
				return map[string]string{"Authorization": "Bearer " + token, "Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
			},
			query: func(c *client, head, base string, _ int) url.Values {
				owner, _, _ := strings.Cut(c.Repository, "/")
				return url.Values{"state": {"open"}, "head": {owner + ":" + head}, "base": {base}, "per_page": {"10"}}
			},
			all: func(base, page string) url.Values {
				return url.Values{"state": {"open"}, "base": {base}, "sort": {"updated"}, "direction": {"desc"}, "per_page": {most}, "page": {page}}
			},
			update: http.MethodPatch, updated: http.StatusOK, closing: closed, body: "body", head: "head", base: "base",
		},
		"gitlab": {
			public: "https://gitlab.com/api/v4", below: "/api/v4",
			path: func(repository string) string { return "/projects/" + url.PathEscape(repository) + "/merge_requests" },
			headers: func(token string) map[string]string {
				return map[string]string{"PRIVATE-TOKEN": token, "Accept": "application/json"}
			},
			query: func(_ *client, head, base string, _ int) url.Values {
				return url.Values{"state": {"opened"}, "source_branch": {head}, "target_branch": {base}, "per_page": {"20"}}
			},
			all: func(base, page string) url.Values {
				return url.Values{"state": {"opened"}, "target_branch": {base}, "order_by": {"updated_at"}, "sort": {"desc"}, "per_page": {most}, "page": {page}}
			},
			update: http.MethodPut, updated: http.StatusOK, closing: map[string]string{"state_event": "close"},
			body: "description", head: "source_branch", base: "target_branch",
		},
	}
}

// answer is a request as forges have it; GitLab has names of its own.
type answer struct {
	Number   int     `json:"number"`
	State    string  `json:"state"`
	Merged   bool    `json:"merged"`
	MergedAt *string `json:"merged_at"`
	Title    string  `json:"title"`
	Body     string  `json:"body"`
	HTMLURL  string  `json:"html_url"`
	Head     end     `json:"head"`
	Base     end     `json:"base"`

	Mergeable           bool `json:"mergeable"`
	MaintainerCanModify bool `json:"maintainer_can_modify"` // GitHub's
	AllowMaintainerEdit bool `json:"allow_maintainer_edit"` // Gitea's and Forgejo's

	IID           int    `json:"iid"`
	Description   string `json:"description"`
	WebURL        string `json:"web_url"`
	SourceBranch  string `json:"source_branch"`
	TargetBranch  string `json:"target_branch"`
	SourceProject int    `json:"source_project_id"`
	TargetProject int    `json:"target_project_id"`
	SHA           string `json:"sha"`
	Collaboration bool   `json:"allow_collaboration"`
	MergeStatus   string `json:"merge_status"`
}

// end is the branch at one end of a request.
type end struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo *struct {
		FullName string `json:"full_name"`
	} `json:"repo"`
}

func (e end) is(branch, repository string) bool {
	return e.Ref == branch && e.Repo != nil && strings.EqualFold(e.Repo.FullName, repository)
}

// joins reports whether a request is of two branches of the repository: forks may have
// branches of the same name.
func (a *answer) joins(head, base, repository string) bool {
	return a.Head.is(head, repository) && a.Base.is(base, repository) ||
		a.IID != 0 && a.SourceBranch == head && a.TargetBranch == base && a.SourceProject == a.TargetProject
}

func (a *answer) request(c *client) Request {
	state := Open // GitLab's may be locked, too, while they are merged
	switch {
	case a.Merged || a.MergedAt != nil || a.State == "merged":
		state = Merged
	case a.State == "closed":
		state = Closed
	}
	r := Request{
		Number: cmp.Or(a.Number, a.IID), State: state, URL: c.page(cmp.Or(a.HTMLURL, a.WebURL)),
		Title: a.Title, Body: cmp.Or(a.Body, a.Description), Base: cmp.Or(a.Base.Ref, a.TargetBranch),
		Commit: cmp.Or(a.Head.SHA, a.SHA), Branch: cmp.Or(a.Head.Ref, a.SourceBranch),
		Merges: a.Mergeable || a.MergeStatus == "can_be_merged",
	}
	switch {
	case a.IID != 0 && a.SourceProject == a.TargetProject:
		r.Repository = c.Repository
	case a.Head.Repo != nil:
		r.Repository = a.Head.Repo.FullName
	}
	r.Editable = strings.EqualFold(r.Repository, c.Repository) || a.MaintainerCanModify || a.AllowMaintainerEdit || a.Collaboration
	return r
}

// Find asks for the open requests of the branch. Where it has to walk through those of all,
// it stops behind 1,000 with an error, as it does not know.
func (c *client) Find(ctx context.Context, head, base string) (Request, bool, error) {
	for page := 1; page <= maxPages; page++ {
		var list []answer
		if err := c.call(ctx, http.MethodGet, c.requests, c.query(c, head, base, page), nil, &list, http.StatusOK); err != nil {
			return Request{}, false, err
		}
		for i := range list {
			if r := list[i].request(c); r.State == Open && list[i].joins(head, base, c.Repository) {
				return r, true, nil
			}
		}
		if !c.paged || len(list) == 0 { // a server may have smaller pages
			return Request{}, false, nil
		}
	}
	return Request{}, false, fmt.Errorf("%w: there are too many open requests", ErrRefused)
}

// Open opens a request.
func (c *client) Open(ctx context.Context, d Draft) (Request, error) {
	texts := map[string]string{"title": title(d.Title), c.body: body(d.Body), c.head: d.Head, c.base: d.Base}
	var a answer
	err := c.call(ctx, http.MethodPost, c.requests, nil, texts, &a, http.StatusCreated)
	return a.request(c), err
}

// Update sets title, body and base.
func (c *client) Update(ctx context.Context, r Request) (Request, error) {
	texts := map[string]string{"title": title(r.Title), c.body: body(r.Body)}
	if r.Base != "" {
		texts[c.base] = r.Base
	}
	return c.one(ctx, c.update, r.Number, texts, c.updated)
}

// Close closes a request.
func (c *client) Close(ctx context.Context, number int) error {
	_, err := c.one(ctx, c.update, number, c.closing, c.updated)
	return err
}

// Read returns a request.
func (c *client) Read(ctx context.Context, number int) (Request, error) {
	return c.one(ctx, http.MethodGet, number, nil, http.StatusOK)
}

// List returns the open requests.
func (c *client) List(ctx context.Context, base string) (requests []Request, more bool, err error) {
	for page := 1; page <= listPages; page++ {
		var list []answer
		if err := c.call(ctx, http.MethodGet, c.requests, c.all(base, strconv.Itoa(page)), nil, &list, http.StatusOK); err != nil {
			return nil, false, err
		}
		for i := range list {
			if r := list[i].request(c); r.State == Open && r.Base == base {
				requests = append(requests, r)
			}
		}
		if len(list) == 0 || !c.paged && len(list) < listPage {
			return requests, false, nil
		}
	}
	return requests, true, nil
}

// one is a call about the request of a number.
func (c *client) one(ctx context.Context, method string, number int, texts map[string]string, want int) (Request, error) {
	var a answer
	err := c.call(ctx, method, c.requests+"/"+strconv.Itoa(number), nil, texts, &a, want)
	r := a.request(c)
	if err == nil && method == http.MethodGet && a.SourceProject != 0 && a.SourceProject != a.TargetProject && r.State == Open {
		var fork struct {
			Path string `json:"path_with_namespace"`
		}
		err = c.call(ctx, method, c.api+"/projects/"+strconv.Itoa(a.SourceProject), nil, nil, &fork, want)
		if r.Repository = fork.Path; errors.Is(err, ErrNotFound) { // it is gone, or hidden
			err = nil
		}
	}
	return r, err
}
