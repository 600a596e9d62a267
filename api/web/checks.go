package web

import (
	"cmp"
	"context"
	"slices"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

type checkList struct {
	Failing, Passed []checkRow
}

type checkRow struct {
	checks.Check
	Units int64
}

func (p *Pages) checks(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view) error {
	v.named(v.L.T("Quality checks"), "repoglot")
	numbers, err := resource.CheckUnits(ctx, snap)
	if err != nil {
		return err
	}
	o := checkList{}
	for _, c := range checks.All() {
		row := checkRow{c, numbers[c.ID]}
		if row.Units > 0 {
			o.Failing = append(o.Failing, row)
		} else {
			o.Passed = append(o.Passed, row)
		}
	}
	slices.SortStableFunc(o.Failing, func(a, b checkRow) int { return cmp.Compare(b.Units, a.Units) })
	v.Body = o
	return nil
}

type oneCheck struct {
	Check  checks.Check
	Places []checkPlace
	Total  int64
}

// checkPlace is a translation with strings that fail a check.
type checkPlace struct {
	Where, Code, URL string
	Units            int64
}

func (p *Pages) oneCheck(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error {
	id, ok := checks.ByName(r.PathParam("check"))
	if !ok {
		return rest.ErrNotFound
	}
	o := oneCheck{Check: checks.All()[id]}
	v.Crumbs = []link{{Name: v.L.T("Quality checks"), URL: path("checks")}}
	v.named(v.L.T(o.Check.Title), v.L.T("Quality checks"))
	components, ids, err := resource.ServedComponents(ctx, snap)
	if err != nil {
		return err
	}
	counts, err := snap.CheckPlaces(ctx, ids, int64(id))
	if err != nil {
		return err
	}
	slices.SortStableFunc(counts, func(a, b store.CheckCount) int { return cmp.Compare(b.Units, a.Units) }) // they come by id
	units := map[int64]int64{}
	for i := range counts {
		units[counts[i].TranslationID] = counts[i].Units
		o.Total += counts[i].Units
	}
	v.Pages, counts = cutPage(v, "page", counts, placesOnPage)
	translations, err := snap.TranslationsByID(ctx, rest.Objects(counts, func(c *store.CheckCount) int64 { return c.TranslationID }))
	if err != nil {
		return err
	}
	for i := range translations {
		t := &translations[i]
		c := components[t.ComponentID]
		o.Places = append(o.Places, checkPlace{
			Where: where(c), Code: t.Language, Units: units[t.ID],
			URL: path("translate", c.Project.Slug, c.Slug, t.Language) + "?q=check:" + o.Check.Name,
		})
	}
	slices.SortStableFunc(o.Places, func(a, b checkPlace) int { return cmp.Compare(b.Units, a.Units) })
	v.Body = o
	return nil
}

func checkAPI(r *rest.Request) string { return "/api/units/?q=check:" + r.PathParam("check") }
