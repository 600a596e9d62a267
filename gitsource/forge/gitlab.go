package forge

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// gitLab is GitLab.
type gitLab struct{ client }

// merge is a merge request.
type merge struct {
	IID           int    `json:"iid"`
	State         string `json:"state"`
	Title         string `json:"title"`
	Description   string `json:"description"`
	WebURL        string `json:"web_url"`
	SourceBranch  string `json:"source_branch"`
	TargetBranch  string `json:"target_branch"`
	SourceProject int    `json:"source_project_id"`
	TargetProject int    `json:"target_project_id"`
}

func (m *merge) request(c *client) Request {
	state := Open // opened, and locked while it is merged
	switch m.State {
	case "merged":
		state = Merged
	case "closed":
		state = Closed
	}
	return Request{Number: m.IID, State: state, URL: c.page(m.WebURL), Title: m.Title, Body: m.Description, Base: m.TargetBranch}
}

func (g *gitLab) merges() string {
	return "/projects/" + url.PathEscape(g.repository) + "/merge_requests"
}

// Find asks for the open requests of the branch.
func (g *gitLab) Find(ctx context.Context, head, base string) (Request, bool, error) {
	var list []merge
	query := url.Values{"state": {"opened"}, "source_branch": {head}, "target_branch": {base}, "per_page": {"20"}}
	if err := g.call(ctx, http.MethodGet, g.merges(), query, nil, &list, http.StatusOK); err != nil {
		return Request{}, false, err
	}
	for i := range list {
		m := &list[i]
		if m.SourceBranch == head && m.TargetBranch == base && m.SourceProject == m.TargetProject {
			if r := m.request(&g.client); r.State == Open {
				return r, true, nil
			}
		}
	}
	return Request{}, false, nil
}

type mergeTexts struct {
	Title        string `json:"title"`
	Description  string `json:"description"`
	SourceBranch string `json:"source_branch,omitempty"`
	TargetBranch string `json:"target_branch,omitempty"`
}

// Open opens a merge request.
func (g *gitLab) Open(ctx context.Context, d Draft) (Request, error) {
	var m merge
	err := g.call(ctx, http.MethodPost, g.merges(), nil, mergeTexts{title(d.Title), body(d.Body), d.Head, d.Base}, &m, http.StatusCreated)
	return m.request(&g.client), err
}

// Update sets title, description and target.
func (g *gitLab) Update(ctx context.Context, r Request) (Request, error) {
	var m merge
	texts := mergeTexts{Title: title(r.Title), Description: body(r.Body), TargetBranch: r.Base}
	err := g.call(ctx, http.MethodPut, g.merges()+"/"+strconv.Itoa(r.Number), nil, texts, &m, http.StatusOK)
	return m.request(&g.client), err
}

// Close closes a merge request.
func (g *gitLab) Close(ctx context.Context, number int) error {
	return g.call(ctx, http.MethodPut, g.merges()+"/"+strconv.Itoa(number), nil, map[string]string{"state_event": "close"}, &merge{}, http.StatusOK)
}

// Read returns a merge request.
func (g *gitLab) Read(ctx context.Context, number int) (Request, error) {
	var m merge
	err := g.call(ctx, http.MethodGet, g.merges()+"/"+strconv.Itoa(number), nil, nil, &m, http.StatusOK)
	return m.request(&g.client), err
}
