package resource

import (
	"context"
	"slices"
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
	needle := strings.ToLower(strings.TrimSpace(q))
	found, of := []wire.SearchResult{}, map[string]int{}
	if needle == "" {
		return &rest.Array{Items: found}, nil
	}
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), needle) }
	add := func(category, name, url string, texts ...string) {
		if of[category] < maxFound && slices.ContainsFunc(texts, has) {
			of[category]++
			found = append(found, wire.SearchResult{URL: url, Name: name, Category: category})
		}
	}
	projects, err := VisibleProjects(ctx, snap)
	if err != nil {
		return nil, err
	}
	for i := range projects {
		p := &projects[i]
		name := wire.NameOrSlug(p.Settings.Name, p.Slug)
		add("Project", name, wire.Path("projects", p.Slug), name, p.Slug)
	}
	components, err := VisibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	for _, c := range components {
		name := wire.NameOrSlug(c.Settings.Name, c.Slug)
		add("Component", wire.NameOrSlug(c.Project.Settings.Name, c.Project.Slug)+"/"+name, wire.Path("projects", c.Project.Slug, c.Slug), name, c.Slug)
	}
	shown, err := ShownComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	users, _, err := snap.Users(ctx, store.UserQuery{Contains: needle, Components: shown, Limit: maxFound})
	if err != nil {
		return nil, err
	}
	for i := range users {
		add("User", users[i].FullName, wire.Path("user", users[i].Username), users[i].Username, users[i].FullName)
	}
	codes, err := servedLanguages(ctx, snap)
	for _, code := range codes {
		l := e.Language(code)
		add("Language", l.Name, wire.Path("languages", l.Code), l.Name, l.Code)
	}
	return &rest.Array{Items: found}, err
}
