package resource

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// hidden reports whether the client must not see a component, nor anything that reveals it.
func hidden(ctx context.Context, project *catalog.Project, component *catalog.Component) bool {
	return component.Settings.Private(project) && !rest.AccessOf(ctx).Sees(project)
}

// VisibleProject finds the project that the path names. Without a token for it a private one is
// visible if one of its components is public, since that component's payload contains it.
func VisibleProject(ctx context.Context, snap *store.Snapshot, r *rest.Request) (catalog.Project, error) {
	row, err := snap.Project(ctx, r.PathParam("project"))
	if err != nil || !row.Private() || rest.AccessOf(ctx).Sees(&row.Project) {
		return row.Project, err
	}
	components, err := VisibleComponents(ctx, snap, row.Slug)
	if err == nil && len(components) == 0 {
		err = rest.ErrNotFound
	}
	return row.Project, err
}

// VisibleComponents lists the visible components of a project, or of all with "", by id.
func VisibleComponents(ctx context.Context, snap *store.Snapshot, project string) ([]*store.ComponentRow, error) {
	rows, err := snap.Components(ctx, project)
	if err != nil || rest.AccessOf(ctx).SeesAll() {
		return rows, err
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row *store.ComponentRow) bool {
		return hidden(ctx, &row.Project, &row.Component)
	}), nil
}

// VisibleComponent finds the component that the path names.
func VisibleComponent(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.ComponentRow, error) {
	return visibleComponentBySlug(ctx, snap, r.PathParam("project"), r.PathParam("component"))
}

func visibleComponentBySlug(ctx context.Context, snap *store.Snapshot, project, slug string) (store.ComponentRow, error) {
	row, err := snap.Component(ctx, project, slug)
	if err == nil && hidden(ctx, &row.Project, &row.Component) {
		err = rest.ErrNotFound
	}
	return row, err
}

// ImportedComponent is VisibleComponent for the resources below a component, which are not
// served before the first import is done (docs/compatibility.md#first-import).
func (e *Env) ImportedComponent(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.ComponentRow, error) {
	return e.importedComponentBySlug(ctx, snap, r.PathParam("project"), r.PathParam("component"))
}

func (e *Env) importedComponentBySlug(ctx context.Context, snap *store.Snapshot, project, slug string) (store.ComponentRow, error) {
	row, err := visibleComponentBySlug(ctx, snap, project, slug)
	if err == nil && !row.Imported {
		p := &rest.Problem{Status: http.StatusServiceUnavailable, RetryAfter: rest.RetrySeconds}
		percent, running := e.Progress(&row)
		switch {
		case running:
			p.Detail = fmt.Sprintf("The first import of this component is running: %d %% done, importing.", percent)
		case row.Problem.Failed():
			p.Detail = "This component has not been imported yet; the last pull failed: " + rest.AccessOf(ctx).Failure(&row.Project, &row.Problem)
		default:
			p.Detail = "This component has not been imported yet."
		}
		err = p
	}
	return row, err
}

