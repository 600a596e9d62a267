package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
)

// importBig imports the component big/big: n Czech units with an entry each.
func importBig(w *writer, n int) {
	w.TB.Helper()
	w.Configure([]catalog.Project{{Slug: "big", Settings: projectDefaults("Big")}}, []store.ComponentSpec{
		{Project: "big", Slug: "big", Settings: componentDefaults("Big"), Repo: repoBig, Branch: "main"},
	})
	units := numberedUnits(n)
	w.Import("big/big", repoBig, "Jane", sourceFile(units), czechFile(units))
}

// addBigUnits is addUnits for big/big.
func addBigUnits(w *writer, head string, n int) {
	w.TB.Helper()
	addUnits(w, "big/big", repoBig, "Jane", head, n)
}

// addUnits is a step that adds n units, with an entry each, to the Czech translation
// of a component.
func addUnits(w *writer, component, repo, author, head string, n int) {
	w.TB.Helper()
	id := w.IDs[component]
	w.Step(id, repo, "main", head, func(ctx context.Context, tx *store.StepTx) error {
		all, err := tx.Translations(ctx, id)
		if err != nil {
			return err
		}
		t := translationOf(all, "cs")
		placed, err := tx.Layout(ctx, t.ID)
		if err != nil {
			return err
		}
		var h catalog.Hasher
		added := make([]store.FingerprintedUnit, n)
		for i := range added {
			u := &catalog.Unit{TranslationID: t.ID, SourceID: id*catalog.UnitsPerComponent + 1, Target: "x", State: 20, Priority: 100, Created: catalogtest.Now()}
			u.Identity = h.Identity(head, fmt.Sprint(i))
			t.Stats.AddUnit(u)
			added[i] = store.FingerprintedUnit{Unit: u, Text: 1, Meta: 1}
		}
		if err := tx.AddUnits(ctx, added); err != nil {
			return err
		}
		units := make([]catalog.Unit, n)
		for i := range added {
			units[i] = *added[i].Unit
			placed = append(placed, catalog.UnitPosition{ID: units[i].ID, Position: len(placed) + 1})
		}
		if err := errors.Join(tx.PutLayout(ctx, t.ID, placed), tx.PutTranslation(ctx, t)); err != nil {
			return err
		}
		return addEntries(ctx, tx, id, t, author, catalog.ActionNewUnit, units)
	})
}
