package resource

import (
	"context"
	"errors"
	"net/http"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
)

// The answers to searches that would delay other requests.
var (
	errSearchTooSlow = rest.BadParameter("q", "The search takes too long: name a project, a component or a language, or leave regular expressions away.")
	errSearchBusy    = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: "Too many searches are running.", RetryAfter: 1}
)

// unitQuery reads the parameter q; an empty or missing one is query.All. An
// error names its column (docs/compatibility.md#search).
func unitQuery(r *rest.Request) (query.Expr, error) {
	q, _ := r.Params.Get("q")
	expr, err := query.Parse(q)
	var wrong *query.Error
	if errors.As(err, &wrong) {
		return nil, rest.BadParameter("q", wrong.Error())
	}
	return expr, err
}

// searchUnits answers the list at path with the units that q finds.
func searchUnits(ctx context.Context, snap *store.Snapshot, r *rest.Request, q store.SearchQuery, path string) (any, error) {
	found, err := snap.Search(ctx, q)
	if err != nil {
		return nil, searchProblem(err)
	}
	w, err := r.FindWindow(found.Count(), rest.MaxUnitsSize)
	if err != nil {
		return nil, err
	}
	units, owners, err := found.Page(ctx, int64(w.Offset), w.Limit)
	if err != nil {
		return nil, err
	}
	return r.NewList(w, path, pageOfUnits(r.Link, units, owners, q.Components)), nil
}

// searchTranslation answers the units of one translation that q finds.
func searchTranslation(ctx context.Context, snap *store.Snapshot, r *rest.Request, t *store.TranslationRow, expr query.Expr) (any, error) {
	q := store.SearchQuery{
		Components: componentOf(t), TranslationID: t.ID, Expr: expr,
	}
	return searchUnits(ctx, snap, r, q, wire.TranslationPath(t.Project.Slug, t.Component.Slug, t.Language)+"units/")
}

// searchProblem is what a client is told of a failed search.
func searchProblem(err error) error {
	switch {
	case errors.Is(err, store.ErrTooSlow):
		return errSearchTooSlow
	case errors.Is(err, store.ErrBusy):
		return errSearchBusy
	}
	return err
}
