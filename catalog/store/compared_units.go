package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/compared"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

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
		query := `WITH k (scope_id, key) AS (VALUES ` + sqldb.Pairs(len(chunk)) + `) SELECT k.key, (SELECT MIN(value)` + members + `), (SELECT MAX(value)` + members + `),
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
	return tx.fail(ctx, "read groups of strings", tx.s.QueryIn(ctx, `SELECT key, value, unit_id FROM compared_units WHERE scope_id = $1 AND key IN $ids`, []any{scope}, keys, func(scan sqldb.Scan) error {
		var c compared.Member
		err := scan(&c.Key, &c.Value, &c.Unit)
		each(c)
		return err
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
func (a *MemberAdder) Add(ctx context.Context, c *compared.Member) error {
	return a.tx.fail(ctx, "store groups of strings", a.in.Add(ctx, a.tx.s, a.scope, c.Key, c.Value, c.Unit))
}

// Flush stores what Add collected.
func (a *MemberAdder) Flush(ctx context.Context) error {
	return a.tx.fail(ctx, "store groups of strings", a.in.Flush(ctx, a.tx.s))
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
