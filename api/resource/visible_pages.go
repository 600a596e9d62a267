package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
)

// The pages of api/web read through these, so that they show what the API shows: the
// functions of the same names in small letters say what each does.

// VisibleProject finds the project that the path names.
func VisibleProject(ctx context.Context, snap *store.Snapshot, r *rest.Request) (catalog.Project, error) {
	return visibleProject(ctx, snap, r)
}

// VisibleProjects lists the projects that the client may see.
func VisibleProjects(ctx context.Context, snap *store.Snapshot) ([]catalog.Project, error) {
	return visibleProjects(ctx, snap)
}

// VisibleComponents lists the components of a project that the client may see, or of
// all with "".
func VisibleComponents(ctx context.Context, snap *store.Snapshot, project string) ([]*store.ComponentRow, error) {
	return visibleComponents(ctx, snap, project)
}

// VisibleComponent finds the component that the path names, imported or not.
func VisibleComponent(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.ComponentRow, error) {
	return visibleComponent(ctx, snap, r)
}

// ImportedComponent finds the component that the path names, if it is imported.
func (e *Env) ImportedComponent(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.ComponentRow, error) {
	return e.importedComponent(ctx, snap, r)
}

// VisibleTranslation finds the translation that the path names.
func (e *Env) VisibleTranslation(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.TranslationRow, error) {
	return e.visibleTranslation(ctx, snap, r)
}

// VisibleLanguage finds a language by its code.
func (e *Env) VisibleLanguage(ctx context.Context, snap *store.Snapshot, code string) (lang.Language, error) {
	return e.visibleLanguage(ctx, snap, code)
}

// VisibleUser finds the author that the path names.
func VisibleUser(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.User, error) {
	return visibleUser(ctx, snap, r)
}

// ShownComponents returns the ids of the components that the client may see, or nil if
// nothing is hidden.
func ShownComponents(ctx context.Context, snap *store.Snapshot) ([]int64, error) {
	return shownComponents(ctx, snap)
}

// WithoutHidden limits q to entries of components that the client may see.
func WithoutHidden(ctx context.Context, snap *store.Snapshot, q store.ChangeQuery, project string) (store.ChangeQuery, error) {
	return withoutHidden(ctx, snap, q, project)
}

// UnitQuery reads the parameter q of a search for strings.
func UnitQuery(r *rest.Request) (query.Expr, error) { return unitQuery(r) }

// SearchProblem is what a client is told of a failed search.
func SearchProblem(err error) error { return searchProblem(err) }

// ChecksOf makes the checks that explain where units of a translation fail.
func (e *Env) ChecksOf(ctx context.Context, snap *store.Snapshot, t *store.TranslationRow, units []catalog.Unit) (*checks.Set, error) {
	return e.checksOf(ctx, snap, t, units)
}
