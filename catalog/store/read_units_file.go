package store

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/repoglot/repoglot/catalog"
)

// fileChunk is the number of units that UnitsInFile holds at once.
const fileChunk = 1000

// UnitsInFile yields the live units of a translation in the order of its file; if
// only is not nil, only units in that set. It holds the whole layout in memory,
// and up to fileChunk units. It ends after an error.
func (s *Snapshot) UnitsInFile(ctx context.Context, translationID int64, only map[int64]struct{}) iter.Seq2[*catalog.Unit, error] {
	return func(yield func(*catalog.Unit, error) bool) {
		var placed []catalog.UnitPosition
		err := s.eachInLayout(ctx, []searchTranslation{{id: translationID}}, func(p catalog.UnitPosition) {
			if _, in := only[p.ID]; in || only == nil {
				placed = append(placed, p)
			}
		})
		slices.SortFunc(placed, func(a, b catalog.UnitPosition) int { return cmp.Compare(a.Position, b.Position) })
		for piece := range slices.Chunk(placed, fileChunk) {
			if err != nil {
				break
			}
			var units []catalog.Unit
			if units, err = s.unitsOf(ctx, piece); err != nil {
				break
			}
			for i := range units {
				if !yield(&units[i], nil) {
					return
				}
			}
		}
		if err != nil {
			yield(nil, s.db.fail(ctx, fmt.Sprintf("read units of translation %d", translationID), err))
		}
	}
}

// unitsOf reads the units of a piece of a file, in its order.
func (s *Snapshot) unitsOf(ctx context.Context, placed []catalog.UnitPosition) ([]catalog.Unit, error) {
	slices.SortFunc(placed, func(a, b catalog.UnitPosition) int { return cmp.Compare(a.ID, b.ID) })
	units, err := s.unitsAt(ctx, placed)
	slices.SortFunc(units, func(a, b catalog.Unit) int { return cmp.Compare(a.Position, b.Position) })
	return units, err
}
