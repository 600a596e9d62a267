package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Scope is a set of translations whose units are compared with each other, by the
// checks inconsistent and reused.
type Scope struct {
	// ID is its number, never 0.
	ID int64
	// PluralNumber is the number of plural forms of its translations.
	PluralNumber int
	// Sole is the only translation that the scope ever had, or 0. The units of a
	// sole translation are not grouped by source.
	Sole int64
}

// ComparedUnit is a unit in a group of its scope: the units with its source and
// context, or the units with its target.
type ComparedUnit struct {
	// Key is a hash of what the members of the group have in common. It is odd if
	// that is the target.
	Key int64
	// Value is a hash of what members may differ in: of the target, or of the
	// source. It is negative for units that are not translated.
	Value int64
	// Unit is the member.
	Unit int64
}

// SameTarget reports whether the members of the group have the target in common.
func (c *ComparedUnit) SameTarget() bool { return c.Key&1 != 0 }

// Compare orders members by group, value and unit, as they are stored.
func (c *ComparedUnit) Compare(o *ComparedUnit) int {
	switch {
	case c.Key != o.Key:
		return cmp.Compare(c.Key, o.Key)
	case c.Value != o.Value:
		return cmp.Compare(c.Value, o.Value)
	}
	return cmp.Compare(c.Unit, o.Unit)
}

// ValueRange has the smallest and the largest of some values.
type ValueRange struct {
	Some     bool // there are values
	Min, Max int64
}

// Add adds a value.
func (r *ValueRange) Add(v int64) {
	if !r.Some {
		*r = ValueRange{true, v, v}
		return
	}
	r.Min, r.Max = min(r.Min, v), max(r.Max, v)
}

// GroupValues has the values of a group's members.
type GroupValues struct{ Translated, Untranslated ValueRange }

// Add adds the value of a member.
func (g *GroupValues) Add(v int64) {
	if v < 0 {
		g.Untranslated.Add(v)
	} else {
		g.Translated.Add(v)
	}
}

// BySource returns a unit as a member of the group of its source; ok is false if
// the scope has no such groups.
func (s *Scope) BySource(h *catalog.Hasher, u *catalog.Unit) (c ComparedUnit, ok bool) {
	if s.Sole != 0 {
		return ComparedUnit{}, false
	}
	value := int64(uint64(h.Target(u.Target)) >> 1)
	if !u.State.Translated() {
		value = ^value
	}
	return ComparedUnit{Key: u.Identity.Key &^ 1, Value: value, Unit: u.ID}, true
}

// ByTarget returns a unit as a member of the group of its target. ok is false if
// it is in none.
func (s *Scope) ByTarget(h *catalog.Hasher, u *catalog.Unit) (c ComparedUnit, ok bool) {
	if !s.GroupsByTarget(u) {
		return ComparedUnit{}, false
	}
	return ComparedUnit{Key: h.Target(u.Target) | 1, Value: Meaning(h, u.Source), Unit: u.ID}, true
}

// GroupsByTarget reports whether a unit is in a group of its target. Else reused
// cannot fail: msgmerge fills fuzzy strings with other strings' texts, so they do not
// count.
func (s *Scope) GroupsByTarget(u *catalog.Unit) bool {
	return s.PluralNumber >= 2 && u.State.Translated() && !catalog.EmptyForms(u.Target)
}

// Meaning returns the value, in groups by target, of units with a source.
func Meaning(h *catalog.Hasher, source string) int64 { return int64(uint64(h.Meta(source)) >> 1) }

// ByTarget returns the member of the group by target of a translated unit, given the
// one of the group by source and the Meaning of the source.
func (c ComparedUnit) ByTarget(meaning int64) ComparedUnit {
	return ComparedUnit{Key: c.Value<<1 | 1, Value: meaning, Unit: c.Unit}
}

