package store

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

// Units come in the order of the file, whatever the order of their ids, with the
// same fields as in a page by id.
func TestUnitsInFile(t *testing.T) {
	const n = 2600
	db := openWith(t, "app")
	var id int64
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
		var units []FingerprintedUnit
		var err error
		if id, units, err = fill(ctx, tx, 1, "de", n, nil); err != nil {
			return err
		}
		placed := make([]catalog.UnitPosition, n)
		for i, u := range units {
			placed[i] = catalog.UnitPosition{ID: u.ID, Position: 1 + (i*7)%n, Location: u.Source + ":1"} // 7 and n have no common factor
		}
		return tx.PutLayout(ctx, id, placed)
	})
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		byID, err := s.Units(ctx, id, 0, n)
		if err != nil {
			return err
		}
		want := slices.Clone(byID)
		slices.SortFunc(want, func(a, b catalog.Unit) int { return a.Position - b.Position })
		i := 0
		for u, err := range s.UnitsInFile(ctx, id, nil) {
			if err != nil || *u != want[i] || u.Position != i+1 {
				t.Fatalf("unit %d: %+v, %v", i, u, err)
			}
			i++
		}
		if i != n {
			t.Errorf("%d units", i)
		}
		only, i := map[int64]struct{}{want[5].ID: {}, want[1700].ID: {}}, 0
		for u, err := range s.UnitsInFile(ctx, id, only) {
			if err != nil || *u != want[[]int{5, 1700}[i]] {
				t.Errorf("chosen unit %d: %+v, %v", i, u, err)
			}
			i++
		}
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		for u, err := range s.UnitsInFile(ctx, id, nil) {
			if u != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("%+v, %v", u, err)
			}
		}
		return nil
	})
}

// TestUnitByHash: of several units with a hash it finds a live one, and of these
// the first; a removed one if no other exists; none of another translation.
func TestUnitByHash(t *testing.T) {
	db := openWith(t, "app")
	var en, cs int64
	var units []FingerprintedUnit
	twin := FingerprintedUnit{Unit: &catalog.Unit{Target: "twin", State: catalog.StateTranslated, Priority: 100, Created: day(1)}}
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
		if en, units, err = fill(ctx, tx, 1, "en", 3, nil); err != nil {
			return err
		}
		if cs, _, err = fill(ctx, tx, 1, "cs", 0, units); err != nil {
			return err
		}
		twin.TranslationID, twin.SourceID = en, units[0].ID
		twin.Identity = catalog.Identity{Hash: units[0].Identity.Hash, Key: units[0].Identity.Key + 1}
		return tx.AddUnits(ctx, []FingerprintedUnit{twin})
	})
	hash := units[0].Identity.Hash
	find := func(translation, hash, want int64) {
		t.Helper()
		err := db.Read(t.Context(), func(ctx context.Context, s *Snapshot) error {
			id, found, err := s.UnitByHash(ctx, translation, hash)
			if id != want || found != (want != 0) {
				t.Errorf("unit %d, %v; want %d", id, found, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	remove := func(from int, id int64) {
		t.Helper()
		step(t, db, info(from, from+1, 1), func(ctx context.Context, tx *StepTx) error { return tx.RemoveUnits(ctx, []int64{id}) })
	}
	if twin.ID <= units[0].ID {
		t.Fatalf("units %d and %d", units[0].ID, twin.ID)
	}
	find(en, hash, units[0].ID)
	find(en, units[2].Identity.Hash, units[2].ID)
	find(en, hash+1, 0)
	find(cs, hash, 0)
	remove(1, units[0].ID)
	find(en, hash, twin.ID)
	remove(2, twin.ID)
	find(en, hash, units[0].ID)
}
