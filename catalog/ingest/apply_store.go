package ingest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// sink is where an application reads what is stored and writes what a step
// makes of it: the transaction of a pull's step, or in a replay a staging area
// that many commits share. The methods are those of store.StepTx.
type stepStore interface {
	Translations(ctx context.Context, component int64) ([]catalog.Translation, error)
	PutTranslation(ctx context.Context, t *catalog.Translation) error
	Known(ctx context.Context, translation int64) ([]catalog.Known, error)
	// Texts and RemoveUnits name the translation that all of the units are of.
	Texts(ctx context.Context, translation int64, ids []int64) (map[int64]store.Text, error)
	AddUnits(ctx context.Context, units []store.FingerprintedUnit) error
	UpdateUnits(ctx context.Context, units []store.FingerprintedUnit) error
	RemoveUnits(ctx context.Context, translation int64, ids []int64) error
	// PutLayout takes the units in any order, and may change it.
	PutLayout(ctx context.Context, translation int64, placed []catalog.UnitPosition) error
	PutFile(ctx context.Context, f store.File) error
	File(ctx context.Context, translation int64) (store.File, error)
	Problems(ctx context.Context, component int64) ([]store.Problem, error)
	SetProblem(ctx context.Context, p store.Problem) error
	ClearProblem(ctx context.Context, component int64, path string) error
	User(ctx context.Context, name, email string, at time.Time) (int64, error)
	PutStatDay(ctx context.Context, d store.StatDay) error
	AddDelta(ctx context.Context, d store.Delta) error
}

// direct is the transaction of one step as a sink.
type direct struct{ *store.StepTx }

func (d direct) Texts(ctx context.Context, _ int64, ids []int64) (map[int64]store.Text, error) {
	return d.StepTx.Texts(ctx, ids)
}

func (d direct) RemoveUnits(ctx context.Context, _ int64, ids []int64) error {
	return d.StepTx.RemoveUnits(ctx, ids)
}

func (d direct) PutLayout(ctx context.Context, translation int64, placed []catalog.UnitPosition) error {
	sortPlaced(placed)
	return d.StepTx.PutLayout(ctx, translation, placed)
}

// sortPlaced puts units in the order of their ids, as the store wants them.
func sortPlaced(placed []catalog.UnitPosition) {
	slices.SortFunc(placed, func(a, b catalog.UnitPosition) int { return cmp.Compare(a.ID, b.ID) })
}
