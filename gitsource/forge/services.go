package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// service is what the API of one kind of forge has of its own.
type service struct {
	public  string    // the API of the public service; "": everybody has their own
	below   string    // the path of the API below the address of a forge
	login   [2]string // the header with the token, and what is before it there
	headers map[string]string
	path    func(repository string) string // of the requests
	query   url.Values                     // asks for a page of the open requests, the last changed first
	paged   bool                           // the forge selects none of them by their branches

	update  string // the method of updates
	updated int    // the status of their answers
	closing map[string]string

	body, head, base string // names of fields
}

const (
	maxPages  = 20
	listPage  = 50 // Gitea's largest page in a default configuration
	listPages = 4  // of List
)

// services are the known ones by kind.
func services() map[string]service {
	repos := func(repository string) string { return "/repos/" + repository + "/pulls" }
	closed := map[string]string{"state": "closed"}
	most, plain := []string{strconv.Itoa(listPage)}, map[string]string{"Accept": "application/json"}
	gitea := service{
		below: "/api/v1", path: repos, paged: true,
		login: [2]string{"Authorization", "token "}, headers: plain,
		query:  url.Values{"state": {"open"}, "sort": {"recentupdate"}, "limit": most},
		update: http.MethodPatch, updated: http.StatusCreated, closing: closed, body: "body", head: "head", base: "base",
	}
	return map[string]service{
		"gitea": gitea, "forgejo": gitea,
		"github": {
			public: "https://api.github.com", below: "/api/v3", path: repos,
			login:   [2]string{"Authorization", "Bearer "},
			headers: map[string]string{"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"},
			query:   url.Values{"state": {"open"}, "sort": {"updated"}, "direction": {"desc"}, "per_page": most},
			update:  http.MethodPatch, updated: http.StatusOK, closing: closed, body: "body", head: "head", base: "base",
		},
		"gitlab": {
			public: "https://gitlab.com/api/v4", below: "/api/v4",
			path:  func(repository string) string { return "/projects/" + url.PathEscape(repository) + "/merge_requests" },
			login: [2]string{"PRIVATE-TOKEN"}, headers: plain,
			query:  url.Values{"state": {"opened"}, "order_by": {"updated_at"}, "sort": {"desc"}, "per_page": most},
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

// listed reads a page of the open requests, of a branch and into another one where the forge
// selects them; without head those of all branches.
func (c *client) listed(ctx context.Context, head, base string, page int) (list []answer, err error) {
	query := maps.Clone(c.query)
	query.Set("page", strconv.Itoa(page))
	if !c.paged {
		query.Set(c.base, base)
	}
	switch owner, _, _ := strings.Cut(c.Repository, "/"); {
	case c.paged || head == "":
	case c.Kind == "github":
		query.Set(c.head, owner+":"+head)
	default:
		query.Set(c.head, head)
	}
	err = c.call(ctx, http.MethodGet, c.requests, query, nil, &list, http.StatusOK)
	return list, err
}

// Find asks for the open requests of the branch. Where it has to walk through those of all,
// it stops behind 1,000 with an error, as it does not know.
func (c *client) Find(ctx context.Context, head, base string) (Request, bool, error) {
	for page := 1; page <= maxPages; page++ {
		list, err := c.listed(ctx, head, base, page)
		if err != nil {
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
		list, err := c.listed(ctx, "", base, page)
		if err != nil {
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