// FindScope returns the scope of translations with a rule, which names their
// language. If there is none, it is made with the translation as its only one.
func (tx *StepTx) FindScope(ctx context.Context, project int64, rule string, pluralNumber int, translation int64) (s Scope, made bool, err error) {
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
func (tx *StepTx) ScopeOf(ctx context.Context, translation int64) (s Scope, err error) {
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
func (tx *StepTx) GroupValues(ctx context.Context, scope int64, keys []int64) (map[int64]GroupValues, error) {
	out := make(map[int64]GroupValues, len(keys))
	var mixed []int64
	err := tx.groupBounds(ctx, scope, keys, `MIN(value)`, `MAX(value)`, "", func(key, low, high int64) {
		var g GroupValues
		g.Add(low)
		g.Add(high)
		out[key] = g
		if low < 0 && high >= 0 {
			mixed = append(mixed, key)
		}
	})
	if err == nil { // what lies between the smallest and the largest
		err = tx.groupBounds(ctx, scope, mixed, `MAX(value)`, `MIN(value)`, ` AND value < 0`, func(key, high, low int64) {
			g := out[key]
			g.Add(high)
			out[key] = g
		})
	}
	if err == nil {
		err = tx.groupBounds(ctx, scope, mixed, `MIN(value)`, `MAX(value)`, ` AND value >= 0`, func(key, low, high int64) {
			g := out[key]
			g.Add(low)
			out[key] = g
		})
	}
	return out, tx.fail(ctx, "read groups of strings", err)
}

// groupBounds calls each with two aggregates, each of which is one look-up, for
// every group that has members with the condition.
func (tx *StepTx) groupBounds(ctx context.Context, scope int64, keys []int64, first, second, condition string, each func(key, a, b int64)) error {
	const members = ` FROM compared_units c WHERE c.scope_id = k.scope_id AND c.key = k.key`
	return sqldb.Chunks(keys, func(chunk []any) error {
		args := make([]any, 0, 2*len(chunk))
		for _, key := range chunk {
			args = append(args, scope, key)
		}
		query := `WITH k (scope_id, key) AS (VALUES ` + sqldb.Pairs(len(chunk)) + `) SELECT k.key, (SELECT ` + first + members + condition + `), (SELECT ` + second + members + condition + `)
			FROM k WHERE EXISTS (SELECT 1` + members + condition + `)`
		return tx.s.Query(ctx, query, args, func(scan sqldb.Scan) error {
			var key, a, b int64
			err := scan(&key, &a, &b)
			each(key, a, b)
			return err
		})
	})
}

// GroupMembers calls each for the members of groups of a scope.
func (tx *StepTx) GroupMembers(ctx context.Context, scope int64, keys []int64, each func(ComparedUnit)) error {
	return tx.fail(ctx, "read groups of strings", sqldb.Chunks(keys, func(chunk []any) error {
		return tx.s.Query(ctx, `SELECT key, value, unit_id FROM compared_units WHERE scope_id = $1 AND key IN `+sqldb.List(2, len(chunk)), append([]any{scope}, chunk...), func(scan sqldb.Scan) error {
			var c ComparedUnit
			err := scan(&c.Key, &c.Value, &c.Unit)
			each(c)
			return err
		})
	}))
}

// MemberAdder stores members of groups of a scope, which should come in order.
type MemberAdder struct {
	tx    *StepTx
	scope int64
	in    *sqldb.Inserter
}

// AddMembers returns an adder. Members that are stored already stay.
func (tx *StepTx) AddMembers(scope int64) *MemberAdder {
	in := sqldb.NewInserter("compared_units", "scope_id", "key", "value", "unit_id")
	in.OnConflict(" ON CONFLICT (scope_id, key, value, unit_id) DO NOTHING")
	return &MemberAdder{tx, scope, in}
}

// Add stores a member.
func (a *MemberAdder) Add(ctx context.Context, c *ComparedUnit) error {
	return a.tx.fail(ctx, "store groups of strings", a.in.Add(ctx, a.tx.s, a.scope, c.Key, c.Value, c.Unit))
}

// Flush stores what Add collected.
func (a *MemberAdder) Flush(ctx context.Context) error {
	return a.tx.fail(ctx, "store groups of strings", a.in.Flush(ctx, a.tx.s))
}

// DropMember removes a member from a group of a scope, if it is there.
func (tx *StepTx) DropMember(ctx context.Context, scope int64, c *ComparedUnit) error {
	err := tx.s.Do(ctx, `DELETE FROM compared_units WHERE scope_id = $1 AND key = $2 AND value = $3 AND unit_id = $4`, scope, c.Key, c.Value, c.Unit)
	return tx.fail(ctx, "remove from groups of strings", err)
}

// replacedUnit is a unit that the step has updated or removed, as a member of
// groups of a scope before.
type replacedUnit struct {
	scope Scope
	ComparedUnit
}

// recordReplaced records in which groups units are that are about to be written.
func (tx *StepTx) recordReplaced(ctx context.Context, ids []int64) error {
	if tx.info.Partial {
		return nil // nothing was checked yet
	}
	var s Scope
	var u catalog.Unit
	var state int64
	dest := []any{&s.ID, &s.PluralNumber, &s.Sole, &u.ID, &u.Identity.Key, &u.Target, &state, &u.Source}
	return sqldb.Chunks(slices.Compact(slices.Sorted(slices.Values(ids))), func(chunk []any) error {
		return tx.s.Query(ctx, `SELECT s.id, s.plural_number, s.sole_id, u.id, u.id_key, u.target, u.state, COALESCE(o.source, '')
			FROM units u JOIN translations t ON t.id = u.translation_id JOIN compared_scopes s ON s.id = t.scope_id LEFT JOIN units o ON o.id = u.source_id
			WHERE u.removed = 0 AND u.id IN `+sqldb.List(1, len(chunk)), chunk, func(scan sqldb.Scan) error {
			if err := scan(dest...); err != nil {
				return err
			}
			u.State = catalog.State(state)
			if c, ok := s.BySource(&tx.hasher, &u); ok {
				tx.replaced = append(tx.replaced, replacedUnit{s, c})
			}
			if c, ok := s.ByTarget(&tx.hasher, &u); ok {
				tx.replaced = append(tx.replaced, replacedUnit{s, c})
			}
			return nil
		})
	})
}

// TakeReplaced calls each for every group in which a unit was before the step
// updated or removed it, and forgets them.
func (tx *StepTx) TakeReplaced(each func(s Scope, c ComparedUnit)) {
	for _, r := range tx.replaced {
		each(r.scope, r.ComparedUnit)
	}
	tx.replaced = nil
}