// namedComponents are the component that the path names, or those of a project.
func namedComponents(ctx context.Context, snap *store.Snapshot, r *rest.Request) ([]*store.ComponentRow, error) {
	if r.PathParam("component") != "" {
		row, err := VisibleComponent(ctx, snap, r)
		return []*store.ComponentRow{&row}, err
	}
	project, err := VisibleProject(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	return VisibleComponents(ctx, snap, project.Slug)
}

// servable checks that the component of a row is visible and that its first import is done.
func (e *Env) servable(ctx context.Context, snap *store.Snapshot, project *catalog.Project, component *catalog.Component) error {
	if hidden(ctx, project, component) {
		return rest.ErrNotFound
	}
	if component.Imported {
		return nil
	}
	_, err := e.importedComponentBySlug(ctx, snap, project.Slug, component.Slug)
	return err
}

// VisibleTranslation finds the translation that the path names: by language code, by the file's
// own code, or by any spelling or alias of the language (docs/compatibility.md#languages).
func (e *Env) VisibleTranslation(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.TranslationRow, error) {
	project, component, code := r.PathParam("project"), r.PathParam("component"), r.PathParam("language")
	t, err := snap.Translation(ctx, project, component, code)
	if errors.Is(err, catalog.ErrNotFound) {
		if _, err := e.ImportedComponent(ctx, snap, r); err != nil {
			return t, err
		}
		language, known := e.Languages.Lookup(code)
		if !known || language.Code == code {
			return t, rest.ErrNotFound
		}
		t, err = snap.Translation(ctx, project, component, language.Code)
	}
	if err != nil {
		return t, err
	}
	return t, e.servable(ctx, snap, &t.Project, &t.Component)
}

// VisibleProjects lists the projects that are visible or have a visible component, by id.
func VisibleProjects(ctx context.Context, snap *store.Snapshot) ([]catalog.Project, error) {
	all, err := snap.Projects(ctx)
	if err != nil {
		return nil, err
	}
	components, err := VisibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	shown := map[int64]bool{}
	for i := range components {
		shown[components[i].Project.ID] = true
	}
	visible := make([]catalog.Project, 0, len(all))
	for i := range all {
		if p := &all[i].Project; !p.Private() || shown[p.ID] || rest.AccessOf(ctx).Sees(p) {
			visible = append(visible, *p)
		}
	}
	return visible, nil
}

// ShownComponents returns the ids of the visible components; nil: nothing here is hidden.
func ShownComponents(ctx context.Context, snap *store.Snapshot) ([]int64, error) {
	q, err := WithoutHidden(ctx, snap, store.ChangeQuery{}, "")
	return q.Components, err
}

// VisibleUser finds the author that the path names. An author without an entry
// in a visible component is not found, and is not in the list either.
func VisibleUser(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.User, error) {
	user, err := snap.User(ctx, r.PathParam("username"))
	if err != nil {
		return user, err
	}
	shown, err := ShownComponents(ctx, snap)
	if err != nil {
		return user, err
	}
	known, err := snap.RestrictUser(ctx, &user, shown)
	if err == nil && !known {
		err = rest.ErrNotFound
	}
	return user, err
}

// servedLanguages returns the codes of the served translations, sorted.
func servedLanguages(ctx context.Context, snap *store.Snapshot) ([]string, error) {
	ids, err := importedIDs(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	return snap.Languages(ctx, ids)
}

func (e *Env) visibleUnit(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.UnitRow, error) {
	id, err := r.PathID()
	if err != nil {
		return store.UnitRow{}, err
	}
	row, err := snap.Unit(ctx, id)
	if err != nil {
		return row, err
	}
	return row, e.servable(ctx, snap, &row.Translation.Project, &row.Translation.Component)
}

// TakesEdits reports whether the client sees a component that takes edits.
func TakesEdits(ctx context.Context, snap *store.Snapshot, _ *rest.Request) (bool, error) {
	rows, err := VisibleComponents(ctx, snap, "")
	return slices.ContainsFunc(rows, func(c *store.ComponentRow) bool { return c.Settings.Edits.Taken() }), err
}

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
		return scope{path: pathOf(&t), translation: t.ID, component: t.ComponentID}, err
	case r.PathParam("component") != "":
		c, err := e.ImportedComponent(ctx, snap, r)
		return scope{path: wire.ComponentPath(c.Project.Slug, c.Slug), component: c.ID}, err
	case r.PathParam("project") != "":
		p, err := VisibleProject(ctx, snap, r)
		return scope{path: wire.ProjectPath(p.Slug), project: p.ID, slug: p.Slug}, err
	case r.PathParam("code") != "":
		l, err := e.VisibleLanguage(ctx, snap, r)
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

func (s *scope) changes(ctx context.Context, snap *store.Snapshot) (store.ChangeQuery, error) {
	switch {
	case s.translation != 0:
		return store.ChangeQuery{TranslationID: s.translation, UnitID: s.unit}, nil
	case s.component != 0:
		return store.ChangeQuery{ComponentID: s.component}, nil
	}
	return WithoutHidden(ctx, snap, store.ChangeQuery{ProjectID: s.project}, s.slug)
}

func pathOf(t *store.TranslationRow) string {
	return wire.TranslationPath(t.Project.Slug, t.Component.Slug, t.Language)
}
