package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/blocks"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// After any steps every block that is stored has what the rows of its units have; after
// FillSearch none is missing.
func TestBlocksAreRows(t *testing.T) {
	outer, stop := t, errors.New("stop")
	rapid.Check(t, func(t *rapid.T) {
		db, at := openWith(outer, "app", "docs"), 0
		var units []FingerprintedUnit
		translations := map[int64]int64{}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			i := info(at, at+1, 1, 2)
			i.Partial = rapid.IntRange(0, 3).Draw(t, "partial") == 0
			i.MaxBytes = 1 << 30
			fails := rapid.IntRange(0, 4).Draw(t, "fails") == 0
			after := slices.Clone(units)
			_, err := db.Step(context.Background(), i, func(ctx context.Context, tx *StepTx) error {
				for component := int64(1); component <= 2; component++ {
					id := translations[component]
					if id == 0 {
						source := catalog.Translation{ComponentID: component, Language: "en", FileCode: "en", Filename: "en.po", IsSource: true, PluralNumber: 2}
						if err := tx.PutTranslation(ctx, &source); err != nil {
							return err
						}
						id = source.ID
					}
					if !fails {
						translations[component] = id
					}
					if err := drawUnits(ctx, t, tx, id, &after); err != nil {
						return err
					}
				}
				if fails {
					return stop
				}
				return nil
			})
			if fails != errors.Is(err, stop) {
				t.Fatal(err)
			}
			if !fails {
				units, at = after, at+1
			}
			blocksAreRows(t, db, false)
			if rapid.Bool().Draw(t, "fill") {
				if err := db.FillSearch(context.Background(), 1, 2); err != nil {
					t.Fatal(err)
				}
				blocksAreRows(t, db, true)
			}
		}
	})
}

// drawUnits adds, changes and removes units of a translation, and says what fails of them.
func drawUnits(ctx context.Context, t *rapid.T, tx *StepTx, translation int64, all *[]FingerprintedUnit) error {
	added := make([]FingerprintedUnit, rapid.SampledFrom([]int{0, 1, 300, idset.BlockUnits, 1100}).Draw(t, "added"))
	for i := range added {
		u := &catalog.Unit{TranslationID: translation, Source: fmt.Sprint("Source ", i), Target: fmt.Sprint("Ziel ", i), Created: day(1 + i%3), Context: "menu"[:i%5], State: catalog.State(i % 30)}
		added[i] = FingerprintedUnit{Unit: u, Text: int64(i), Meta: int64(i)}
	}
	if err := tx.AddUnits(ctx, added); err != nil {
		return err
	}
	*all = append(*all, added...)
	var list, changed []FingerprintedUnit
	for _, u := range *all {
		if u.TranslationID == translation {
			list = append(list, u)
		}
	}
	var removed []int64
	var failing []Failing
	each, changes := rapid.SampledFrom([]int{3, 700}).Draw(t, "each"), rapid.IntRange(1, 50).Draw(t, "changes")
	for i := changes; i < len(list); i += each {
		u := *list[i].Unit
		switch i * changes % 7 {
		case 0:
			removed = append(removed, u.ID)
		case 1:
			u.Target, u.Note, u.Flags, u.Priority = u.Target+"X", "Note", "c-format", 7
			changed = append(changed, FingerprintedUnit{Unit: &u})
		case 2:
			failing = append(failing, Failing{Unit: &u, Checks: [2]uint64{uint64(i % 3), uint64(i % 2)}})
		}
	}
	err := errors.Join(tx.UpdateUnits(ctx, changed), tx.RemoveUnits(ctx, removed), tx.SetFailing(ctx, failing))
	if err == nil && rapid.IntRange(0, 5).Draw(t, "clear") == 0 {
		err = tx.ClearFailing(ctx, translation)
	}
	return err
}

// blocksAreRows compares the stored blocks with the rows of their units.
func blocksAreRows(t *rapid.T, db *DB, all bool) {
	t.Helper()
	err := db.Read(context.Background(), func(ctx context.Context, s *Snapshot) error {
		stored := map[int64][]byte{}
		if err := s.s.Query(ctx, `SELECT id, data FROM search_blocks`, nil, sqldb.Cols2(func(key int64, data []byte) { stored[key] = data })); err != nil {
			return err
		}
		for component := range int64(2) {
			for _, of := range []blocks.Kind{blocks.Place, blocks.Checks} {
				absent, err := absentBlocks(ctx, s.s, component+1, of)
				if err != nil || all && len(absent) > 0 {
					t.Fatalf("blocks %d are missing: %v", absent, err)
				}
			}
		}
		for key := range stored {
			kind, block := blocks.Kind(key>>blocks.KindBits), key&(1<<blocks.KindBits-1)
			of := blocks.Place
			if kind == blocks.Checks {
				of = kind
			}
			counted, err := blocks.Read(ctx, s.s, &db.searches.folder, of, block)
			if err != nil {
				return err
			}
			for _, other := range blocks.Keys(of, block) {
				if kind := blocks.Kind(other >> blocks.KindBits); !blocks.Equal(kind, stored[other], counted[kind]) {
					t.Errorf("column %d of block %d has %d bytes, or others than its rows, %d", kind, block, len(stored[other]), len(counted[kind]))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
