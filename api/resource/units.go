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
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
)

func listUnits(ctx context.Context, snap *store.Snapshot, r *rest.Request, t *store.TranslationRow) (any, error) {
	path := pathOf(t) + "units/"
	expr, err := UnitQuery(r)
	if err != nil {
		return nil, err
	}
	if expr != query.All {
		return searchUnits(ctx, snap, r, store.SearchQuery{Components: ComponentOf(t), TranslationID: t.ID, Expr: expr}, path)
	}
	return r.List(t.Stats.Total.Units, rest.MaxUnitsSize, path, func(w rest.Window) (any, error) {
		units, err := snap.Units(ctx, t.ID, w.Offset, w.Limit)
		scope := wire.NewUnitScope(r.Link, &t.Translation, t.Project.Slug, t.Component.Slug)
		return wire.NewUnitPage(units, func(*catalog.Unit) *wire.UnitScope { return &scope }), err
	})
}

// getUnit also answers removed units and units of a removed translation: change
// entries link to them (docs/compatibility.md#ids).
func getUnit(_ context.Context, _ *store.Snapshot, r *rest.Request, unit *store.UnitRow) (any, error) {
	t := &unit.Translation
	scope := wire.NewUnitScope(r.Link, &t.Translation, t.Project.Slug, t.Component.Slug)
	return scope.Unit(&unit.Unit), nil
}

// listAllUnits lists the units of all served translations, by id.
func listAllUnits(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	expr, err := UnitQuery(r)
	if err != nil {
		return nil, err
	}
	components, ids, err := ServedComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	if expr != query.All {
		return searchUnits(ctx, snap, r, store.SearchQuery{Components: components, Expr: expr}, "/api/units/")
	}
	totals, err := snap.UnitTotals(ctx, ids)
	if err != nil {
		return nil, err
	}
	var count int64
	for _, n := range totals {
		count += n
	}
	return r.List(count, rest.MaxUnitsSize, "/api/units/", func(w rest.Window) (any, error) {
		units, owners, err := snap.AllUnits(ctx, totals, int64(w.Offset), w.Limit)
		return pageOfUnits(r.Link, units, owners, components), err
	})
}

// listUnitTranslations lists a string in all languages except the source
// language, by id. The id in the path may be the string's in any language.
func listUnitTranslations(ctx context.Context, snap *store.Snapshot, r *rest.Request, unit *store.UnitRow) (any, error) {
	all, owners, err := snap.UnitsByIdentity(ctx, unit.Translation.Component.ID, unit.Identity)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(u catalog.Unit) bool { return owners[u.TranslationID].IsSource })
	return r.List(int64(len(all)), rest.MaxUnitsSize, wire.UnitPath(unit.ID)+"translations/", func(w rest.Window) (any, error) {
		return pageOfUnits(r.Link, rest.Slice(all, w), owners, ComponentOf(&unit.Translation)), nil
	})
}

// pageOfUnits makes a page of units of several translations.
func pageOfUnits(l wire.Links, units []catalog.Unit, owners map[int64]catalog.Translation, components map[int64]*store.ComponentRow) *wire.UnitPage {
	scopes := map[int64]*wire.UnitScope{}
	return wire.NewUnitPage(units, func(u *catalog.Unit) *wire.UnitScope {
		scope := scopes[u.TranslationID]
		if scope == nil {
			t := owners[u.TranslationID]
			of := components[t.ComponentID]
			made := wire.NewUnitScope(l, &t, of.Project.Slug, of.Slug)
			scope = &made
			scopes[u.TranslationID] = scope
		}
		return scope
	})
}

// The answers to searches that would delay other requests.
var (
	errSearchTooSlow = rest.BadParameter("q", "The search takes too long: "+narrowIt+".")
	errSearchBusy    = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: "Too many searches are running.", RetryAfter: 1}
)

// narrowIt is what a client with a large search can do.
const narrowIt = "name a project, a component or a language, or leave regular expressions away"

// UnitQuery reads the parameter q; an empty or missing one is query.All. An
// error names its column (docs/compatibility.md#search).
func UnitQuery(r *rest.Request) (query.Expr, error) {
	q, _ := r.Params.Get("q")
	expr, err := query.ParseAt(q, r.Now)
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
		return nil, SearchProblem(err)
	}
	return r.List(found.Count(), rest.MaxUnitsSize, path, func(w rest.Window) (any, error) {
		units, owners, err := found.Page(ctx, int64(w.Offset), w.Limit)
		return pageOfUnits(r.Link, units, owners, q.Components), err
	})
}

// SearchProblem is what a client is told of a failed search.
func SearchProblem(err error) error {
	var price *store.ErrPrice
	switch {
	case errors.As(err, &price) && price.Price > store.MaxSearchPrice:
		return rest.BadParameter("q", fmt.Sprintf("The search is too large, by about %d times: %s.", (price.Price+store.MaxSearchPrice-1)/store.MaxSearchPrice, narrowIt))
	case errors.Is(err, store.ErrTooSlow):
		return errSearchTooSlow
	case errors.Is(err, store.ErrBusy):
		return errSearchBusy
	}
	return err
}
