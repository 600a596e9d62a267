package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// scope is what a path names: a string, a translation, a component, a project, a language, or
// everything. Lists of changes, contributors, statistics and edits are about one.
type scope struct {
	path string // of its resource

	unit, translation, component, project int64  // the id of it and of what it is in, as far as a list needs them
	slug                                  string // of the project
	language                              string
}

// scopeOf finds what the path of a request names, if the client may see it and it is imported.
func (e *Env) scopeOf(ctx context.Context, snap *store.Snapshot, r *rest.Request) (scope, error) {
	switch {
	case r.PathParam("id") != "":
		u, err := e.visibleUnit(ctx, snap, r)
		return scope{path: wire.UnitPath(u.ID), unit: u.ID, translation: u.Translation.ID, component: u.Translation.ComponentID}, err
	case r.PathParam("language") != "":
		t, err := e.VisibleTranslation(ctx, snap, r)
		return scope{path: wire.TranslationPath(t.Project.Slug, t.Component.Slug, t.Language), translation: t.ID, component: t.ComponentID}, err
	case r.PathParam("component") != "":
		c, err := e.ImportedComponent(ctx, snap, r)
		return scope{path: wire.ComponentPath(c.Project.Slug, c.Slug), component: c.ID}, err
	case r.PathParam("project") != "":
		p, err := VisibleProject(ctx, snap, r)
		return scope{path: wire.ProjectPath(p.Slug), project: p.ID, slug: p.Slug}, err
	case r.PathParam("code") != "":
		l, err := e.VisibleLanguage(ctx, snap, r.PathParam("code"))
		return scope{path: wire.Path("api", "languages", l.Code), language: l.Code}, err
	}
	return scope{path: "/api/"}, nil
}

// components are the ids of the imported components of a scope that the client may see.
func (s *scope) components(ctx context.Context, snap *store.Snapshot) ([]int64, error) {
	if s.component != 0 {
		return []int64{s.component}, nil
	}
	return importedIDs(ctx, snap, s.slug)
}

// changes selects the entries of a scope.
func (s *scope) changes(ctx context.Context, snap *store.Snapshot) (store.ChangeQuery, error) {
	switch {
	case s.translation != 0:
		return store.ChangeQuery{TranslationID: s.translation, UnitID: s.unit}, nil
	case s.component != 0:
		return store.ChangeQuery{ComponentID: s.component}, nil
	}
	return WithoutHidden(ctx, snap, store.ChangeQuery{ProjectID: s.project}, s.slug)
}
