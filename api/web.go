package api

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// redirect is the path of the resource that a page of Weblate's is about.
type redirect string

// webRoutes are the pages that answers name (web_url and others, facts §12).
// There is one page for each resource, that of the API, so these lead there;
// whether the resource exists is decided there.
func (s *Server) webRoutes() []route {
	const about = "A page of the web, told by the resource that it is about."
	to := func(pattern, name string, target func(r *request) string) route {
		return route{pattern, allowRead, name, about, object, func(_ context.Context, _ *store.Snapshot, r *request) (any, error) {
			return redirect(target(r)), nil
		}}
	}
	project := func(r *request) string { return projectPath(r.segment("project")) }
	component := func(r *request) string { return componentPath(r.segment("project"), r.segment("component")) }
	translation := func(r *request) string {
		return translationPath(r.segment("project"), r.segment("component"), r.segment("language"))
	}
	language := func(r *request) string { return path("api", "languages", r.segment("language")) }
	languages := func(r *request) string { return project(r) + "languages/" }
	below := func(of func(r *request) string, name string) func(*request) string {
		return func(r *request) string { return of(r) + name }
	}
	fixed := func(target string) func(*request) string { return func(*request) string { return target } }
	return []route{
		to("/projects/", "Projects", fixed("/api/projects/")),
		to("/projects/:project/", "Project", project),
		to("/projects/:project/-/:language/", "Project in a Language", languages),
		to("/projects/:project/:component/", "Component", component),
		to("/projects/:project/:component/:language/", "Translation", translation),
		to("/translate/:project/", "Translate", below(project, "components/")),
		to("/translate/:project/-/:language/", "Translate", languages),
		to("/translate/:project/:component/", "Translate", below(component, "translations/")),
		{"/translate/:project/:component/:language/", allowRead, "Translate", about, object, s.translatePage},
		to("/engage/:project/", "Project", project),
		to("/engage/:project/:language/", "Project in a Language", languages),
		to("/engage/:project/-/:language/", "Project in a Language", languages),
		to("/languages/", "Languages", fixed("/api/languages/")),
		to("/languages/:language/", "Language", language),
		to("/languages/:language/:project/", "Project in a Language", languages),
		to("/changes/", "Changes", fixed("/api/changes/")),
		to("/changes/browse/:project/", "Changes", below(project, "changes/")),
		to("/changes/browse/:project/:component/", "Changes", below(component, "changes/")),
		to("/changes/browse/:project/:component/:language/", "Changes", below(translation, "changes/")),
		to("/user/:username/", "User", func(r *request) string { return path("api", "users", r.segment("username")) }),
	}
}

// translatePage leads to the strings of a translation, or to the one that the
// parameter checksum names, as web_url of a unit does. A checksum that no
// string has leads to all of them.
func (s *Server) translatePage(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	t, err := s.visibleTranslation(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	checksum, _ := r.params.get("checksum")
	if hash, ok := catalog.ParseChecksum(checksum); ok {
		id, found, err := snap.UnitByHash(ctx, t.ID, hash)
		if err != nil {
			return nil, err
		}
		if found {
			return redirect("/api/units/" + itoa(id) + "/"), nil
		}
	}
	return redirect(translationPath(t.Project.Slug, t.Component.Slug, t.Language) + "units/"), nil
}
