package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
)

// The answers to searches that would hold up others.
var (
	errSearchTooSlow = errParameter("q", "The search takes too long: name a project, a component or a language, or leave regular expressions away.")
	errSearchBusy    = &problem{status: http.StatusServiceUnavailable, detail: "Too many searches are running.", retryAfter: 1}
)

// unitQuery reads the parameter q (facts §7); none, or an empty one, is
// query.All. What is wrong with it is told with its column (decision 29).
func (r *request) unitQuery() (query.Expr, error) {
	q, _ := r.params.get("q")
	expr, err := query.Parse(q)
	var wrong *query.Error
	if errors.As(err, &wrong) {
		return nil, errParameter("q", wrong.Error())
	}
	return expr, err
}

// searchUnits answers the list at path with the units that q finds.
func searchUnits(ctx context.Context, snap *store.Snapshot, r *request, q store.SearchQuery, path string) (any, error) {
	found, err := snap.Search(ctx, q)
	if err != nil {
		return nil, searchProblem(err)
	}
	w, err := r.window(found.Count(), maxUnitsSize)
	if err != nil {
		return nil, err
	}
	units, owners, err := found.Page(ctx, int64(w.offset), w.limit)
	if err != nil {
		return nil, err
	}
	return r.list(w, path, pageOfUnits(r.link, units, owners, q.Components)), nil
}

// searchTranslation answers the units of one translation that q finds.
func searchTranslation(ctx context.Context, snap *store.Snapshot, r *request, t *store.TranslationRow, expr query.Expr) (any, error) {
	q := store.SearchQuery{
		Components:    map[int64]*store.ComponentRow{t.Component.ID: {Component: t.Component, Project: t.Project}},
		TranslationID: t.ID, Expr: expr,
	}
	return searchUnits(ctx, snap, r, q, wire.TranslationPath(t.Project.Slug, t.Component.Slug, t.Language)+"units/")
}

// searchProblem is what a client is told of a search that failed.
func searchProblem(err error) error {
	switch {
	case errors.Is(err, store.ErrTooSlow):
		return errSearchTooSlow
	case errors.Is(err, store.ErrBusy):
		return errSearchBusy
	}
	return err
}
