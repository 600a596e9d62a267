package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Peer is a translation of which units were compared.
type Peer struct {
	// ID is the translation's, ComponentID its component's.
	ID, ComponentID int64
	// Language is the code in URLs.
	Language string
	// PluralNumber and PluralFormula are its plural rule.
	PluralNumber  int
	PluralFormula string
	// IsSource marks a source-language translation.
	IsSource bool
	// Checked is the key with which it was checked, never "".
	Checked string
}

// SourceTranslation returns the id of a component's live source translation, or 0.
func (tx *StepTx) SourceTranslation(ctx context.Context, component int64) (id int64, err error) {
	_, err = tx.s.First(ctx, `SELECT id FROM translations WHERE component_id = $1 AND is_source = 1 AND removed = 0`, []any{component}, &id)
	return id, tx.fail(ctx, fmt.Sprintf("read the source translation of component %d", component), err)
}

// PeerByID returns a translation and its project; Checked is "" if it was not
// checked, or was removed.
func (tx *StepTx) PeerByID(ctx context.Context, translation int64) (project int64, p Peer, err error) {
	_, err = tx.s.First(ctx, `SELECT c.project_id, t.id, t.component_id, t.language, t.plural_number, t.plural_formula, t.is_source,
		CASE WHEN t.removed = 0 AND c.active = 1 THEN t.checked ELSE '' END
		FROM translations t JOIN components c ON c.id = t.component_id WHERE t.id = $1`, []any{translation},
		&project, &p.ID, &p.ComponentID, &p.Language, &p.PluralNumber, &p.PluralFormula, &p.IsSource, &p.Checked)
	return project, p, tx.fail(ctx, fmt.Sprintf("read translation %d", translation), err)
}

// CheckedOf returns the Checked keys of the translations of some units, by
// translation.
func (tx *StepTx) CheckedOf(ctx context.Context, units []int64) (map[int64]string, error) {
	out := map[int64]string{}
	err := sqldb.Chunks(units, func(chunk []any) error {
		return tx.s.Query(ctx, `SELECT id, checked FROM translations WHERE id IN (SELECT translation_id FROM units WHERE id IN `+sqldb.List(1, len(chunk))+`)`, chunk, func(scan sqldb.Scan) error {
			var id int64
			var rules string
			err := scan(&id, &rules)
			out[id] = rules
			return err
		})
	})
	return out, tx.fail(ctx, "read what was checked", err)
}

// SetChecked stores the key with which a translation of the convoy was checked, and
// the scope that its units are compared in, or 0.
func (tx *StepTx) SetChecked(ctx context.Context, translation int64, key string, scope int64) error {
	c, err := tx.componentOf(ctx, translation)
	if err == nil {
		var n int64
		n, err = tx.s.Exec(ctx, `UPDATE translations SET checked = $1, scope_id = $2 WHERE id = $3 AND (checked <> $1 OR scope_id <> $2)`, key, scope, translation)
		tx.convoy[c].dirty = tx.convoy[c].dirty || n > 0 // glossaries count once they are checked
	}
	return tx.fail(ctx, fmt.Sprintf("store checks of translation %d", translation), err)
}

// UseChecks tells that a process has a version of the checks, and reports whether it is
// the newest that any process has. While versions run side by side, the older one must
// not check again what the newer one has checked.
func (db *DB) UseChecks(ctx context.Context, version int) (newest bool, err error) {
	var known int64
	err = db.pools.Readers.Transact(ctx, func(s *sqldb.Session) error {
		_, err := s.First(ctx, `SELECT checks FROM clock`, nil, &known)
		return err
	})
	if err == nil && known < int64(version) {
		err = db.write(ctx, func(s *sqldb.Session) error {
			return s.Do(ctx, `UPDATE clock SET checks = $1 WHERE checks < $1`, version)
		})
	}
	return known <= int64(version), db.fail(ctx, "use checks", err)
}

// UncomparedSuffix ends the Checked key of a translation that was checked except by the
// checks that compare units.
const UncomparedSuffix = "+"

// Unchecked returns those of the components that have a live translation that was
// not checked, or not by all checks.
func (s *Snapshot) Unchecked(ctx context.Context, components []int64) ([]int64, error) {
	var out []int64
	err := sqldb.Chunks(components, func(chunk []any) error {
		return s.s.IDs(ctx, `SELECT DISTINCT component_id FROM translations WHERE (checked = '' OR checked LIKE '%`+UncomparedSuffix+`') AND removed = 0 AND component_id IN `+sqldb.List(1, len(chunk)),
			chunk, &out)
	})
	return out, s.s.Fail(ctx, "read what was not checked", err)
}
