package resource

import (
	"context"
	"strings"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// maxFound is the number of results that a search shows of each category.
const maxFound = 5

// search finds projects, components, users and languages whose name or slug
// contains q, in any case. It answers a bare array, empty for an empty q.
func (e *Env) search(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	q, _ := r.Params.Get("q")
	f := &findings{needle: strings.ToLower(strings.TrimSpace(q)), found: []wire.SearchResult{}}
	if f.needle == "" {
		return &rest.Array{Items: f.found}, nil
	}
	projects, err := VisibleProjects(ctx, snap)
	if err != nil {
		return nil, err
	}
	for i := range projects {
		p := &projects[i]
		name := wire.NameOrSlug(p.Settings.Name, p.Slug)
		f.add("Project", name, wire.Path("projects", p.Slug), name, p.Slug)
	}
	components, err := VisibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	for _, c := range components {
		name := wire.NameOrSlug(c.Settings.Name, c.Slug)
		f.add("Component", wire.NameOrSlug(c.Project.Settings.Name, c.Project.Slug)+"/"+name, wire.Path("projects", c.Project.Slug, c.Slug), name, c.Slug)
	}
	shown, err := ShownComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	users, _, err := snap.Users(ctx, store.UserQuery{Contains: f.needle, Components: shown, Limit: maxFound})
	if err != nil {
		return nil, err
	}
	for i := range users {
		f.add("User", users[i].FullName, wire.Path("user", users[i].Username), users[i].Username, users[i].FullName)
	}
	codes, err := servedLanguages(ctx, snap)
	for _, code := range codes {
		l := e.Language(code)
		f.add("Language", l.Name, wire.Path("languages", l.Code), l.Name, l.Code)
	}
	return &rest.Array{Items: f.found}, err
}

// findings collects results.
type findings struct {
	needle string // in lower case
	found  []wire.SearchResult
	last   string // category of the last result
	n      int    // results in that category
}

// add adds a result if one of its texts contains the needle, unless its
// category is full.
func (f *findings) add(category, name, url string, texts ...string) {
	if f.last != category {
		f.last, f.n = category, 0
	}
	for _, text := range texts {
		if f.n < maxFound && strings.Contains(strings.ToLower(text), f.needle) {
			f.found = append(f.found, wire.SearchResult{URL: url, Name: name, Category: category})
			f.n++
			return
		}
	}
}
