package recount

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/compared"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// memberSum counts the members of groups. Equal sets of members have equal sums.
type memberSum struct{ n, sum int64 }

func (m *memberSum) add(c *compared.Member) {
	m.n++
	m.sum += catalog.Sum(fmt.Sprint(c.Key, c.Value, c.Unit))
}

// compared verifies the groups of strings of a project: the scope of every
// translation, and the members of every group.
func (v *verifier) compared(ctx context.Context, p *scope) {
	v.wantNoRows(ctx, p, "translations compared with others of another kind", `SELECT COUNT(*) FROM components c JOIN translations t ON t.component_id = c.id
		LEFT JOIN compared_scopes s ON s.id = t.scope_id
		WHERE c.project_id = $1 AND t.scope_id <> 0 AND (s.id IS NULL OR s.project_id <> c.project_id OR s.plural_number <> t.plural_number OR t.removed = 1 OR t.checked = '')`, p.id)
	v.wantNoRows(ctx, p, "sole translations that are not", `SELECT COUNT(*) FROM compared_scopes s WHERE s.project_id = $1 AND s.sole_id <> 0
		AND (SELECT COUNT(*) FROM translations t WHERE t.scope_id = s.id AND t.id = s.sole_id) <> (SELECT COUNT(*) FROM translations t WHERE t.scope_id = s.id)`, p.id)
	var scopes []compared.Scope
	v.query(ctx, `SELECT id, plural_number, sole_id FROM compared_scopes WHERE project_id = $1 ORDER BY id`, []any{p.id}, func(scan sqldb.Scan) error {
		var s compared.Scope
		err := scan(&s.ID, &s.PluralNumber, &s.Sole)
		scopes = append(scopes, s)
		return err
	})
	for i := range scopes {
		v.groups(ctx, p, &scopes[i])
	}
}

// groups verifies the members of the groups of a scope.
func (v *verifier) groups(ctx context.Context, p *scope, s *compared.Scope) {
	var stored, counted memberSum
	v.query(ctx, `SELECT key, value, unit_id FROM compared_units WHERE scope_id = $1`, []any{s.ID}, func(scan sqldb.Scan) error {
		var c compared.Member
		err := scan(&c.Key, &c.Value, &c.Unit)
		stored.add(&c)
		return err
	})
	var u catalog.Unit
	var state int64
	v.query(ctx, `SELECT u.id, u.id_key, u.target, u.state, COALESCE(o.source, '') FROM translations t JOIN units u ON u.translation_id = t.id
		LEFT JOIN units o ON o.id = u.source_id WHERE t.scope_id = $1 AND u.removed = 0`, []any{s.ID}, func(scan sqldb.Scan) error {
		err := scan(&u.ID, &u.Identity.Key, &u.Target, &state, &u.Source)
		u.State = catalog.State(state)
		if c, ok := s.BySource(&v.hash, &u); ok {
			counted.add(&c)
		}
		if c, ok := s.ByTarget(&v.hash, &u); ok {
			counted.add(&c)
		}
		return err
	})
	v.compare(p, fmt.Sprintf("members of groups of strings in scope %d", s.ID), stored.n, counted.n)
	if stored.n == counted.n {
		v.compare(p, fmt.Sprintf("sum of the members of groups of strings in scope %d", s.ID), stored.sum, counted.sum)
	}
}
