package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/compared"
	"github.com/repoglot/repoglot/catalog/store/internal/blocks"
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
	out, err := sqldb.Map(ctx, tx.s, `SELECT unit_id, low, high FROM failing WHERE translation_id = $1`, []any{translation}, maskFields)
	return out, tx.fail(ctx, fmt.Sprintf("read failing checks of translation %d", translation), err)
}

// FailingOf returns the failing checks of units, as the bits of a checks.Mask; units
// without any are absent.
func (s *Snapshot) FailingOf(ctx context.Context, units []int64) (map[int64][2]uint64, error) {
	out, err := sqldb.MapIn(ctx, s.s, `SELECT unit_id, low, high FROM failing WHERE unit_id IN $ids`, nil, units, maskFields)
	return out, s.s.Fail(ctx, "read failing checks of units", err)
}

func maskFields(mask *[2]uint64) []any { return []any{&mask[0], &mask[1]} }

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
	err := tx.s.QueryIn(ctx, `SELECT unit_id, source_id, low, high FROM failing WHERE source_id IN $ids`, nil, sources, sqldb.Cols4(func(unit, source int64, low, high uint64) {
		f := out[source]
		if unit == source {
			f.Own = [2]uint64{low, high}
		} else {
			f.Translations += bits.OnesCount64(low) + bits.OnesCount64(high)
		}
		out[source] = f
	}))
	return out, tx.fail(ctx, "count failing checks", err)
}

