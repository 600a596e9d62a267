package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

// TestAllUnits pages through units of two components whose translations grew in
// turn, so that their ids alternate, and compares the pages with the sorted list.
func TestAllUnits(t *testing.T) {
	t.Parallel()
	db := openWith(t, "app", "docs", "empty")
	rnd := rand.New(rand.NewPCG(1, 2))
	var want []int64
	var components []int64
	for c, from := range []int{0, 0} {
		id := int64(c + 1)
		components = append(components, id)
		placed := map[int64][]catalog.UnitPosition{}
		step(t, db, info(from, 10+c, id), func(ctx context.Context, tx *StepTx) error {
			var ids []int64
			for i := range 4 {
				tr := catalog.Translation{ComponentID: id, Language: fmt.Sprint("l", i), FileCode: "x", Filename: "f", Revision: head(1), IsSource: i == 0, PluralNumber: 1, PluralFormula: "0"}
				if err := tx.PutTranslation(ctx, &tr); err != nil {
					return err
				}
				ids = append(ids, tr.ID)
			}
			var source []FingerprintedUnit
			for range 12 { // runs of one translation, then of another
				of := ids[rnd.IntN(len(ids))]
				n := 1 + rnd.IntN(300)
				units := makeUnits(of, "x", n, nil)
				if source != nil && of != ids[0] {
					for i := range units {
						units[i].SourceID = source[0].ID
					}
				}
				if err := tx.AddUnits(ctx, units); err != nil {
					return err
				}
				if source == nil {
					source = units
				}
				for i := range units {
					placed[of] = append(placed[of], catalog.UnitPosition{ID: units[i].ID, Position: len(placed[of]) + 1, Location: fmt.Sprint(of)})
				}
			}
			for i, of := range ids {
				tr := catalog.Translation{
					ID: of, ComponentID: id, Language: fmt.Sprint("l", i), FileCode: "x", Filename: "f", Revision: head(1), IsSource: i == 0, PluralNumber: 1, PluralFormula: "0",
					Removed: i == 3, Stats: catalog.Stats{Total: catalog.Count{Units: int64(len(placed[of]))}},
				}
				if err := tx.PutTranslation(ctx, &tr); err != nil {
					return err
				}
				if err := tx.PutLayout(ctx, of, placed[of]); err != nil {
					return err
				}
				if i != 3 {
					for _, p := range placed[of] {
						want = append(want, p.ID)
					}
				}
			}
			return nil
		})
	}
	slices.Sort(want)
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		for try := range 200 {
			offset, limit := rnd.IntN(len(want)+2), 1+rnd.IntN(40)
			if try == 0 {
				offset, limit = 0, len(want)+5
			}
			totals, err := s.UnitTotals(ctx, append(components, 3))
			if err != nil {
				return err
			}
			units, owners, err := s.AllUnits(ctx, totals, int64(offset), limit)
			if err != nil {
				return err
			}
			var got []int64
			for _, u := range units {
				got = append(got, u.ID)
				if owners[u.TranslationID].ComponentID != u.ID/catalog.UnitsPerComponent || u.Location != fmt.Sprint(u.TranslationID) || u.Position == 0 {
					t.Fatalf("unit %d of translation %d is at %q", u.ID, u.TranslationID, u.Location)
				}
			}
			page := want[min(offset, len(want)):min(offset+limit, len(want))]
			if diff := cmp.Diff(append([]int64{}, page...), append([]int64{}, got...)); diff != "" {
				t.Fatalf("offset %d, limit %d:\n%s", offset, limit, diff)
			}
		}
		return nil
	})
}

// TestAcross reads the parts of lists over many components.
func TestAcross(t *testing.T) {
	t.Parallel()
	db := openWith(t, "app", "docs")
	for c := int64(1); c <= 2; c++ {
		step(t, db, info(0, int(c), c), func(ctx context.Context, tx *StepTx) error {
			_, source, err := fill(ctx, tx, c, "en", 3, nil)
			if err != nil {
				return err
			}
			for _, code := range []string{"cs", "de"} {
				if _, _, err := fill(ctx, tx, c, code, 3, source); err != nil {
					return err
				}
			}
			return nil
		})
	}
	step(t, db, info(2, 3, 2), func(ctx context.Context, tx *StepTx) error {
		all, err := tx.Translations(ctx, 2)
		if err != nil {
			return err
		}
		all[2].Removed = true // de
		return tx.PutTranslation(ctx, &all[2])
	})
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		codes, err := s.Languages(ctx, []int64{1, 2})
		if diff := cmp.Diff([]string{"cs", "de", "en"}, codes); diff != "" || err != nil {
			t.Errorf("languages: %v\n%s", err, diff)
		}
		if codes, err := s.Languages(ctx, []int64{2}); err != nil || len(codes) != 2 {
			t.Errorf("languages of docs: %v %v", codes, err)
		}
		ids, err := s.TranslationIDs(ctx, []int64{2, 1})
		if diff := cmp.Diff([]int64{1, 2, 3, 4, 5}, ids); diff != "" || err != nil {
			t.Errorf("translations: %v\n%s", err, diff)
		}
		rows, err := s.TranslationsByID(ctx, []int64{5, 2, 99, 5})
		if err != nil || len(rows) != 2 || rows[0].ID != 2 || rows[1].ID != 5 || rows[1].Language != "cs" {
			t.Errorf("translations by id: %+v %v", rows, err)
		}
		sums, err := s.Sums(ctx, SumQuery{Components: []int64{1, 2}, Sources: true})
		if err != nil || len(sums) != 3 || sums[0].Language != "cs" || sums[0].Stats.Total.Units != 6 || sums[0].Translations != 2 || sums[1].Stats.Total.Units != 3 {
			t.Errorf("sums: %+v %v", sums, err)
		}
		sums, err = s.Sums(ctx, SumQuery{Components: []int64{1, 2}, Language: "en"})
		if err != nil || len(sums) != 0 {
			t.Errorf("sums without sources: %+v %v", sums, err)
		}
		unit, err := s.Unit(ctx, 1<<28+5)
		if err != nil {
			return err
		}
		units, owners, err := s.UnitsByIdentity(ctx, 1, unit.Identity)
		if err != nil || len(units) != 3 || units[0].ID != 1<<28+2 || units[2].ID != 1<<28+8 || owners[units[1].TranslationID].Language != "cs" || units[2].Position != 2 {
			t.Errorf("translations of a string: %+v %v", units, err)
		}
		return nil
	})
}
