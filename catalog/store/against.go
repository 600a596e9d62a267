package store

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// ExtraString is a live source string that the component's template does not have.
type ExtraString struct {
	// SourceID is its source unit.
	SourceID int64
	// ChangedTo is the source unit of the template's string with the same context and
	// msgid and another msgid_plural; 0 without one.
	ChangedTo int64
}

// PutExtra stores which source strings of a component its template does not have: all of
// them, in any order; none without a template. It is called when the source translation
// is stored and before other translations are.
func (tx *StepTx) PutExtra(ctx context.Context, component int64, extra []ExtraString) (err error) {
	defer tx.s.Failed(ctx, &err, "store what the template of component %d lacks", component)
	m, err := tx.member(component)
	if err != nil {
		return err
	}
	old := map[int64]int64{} // what they changed to
	args := []any{component * catalog.UnitsPerComponent, (component + 1) * catalog.UnitsPerComponent}
	if err := tx.s.Query(ctx, `SELECT source_id, changed_to FROM extra_strings WHERE source_id >= $1 AND source_id < $2`, args, func(scan sqldb.Scan) error {
		var id, to int64
		err := scan(&id, &to)
		old[id] = to
		return err
	}); err != nil {
		return err
	}
	fresh := make(map[int64]int64, len(extra))
	var changed, gone []int64
	for _, x := range extra {
		fresh[x.SourceID] = x.ChangedTo
		if was, ok := old[x.SourceID]; !ok || was != x.ChangedTo {
			changed = append(changed, x.SourceID)
		}
	}
	for id := range old {
		if _, ok := fresh[id]; !ok {
			gone = append(gone, id)
		}
	}
	slices.Sort(changed)
	m.compared = m.compared || len(changed)+len(gone) > 0
	in := sqldb.NewInserter("extra_strings", "source_id", "changed_to")
	in.OnConflict(" ON CONFLICT (source_id) DO UPDATE SET changed_to = excluded.changed_to")
	for _, id := range changed {
		if err := in.Add(ctx, tx.s, id, fresh[id]); err != nil {
			return err
		}
	}
	if err := in.Flush(ctx, tx.s); err != nil {
		return err
	}
	return tx.s.DoIn(ctx, `DELETE FROM extra_strings WHERE source_id IN $ids`, nil, gone)
}

// countAgainst keeps the counts of translations against their templates: of those that the
// step changed, or of whole components if they were imported or PutExtra changed something.
func (tx *StepTx) countAgainst(ctx context.Context) error {
	for _, id := range tx.info.Components {
		m := tx.convoy[id]
		if !m.imported && tx.info.Partial || !m.dirty && !m.compared {
			continue
		}
		if err := tx.compare(ctx, id, !m.imported || m.compared); err != nil {
			return err
		}
	}
	return nil
}

// compare counts translations of a component: all, or those that the step changed.
func (tx *StepTx) compare(ctx context.Context, component int64, all bool) error {
	stored := map[int64]catalog.Against{}
	err := tx.s.Query(ctx, `SELECT id, `+rows.AgainstColumns+` FROM translations t WHERE component_id = $1
		AND ($2 = 1 OR EXISTS (SELECT 1 FROM extra_strings WHERE source_id >= $3 AND source_id < $4))`,
		[]any{component, sqldb.Smallint(all), component * catalog.UnitsPerComponent, (component + 1) * catalog.UnitsPerComponent}, func(scan sqldb.Scan) error {
			var id int64
			var a catalog.Against
			err := scan(append([]any{&id}, rows.AgainstOf(&a)...)...)
			if _, dirty := tx.dirty[id]; all || dirty {
				stored[id] = a
			}
			return err
		})
	if err != nil {
		return err
	}
	ids := sqldb.SortedKeys(stored)
	counted, err := rows.CountAgainst(ctx, tx.s, component, ids)
	for _, id := range ids {
		if err == nil && stored[id] != counted[id] {
			err = tx.putAgainst(ctx, id, counted[id])
		}
	}
	return err
}

// putAgainst stores the counts of a translation.
func (tx *StepTx) putAgainst(ctx context.Context, translation int64, a catalog.Against) error {
	err := tx.s.Do(ctx, `UPDATE translations SET extra = $1, extra_words = $2, changed = $3, changed_translated = $4, changed_translated_words = $5, changed_fuzzy = $6
		WHERE id = $7`, a.Extra, a.ExtraWords, a.Changed, a.ChangedTranslated, a.ChangedTranslatedWords, a.ChangedFuzzy, translation)
	if err != nil {
		return err
	}
	return tx.markChanged(ctx, translation)
}
