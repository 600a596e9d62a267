package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// TemplateStrings returns those source units of a component that its template has, by id,
// with their locations. ids name them, or units of translations that they are the source of.
func (tx *StepTx) TemplateStrings(ctx context.Context, component int64, ids []int64) (list []catalog.Unit, err error) {
	defer tx.s.Failed(ctx, &err, "read strings of the template of component %d", component)
	list, err = rows.UnitsIn(ctx, tx.s, ids, ` WHERE u.removed = 0 AND u.source_id = u.id AND u.id IN (SELECT source_id FROM units WHERE id IN $ids)
		AND u.translation_id IN (SELECT id FROM translations WHERE component_id = $1 AND is_source = 1 AND template = 1 AND removed = 0)
		AND NOT EXISTS (SELECT 1 FROM extra_strings x WHERE x.source_id = u.id)`, component)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	slices.SortFunc(list, func(a, b catalog.Unit) int { return cmp.Compare(a.ID, b.ID) })
	list = slices.CompactFunc(list, func(a, b catalog.Unit) bool { return a.ID == b.ID })
	return list, (&Snapshot{db: tx.db, s: tx.s}).setPositions(ctx, list)
}

// TemplateOf returns the translation of a component's whose file is the template, nil if it
// has none.
func TemplateOf(all []catalog.Translation) *catalog.Translation {
	at := slices.IndexFunc(all, func(t catalog.Translation) bool { return t.IsSource && t.HasTemplate })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// MissingString is a string of a template that a file lacks.
type MissingString struct {
	// Source is the template's unit.
	Source catalog.Unit
	// UnitID is the removed unit that the translation had of it, 0 without one.
	UnitID int64
}

// Missing returns those strings of the template of a component that a translation lacks,
// among those that ids name as for TemplateStrings.
func (tx *StepTx) Missing(ctx context.Context, component, translation int64, ids []int64) (list []MissingString, err error) {
	defer tx.s.Failed(ctx, &err, "read what translation %d lacks", translation)
	units, err := tx.TemplateStrings(ctx, component, ids)
	if err != nil || len(units) == 0 {
		return nil, err
	}
	sources := make([]int64, len(units))
	for i := range units {
		sources[i] = units[i].ID
	}
	before := map[int64]int64{}
	has := map[int64]bool{}
	err = tx.s.QueryIn(ctx, `SELECT source_id, id, removed FROM units WHERE translation_id = $1 AND source_id IN $ids`, []any{translation}, sources, func(scan sqldb.Scan) error {
		var source, id int64
		var removed bool
		err := scan(&source, &id, &removed)
		before[source], has[source] = id, !removed
		return err
	})
	if err == nil {
		err = tx.s.QueryIn(ctx, `SELECT x.changed_to FROM extra_strings x JOIN units o ON o.translation_id = $1 AND o.source_id = x.source_id AND o.removed = 0
			WHERE x.changed_to IN $ids`, []any{translation}, sources, func(scan sqldb.Scan) error {
			var source int64
			err := scan(&source)
			has[source] = true
			return err
		})
	}
	for i := range units {
		if id := units[i].ID; !has[id] {
			list = append(list, MissingString{units[i], before[id]})
		}
	}
	return list, err
}
