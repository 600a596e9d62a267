package ingest

import (
	"cmp"
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// stepStore is where an application reads what is stored and writes what a step
// changes: the transaction of a pull's step (direct), or in a replay the staging area that
// many commits share. The methods do what the methods of store.StepTx do.
type stepStore interface {
	Known(ctx context.Context, translation int64) ([]catalog.Known, error)
	// Texts returns the texts of units of one translation.
	Texts(ctx context.Context, translation int64, ids []int64) (map[int64]store.Text, error)
	AddUnits(ctx context.Context, units []store.FingerprintedUnit) error
	UpdateUnits(ctx context.Context, units []store.FingerprintedUnit) error
	// RemoveUnits removes units of one translation.
	RemoveUnits(ctx context.Context, translation int64, ids []int64) error
	// PutLayout takes the units in any order, and may change it.
	PutLayout(ctx context.Context, translation int64, units []catalog.UnitPosition) error

	Translations(ctx context.Context, component int64) ([]catalog.Translation, error)
	PutTranslation(ctx context.Context, t *catalog.Translation) error
	PutExtra(ctx context.Context, component int64, extra []store.ExtraString) error
	File(ctx context.Context, translation int64) (store.File, error)
	PutFile(ctx context.Context, f store.File) error
	PutStatDay(ctx context.Context, d store.StatDay) error

	Problems(ctx context.Context, component int64) ([]store.Problem, error)
	SetProblem(ctx context.Context, p store.Problem) error
	ClearProblem(ctx context.Context, component int64, path string) error

	AddDeltaBy(ctx context.Context, by edit.Author, d store.Delta) error
}

// direct is the transaction of one step as a stepStore.
type direct struct{ *store.StepTx }

func (d direct) Texts(ctx context.Context, _ int64, ids []int64) (map[int64]store.Text, error) {
	return d.StepTx.Texts(ctx, ids)
}

func (d direct) RemoveUnits(ctx context.Context, _ int64, ids []int64) error {
	return d.StepTx.RemoveUnits(ctx, ids)
}

func (d direct) PutLayout(ctx context.Context, translation int64, units []catalog.UnitPosition) error {
	sortByID(units)
	return d.StepTx.PutLayout(ctx, translation, units)
}

// sortByID sorts units as the store wants them.
func sortByID(units []catalog.UnitPosition) {
	slices.SortFunc(units, func(a, b catalog.UnitPosition) int { return cmp.Compare(a.ID, b.ID) })
}