// Failing are the checks that fail of a unit from now on.
type Failing struct {
	// Unit must be as read in this step. It may belong to a component of the project
	// outside the convoy. SetFailing changes its Failing.
	Unit *catalog.Unit
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
		tx.rechecked[blocks.Number(u.ID)] = struct{}{}
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
func (tx *StepTx) countFailing(u *catalog.Unit, failing [2]uint64) {
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
		err = tx.s.Query(ctx, `DELETE FROM failing WHERE translation_id = $1 RETURNING unit_id`, []any{translation}, sqldb.Cols1(func(id int64) {
			tx.rechecked[blocks.Number(id)] = struct{}{}
		}))
	}
	if err == nil {
		err = cmp.Or(
			tx.s.Do(ctx, `DELETE FROM check_counts WHERE component_id = $1 AND translation_id = $2`, component, translation),
			tx.s.Do(ctx, `UPDATE translations SET failing = 0, failing_words = 0, failing_chars = 0, checked = '', scope_id = 0 WHERE id = $1`, translation))
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
			if n != 0 {
				_ = in.Add(ctx, tx.s, t.component, int64(check), id, n)
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

// FindScope returns the scope of translations with a rule, which names their
// language. If there is none, it is made with the translation as its only one.
func (tx *StepTx) FindScope(ctx context.Context, project int64, rule string, pluralNumber int, translation int64) (s compared.Scope, made bool, err error) {
	s.PluralNumber = pluralNumber
	found, err := tx.s.First(ctx, `SELECT id, sole_id FROM compared_scopes WHERE project_id = $1 AND rule = $2`, []any{project, rule}, &s.ID, &s.Sole)
	if err == nil && !found {
		s.Sole = translation
		if err := tx.s.WillTakeIDs(ctx); err != nil {
			return s, false, tx.fail(ctx, "number a scope", err)
		}
		_, err = tx.s.First(ctx, `INSERT INTO compared_scopes (project_id, rule, plural_number, sole_id)
			VALUES ($1, $2, $3, $4) RETURNING id`, []any{project, rule, pluralNumber, translation}, &s.ID)
	}
	return s, !found, tx.fail(ctx, fmt.Sprintf("read what translation %d is compared with", translation), err)
}

// ScopeOf returns the scope of a translation; its ID is 0 if there is none.
func (tx *StepTx) ScopeOf(ctx context.Context, translation int64) (s compared.Scope, err error) {
	_, err = tx.s.First(ctx, `SELECT s.id, s.plural_number, s.sole_id FROM translations t JOIN compared_scopes s ON s.id = t.scope_id WHERE t.id = $1`,
		[]any{translation}, &s.ID, &s.PluralNumber, &s.Sole)
	return s, tx.fail(ctx, fmt.Sprintf("read what translation %d is compared with", translation), err)
}

// ShareScope stores that a scope has no sole translation.
func (tx *StepTx) ShareScope(ctx context.Context, scope int64) error {
	err := tx.s.Do(ctx, `UPDATE compared_scopes SET sole_id = 0 WHERE id = $1`, scope)
	return tx.fail(ctx, "store what translations are compared", err)
}

// GroupValues returns the values of groups of a scope, by key. Groups without
// members are absent.
func (tx *StepTx) GroupValues(ctx context.Context, scope int64, keys []int64) (map[int64]compared.GroupValues, error) {
	const members = ` FROM compared_units c WHERE c.scope_id = k.scope_id AND c.key = k.key`
	out := make(map[int64]compared.GroupValues, len(keys))
	err := sqldb.Chunks(keys, func(chunk []any) error {
		args := make([]any, 0, 2*len(chunk))
		for _, key := range chunk {
			args = append(args, scope, key)
		}
		query := `WITH k (scope_id, key) AS (VALUES ` + sqldb.Lists(len(chunk), 2) + `) SELECT k.key, (SELECT MIN(value)` + members + `), (SELECT MAX(value)` + members + `),
			(SELECT MAX(value)` + members + ` AND value < 0), (SELECT MIN(value)` + members + ` AND value >= 0) FROM k` // each is one look-up
		return tx.s.Query(ctx, query, args, func(scan sqldb.Scan) error {
			var key int64
			var ends [4]sql.NullInt64
			err := scan(&key, &ends[0], &ends[1], &ends[2], &ends[3])
			g := out[key]
			for _, end := range ends {
				if end.Valid {
					g.Add(end.Int64)
					out[key] = g
				}
			}
			return err
		})
	})
	return out, tx.fail(ctx, "read groups of strings", err)
}

// GroupMembers calls each for the members of groups of a scope.
func (tx *StepTx) GroupMembers(ctx context.Context, scope int64, keys []int64, each func(compared.Member)) error {
	return tx.fail(ctx, "read groups of strings", tx.s.QueryIn(ctx, `SELECT key, value, unit_id FROM compared_units WHERE scope_id = $1 AND key IN $ids`, []any{scope}, keys,
		sqldb.Cols3(func(key, value, unit int64) { each(compared.Member{Key: key, Value: value, Unit: unit}) })))
}

// AddMembers stores members of groups of a scope, which should come in order. Members that
// are stored already stay.
func (tx *StepTx) AddMembers(ctx context.Context, scope int64, members iter.Seq[*compared.Member]) (err error) {
	defer tx.s.Failed(ctx, &err, "store groups of strings")
	in := sqldb.NewInserter("compared_units", "scope_id", "key", "value", "unit_id")
	in.OnConflict(" ON CONFLICT (scope_id, key, value, unit_id) DO NOTHING")
	for c := range members {
		_ = in.Add(ctx, tx.s, scope, c.Key, c.Value, c.Unit)
	}
	return in.Flush(ctx, tx.s)
}

// DropMember removes a member from a group of a scope, if it is there.
func (tx *StepTx) DropMember(ctx context.Context, scope int64, c *compared.Member) error {
	err := tx.s.Do(ctx, `DELETE FROM compared_units WHERE scope_id = $1 AND key = $2 AND value = $3 AND unit_id = $4`, scope, c.Key, c.Value, c.Unit)
	return tx.fail(ctx, "remove from groups of strings", err)
}

// replacedUnit is a unit that the step has updated or removed, as a member of
// groups of a scope before.
type replacedUnit struct {
	scope compared.Scope
	compared.Member
}

// recordReplaced records in which groups units are that are about to be written.
func (tx *StepTx) recordReplaced(ctx context.Context, ids []int64) error {
	if tx.info.Partial {
		return nil // nothing was checked yet
	}
	var s compared.Scope
	var u catalog.Unit
	dest := []any{&s.ID, &s.PluralNumber, &s.Sole, &u.ID, &u.Identity.Key, &u.Target, &u.State, &u.Source}
	return tx.s.QueryIn(ctx, `SELECT s.id, s.plural_number, s.sole_id, u.id, u.id_key, u.target, u.state, COALESCE(o.source, '')
			FROM units u JOIN translations t ON t.id = u.translation_id JOIN compared_scopes s ON s.id = t.scope_id LEFT JOIN units o ON o.id = u.source_id
			WHERE u.removed = 0 AND u.id IN $ids`, nil, slices.Compact(slices.Sorted(slices.Values(ids))), func(scan sqldb.Scan) error {
		if err := scan(dest...); err != nil {
			return err
		}
		for c := range s.Members(&tx.hasher, &u) {
			tx.replaced = append(tx.replaced, replacedUnit{s, c})
		}
		return nil
	})
}

// TakeReplaced calls each for every group in which a unit was before the step
// updated or removed it, and forgets them.
func (tx *StepTx) TakeReplaced(each func(s compared.Scope, c compared.Member)) {
	for _, r := range tx.replaced {
		each(r.scope, r.Member)
	}
	tx.replaced = nil
}
