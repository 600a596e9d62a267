package store

import (
	"context"
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

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
