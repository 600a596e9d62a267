package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
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

// first returns the first nonempty text at paths of an answer: GitLab has names of its own.
func first(a gjson.Result, paths ...string) string {
	for _, path := range paths {
		if v := a.Get(path); v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return ""
}

// own reports whether an answer of GitLab is about a branch of the repository itself.
func own(a gjson.Result) bool {
	return a.Get("iid").Exists() && a.Get("source_project_id").Int() == a.Get("target_project_id").Int()
}

// joins reports whether a request is of two branches of the repository, and of no fork's.
func (c *client) joins(a gjson.Result, head, base string) bool {
	is := func(end, branch string) bool {
		return first(a, end+".ref") == branch && strings.EqualFold(first(a, end+".repo.full_name"), c.Repository)
	}
	return is("head", head) && is("base", base) || own(a) && first(a, "source_branch") == head && first(a, "target_branch") == base
}

func (c *client) request(a gjson.Result) Request {
	r := Request{
		Number: int(cmp.Or(a.Get("number").Int(), a.Get("iid").Int())), State: Open, URL: c.page(first(a, "html_url", "web_url")),
		Title: first(a, "title"), Body: first(a, "body", "description"), Base: first(a, "base.ref", "target_branch"),
		Commit: first(a, "head.sha", "sha"), Branch: first(a, "head.ref", "source_branch"), Repository: first(a, "head.repo.full_name"),
		Merges: a.Get("mergeable").Bool() || first(a, "merge_status") == "can_be_merged",
	}
	switch state := first(a, "state"); { // GitLab's may be locked, too, while they are merged
	case a.Get("merged").Bool() || first(a, "merged_at") != "" || state == "merged":
		r.State = Merged
	case state == "closed":
		r.State = Closed
	}
	if own(a) {
		r.Repository = c.Repository
	}
	r.Editable = strings.EqualFold(r.Repository, c.Repository)
	for _, key := range []string{"maintainer_can_modify", "allow_maintainer_edit", "allow_collaboration"} { // GitHub's, Gitea's and Forgejo's, GitLab's
		r.Editable = r.Editable || a.Get(key).Bool()
	}
	return r
}

// listed reads a page of the open requests, of a branch and into another one where the forge
// selects them; without head those of all branches.
func (c *client) listed(ctx context.Context, head, base string, page int) ([]gjson.Result, error) {
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
	list, err := c.call(ctx, http.MethodGet, c.requests, query, nil, http.StatusOK)
	return list.Array(), err
}

// Find asks for the open requests of the branch. Where it has to walk through those of all,
// it stops behind 1,000 with an error, as it does not know.
func (c *client) Find(ctx context.Context, head, base string) (Request, bool, error) {
	for page := 1; page <= maxPages; page++ {
		list, err := c.listed(ctx, head, base, page)
		if err != nil {
			return Request{}, false, err
		}
		for _, a := range list {
			if r := c.request(a); r.State == Open && c.joins(a, head, base) {
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
	a, err := c.call(ctx, http.MethodPost, c.requests, nil, texts, http.StatusCreated)
	return c.request(a), err
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
		for _, a := range list {
			if r := c.request(a); r.State == Open && r.Base == base {
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
	a, err := c.call(ctx, method, c.requests+"/"+strconv.Itoa(number), nil, texts, want)
	r := c.request(a)
	if from := a.Get("source_project_id").Int(); err == nil && method == http.MethodGet && from != 0 && !own(a) && r.State == Open {
		var fork gjson.Result
		fork, err = c.call(ctx, method, c.api+"/projects/"+strconv.FormatInt(from, 10), nil, nil, want)
		if r.Repository = first(fork, "path_with_namespace"); errors.Is(err, ErrNotFound) { // it is gone, or hidden
			err = nil
		}
	}
	return r, err
}

// MayPush reports whether an account may push to the repository: of a name, and of an id that
// stays. The token must permit to see that, on GitHub and Gitea that of somebody who may push.
func MayPush(ctx context.Context, o Options, name, id string) (bool, error) {
	f, err := New(o)
	if err != nil {
		return false, err
	}
	c := f.(*client)
	address := c.api + "/repos/" + o.Repository + "/collaborators/" + url.PathEscape(name) + "/permission"
	if o.Kind == "gitlab" {
		address = c.api + "/projects/" + url.PathEscape(o.Repository) + "/members/all/" + url.PathEscape(id)
	}
	a, err := c.call(ctx, http.MethodGet, address, nil, nil, http.StatusOK)
	if errors.Is(err, ErrNotFound) { // no collaborator, or no such account
		return false, nil
	}
	pushes := slices.Contains([]string{"write", "admin", "owner"}, a.Get("permission").String()) || a.Get("access_level").Int() >= 30 && a.Get("state").String() == "active"
	return err == nil && pushes && cmp.Or(a.Get("user.id").String(), a.Get("id").String()) == id, err
}
