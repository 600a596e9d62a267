package store

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// failingChange is the change of a translation's statistics by SetFailing.
type failingChange struct {
	component int64
	stats     catalog.Count
	checks    [128]int64 // strings more that fail each check
}

// FailingUnits returns the failing checks of the units of a translation, by unit.
// Units without failing checks are absent.
func (tx *StepTx) FailingUnits(ctx context.Context, translation int64) (map[int64][2]uint64, error) {
	out := map[int64][2]uint64{}
	err := tx.s.Query(ctx, `SELECT unit_id, low, high FROM failing WHERE translation_id = $1`, []any{translation}, scanMasks(out))
	return out, tx.fail(ctx, fmt.Sprintf("read failing checks of translation %d", translation), err)
}

// FailingOf returns the failing checks of units, as the bits of a checks.Mask; units
// without any are absent.
func (s *Snapshot) FailingOf(ctx context.Context, units []int64) (map[int64][2]uint64, error) {
	out := map[int64][2]uint64{}
	err := s.s.QueryIn(ctx, `SELECT unit_id, low, high FROM failing WHERE unit_id IN $ids`, nil, units, scanMasks(out))
	return out, s.s.Fail(ctx, "read failing checks of units", err)
}

func scanMasks(out map[int64][2]uint64) func(sqldb.Scan) error {
	return func(scan sqldb.Scan) error {
		var id int64
		var mask [2]uint64
		err := scan(&id, &mask[0], &mask[1])
		out[id] = mask
		return err
	}
}

// SourceFailing says which checks fail of a source unit and its translations.
type SourceFailing struct {
	// Own are the failing checks of the unit itself.
	Own [2]uint64
	// Translations is the number of failing checks of all of its translations.
	Translations int
}

// FailingOf returns the failing checks of source units and their translations, by
// source unit. Source units without any are absent.
func (tx *StepTx) FailingOf(ctx context.Context, sources []int64) (map[int64]SourceFailing, error) {
	out := map[int64]SourceFailing{}
	err := tx.s.QueryIn(ctx, `SELECT unit_id, source_id, low, high FROM failing WHERE source_id IN $ids`, nil, sources, func(scan sqldb.Scan) error {
		var unit, source int64
		var mask [2]uint64
		err := scan(&unit, &source, &mask[0], &mask[1])
		f := out[source]
		if unit == source {
			f.Own = mask
		} else {
			f.Translations += bits.OnesCount64(mask[0]) + bits.OnesCount64(mask[1])
		}
		out[source] = f
		return err
	})
	return out, tx.fail(ctx, "count failing checks", err)
}

// Failing are the checks that fail of a unit from now on.
type Failing struct {
	// Unit must be as read in this step. It may belong to a component of the project
	// outside the convoy. SetFailing changes its Failing.
	Unit *CheckUnit
	// Checks are the bits of a checks.Mask, others than Unit.Failing.
	Checks [2]uint64
}

// SetFailing stores the failing checks of units, each of which is in the list once, and
// updates the statistics of their translations.
func (tx *StepTx) SetFailing(ctx context.Context, list []Failing) (err error) {
	if len(list) == 0 {
		return nil
	}
	defer tx.s.Failed(ctx, &err, "store failing checks from unit %d on", list[0].Unit.ID)
	in := sqldb.NewInserter("failing", "unit_id", "translation_id", "source_id", "low", "high")
	in.OnConflict(" ON CONFLICT (unit_id) DO UPDATE SET low = excluded.low, high = excluded.high")
	for i := range list {
		u, failing := list[i].Unit, list[i].Checks
		tx.countFailing(u, failing)
		if failing == [2]uint64{} {
			err = tx.s.Do(ctx, `DELETE FROM failing WHERE unit_id = $1`, u.ID)
		} else {
			err = in.Add(ctx, tx.s, u.ID, u.TranslationID, u.SourceID, int64(failing[0]), int64(failing[1]))
		}
		if err != nil {
			return err
		}
		u.Failing = failing
	}
	return in.Flush(ctx, tx.s)
}

// countFailing adds the change of a unit's failing checks to what storeFailing stores.
func (tx *StepTx) countFailing(u *CheckUnit, failing [2]uint64) {
	none := [2]uint64{}
	count := catalog.Count{Units: 1, Words: int64(u.Words), Chars: int64(u.Chars)}
	t := tx.failing[u.TranslationID]
	if t == nil {
		t = &failingChange{component: u.ID / catalog.UnitsPerComponent}
		tx.failing[u.TranslationID] = t
	}
	switch none {
	case failing:
		t.stats.Subtract(count)
	case u.Failing:
		t.stats.Add(count)
	}
	for i := range failing {
		for changed := u.Failing[i] ^ failing[i]; changed != 0; changed &= changed - 1 {
			bit := bits.TrailingZeros64(changed)
			t.checks[i*64+bit] += int64(failing[i]>>bit&1)*2 - 1
		}
	}
}

// ClearFailing deletes the failing checks of a translation whose file was removed,
// and marks it as not checked.
func (tx *StepTx) ClearFailing(ctx context.Context, translation int64) error {
	component, err := tx.componentOf(ctx, translation)
	delete(tx.failing, translation) // what the step added to the sums
	if err == nil {
		err = tx.s.Do(ctx, `DELETE FROM failing WHERE translation_id = $1`, translation)
	}
	if err == nil {
		err = tx.s.Do(ctx, `DELETE FROM check_counts WHERE component_id = $1 AND translation_id = $2`, component, translation)
	}
	if err == nil {
		err = tx.s.Do(ctx, `UPDATE translations SET failing = 0, failing_words = 0, failing_chars = 0, checked = '', scope_id = 0 WHERE id = $1`, translation)
	}
	return tx.fail(ctx, fmt.Sprintf("forget checks of translation %d", translation), err)
}

// storeFailing stores the sums of what SetFailing changed, and how many strings fail each
// check. It returns the components outside the convoy whose answers changed.
func (tx *StepTx) storeFailing(ctx context.Context) (others []int64, err error) {
	in := sqldb.NewInserter("check_counts", "component_id", "check_id", "translation_id", "units")
	in.OnConflict(" ON CONFLICT (component_id, check_id, translation_id) DO UPDATE SET units = check_counts.units + excluded.units")
	for _, id := range sqldb.SortedKeys(tx.failing) {
		t := tx.failing[id]
		for check, n := range t.checks {
			if n == 0 {
				continue
			}
			if err := in.Add(ctx, tx.s, t.component, int64(check), id, n); err != nil {
				return nil, err
			}
		}
		if t.stats != (catalog.Count{}) {
			if err := tx.s.Do(ctx, `UPDATE translations SET failing = failing + $1, failing_words = failing_words + $2, failing_chars = failing_chars + $3
				WHERE id = $4`, t.stats.Units, t.stats.Words, t.stats.Chars, id); err != nil {
				return nil, err
			}
		}
		tx.dirty[id] = struct{}{}
		if m, ok := tx.convoy[t.component]; ok {
			m.dirty = true
		} else {
			others = append(others, t.component)
		}
	}
	return others, in.Flush(ctx, tx.s)
}
