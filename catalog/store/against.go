package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
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
func (tx *StepTx) PutExtra(ctx context.Context, component int64, extra []ExtraString) error {
	return tx.fail(ctx, fmt.Sprintf("store what the template of component %d lacks", component), tx.putExtra(ctx, component, extra))
}

func (tx *StepTx) putExtra(ctx context.Context, component int64, extra []ExtraString) error {
	if _, err := tx.member(component); err != nil {
		return err
	}
	old, err := extraStrings(ctx, tx.s, `source_id >= $1 AND source_id < $2`, component*catalog.UnitsPerComponent, (component+1)*catalog.UnitsPerComponent)
	if err != nil {
		return err
	}
	fresh := make(map[int64]int64, len(extra))
	for _, x := range extra {
		fresh[x.SourceID] = x.ChangedTo
	}
	var changed, gone []int64
	for _, id := range sqldb.SortedKeys(fresh) {
		if was, ok := old[id]; !ok || was != fresh[id] {
			changed = append(changed, id)
		}
	}
	for _, id := range sqldb.SortedKeys(old) {
		if _, ok := fresh[id]; !ok {
			gone = append(gone, id)
		}
	}
	if err := tx.recordCompared(ctx, component, old, slices.Concat(changed, gone)); err != nil {
		return err
	}
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
	return sqldb.Chunks(gone, func(chunk []any) error {
		return tx.s.Do(ctx, `DELETE FROM extra_strings WHERE source_id IN `+sqldb.List(1, len(chunk)), chunk...)
	})
}

// maxCompared is the number of strings that begin or cease to be extra in one step up to
// which their units are remembered: with more, those of the component are counted again.
const maxCompared = 256

// recordCompared records how strings compared with the template before the step, and what
// all their units were.
func (tx *StepTx) recordCompared(ctx context.Context, component int64, old map[int64]int64, sources []int64) error {
	m := tx.convoy[component]
	if !m.imported || m.recompared {
		return nil // all is counted at the end
	}
	if m.recompared = len(sources) > maxCompared; m.recompared {
		return nil
	}
	if tx.extraWas == nil {
		tx.extraWas = map[int64]extraState{}
	}
	for _, id := range sources {
		if _, known := tx.extraWas[id]; !known {
			to, extra := old[id]
			tx.extraWas[id] = extraState{extra, to > 0}
		}
		m.compared = true
	}
	return sqldb.Chunks(sources, func(chunk []any) error {
		return tx.remember(ctx, component, `t.component_id = $1 AND u.source_id IN `+sqldb.List(2, len(chunk)), append([]any{component}, chunk...)...)
	})
}

// oldUnit is a unit as it was before a step.
type oldUnit struct {
	source int64 // its source unit
	state  catalog.State
	live   bool
}

// remembers reports whether it matters what the units of a component were before the step:
// not of a component whose template lacked no string and lacks none.
func (tx *StepTx) remembers(ctx context.Context, component int64) (bool, error) {
	m := tx.convoy[component]
	if m == nil || !m.imported {
		return false, nil
	}
	if m.extra == nil {
		var one int64
		found, err := tx.s.First(ctx, `SELECT 1 FROM extra_strings WHERE source_id >= $1 AND source_id < $2 LIMIT 1`,
			[]any{component * catalog.UnitsPerComponent, (component + 1) * catalog.UnitsPerComponent}, &one)
		if err != nil {
			return false, err
		}
		m.extra = &found
	}
	return *m.extra || m.compared, nil
}

// remember records what units u of translations t were before the step, those that where
// selects, of one component.
func (tx *StepTx) remember(ctx context.Context, component int64, where string, args ...any) error {
	if matters, err := tx.remembers(ctx, component); err != nil || !matters {
		return err
	}
	return tx.s.Query(ctx, `SELECT u.id, u.source_id, u.state, u.removed = 0 AND t.removed = 0
		FROM units u JOIN translations t ON t.id = u.translation_id WHERE `+where, args, func(scan sqldb.Scan) error {
		var id, state int64
		var u oldUnit
		err := scan(&id, &u.source, &state, &u.live)
		u.state = catalog.State(state)
		tx.rememberOld(id, u)
		return err
	})
}

// rememberUnits is remember for units by their ids.
func (tx *StepTx) rememberUnits(ctx context.Context, ids []int64) error {
	return sqldb.Chunks(ids, func(chunk []any) error {
		return tx.remember(ctx, ids[0]/catalog.UnitsPerComponent, `u.id IN `+sqldb.List(1, len(chunk)), chunk...)
	})
}

// rememberNew is remember for a unit that there was not.
func (tx *StepTx) rememberNew(ctx context.Context, component int64, u *catalog.Unit) error {
	matters, err := tx.remembers(ctx, component)
	if matters {
		tx.rememberOld(u.ID, oldUnit{source: u.SourceID})
	}
	return err
}

// rememberOld keeps the first state of a unit.
func (tx *StepTx) rememberOld(id int64, u oldUnit) {
	if tx.old == nil {
		tx.old = map[int64]oldUnit{}
	}
	if _, known := tx.old[id]; !known {
		tx.old[id] = u
	}
}

// extraState is how a source string compares with the template.
type extraState struct{ extra, changed bool }

// extraStrings returns the strings that where selects, with what they changed to.
func extraStrings(ctx context.Context, s *sqldb.Session, where string, args ...any) (map[int64]int64, error) {
	all := map[int64]int64{}
	return all, s.Query(ctx, `SELECT source_id, changed_to FROM extra_strings WHERE `+where, args, func(scan sqldb.Scan) error {
		var id, to int64
		err := scan(&id, &to)
		all[id] = to
		return err
	})
}

// countAgainst keeps the counts of translations against their templates: by the units that
// the step wrote, or of the whole component if it is counted from now on.
func (tx *StepTx) countAgainst(ctx context.Context) error {
	for _, id := range tx.info.Components {
		m := tx.convoy[id]
		var err error
		switch {
		case !m.imported && !tx.info.Partial, m.recompared:
			err = tx.compareAll(ctx, id)
		case m.imported && len(tx.old) > 0:
			err = tx.compareWritten(ctx, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compareAll counts all units of a component.
func (tx *StepTx) compareAll(ctx context.Context, component int64) error {
	counted, err := countedAgainst(ctx, tx.s, component)
	if err != nil {
		return err
	}
	stored := map[int64]catalog.Against{}
	err = tx.s.Query(ctx, `SELECT id, `+againstColumns+` FROM translations t WHERE component_id = $1`, []any{component}, func(scan sqldb.Scan) error {
		var id int64
		var a catalog.Against
		err := scan(append([]any{&id}, againstOf(&a)...)...)
		stored[id] = a
		return err
	})
	for _, id := range sqldb.SortedKeys(stored) {
		if err == nil && stored[id] != counted[id] {
			err = tx.putAgainst(ctx, `0`, id, counted[id])
		}
	}
	return err
}

// countedAgainst counts the live units of a component, by translation.
func countedAgainst(ctx context.Context, s *sqldb.Session, component int64) (map[int64]catalog.Against, error) {
	all := map[int64]catalog.Against{}
	return all, s.Query(ctx, `SELECT u.translation_id, CASE WHEN x.changed_to > 0 AND u.id <> x.source_id THEN 1 ELSE 0 END, u.state, s.words, COUNT(*)
		FROM translations t CROSS JOIN extra_strings x CROSS JOIN units u CROSS JOIN units s
		WHERE t.component_id = $1 AND t.removed = 0 AND x.source_id >= $2 AND x.source_id < $3
		AND u.translation_id = t.id AND u.source_id = x.source_id AND u.removed = 0 AND s.id = x.source_id GROUP BY 1, 2, 3, 4`,
		[]any{component, component * catalog.UnitsPerComponent, (component + 1) * catalog.UnitsPerComponent}, func(scan sqldb.Scan) error {
			var id, changed, state, words, n int64
			err := scan(&id, &changed, &state, &words, &n)
			a := all[id]
			a.Add(n, words, changed != 0, catalog.State(state))
			all[id] = a
			return err
		})
}

// compareWritten counts what became of the units that the step wrote.
func (tx *StepTx) compareWritten(ctx context.Context, component int64) error {
	units, sources := map[int64]oldUnit{}, map[int64]bool{}
	for id, u := range tx.old {
		if id/catalog.UnitsPerComponent == component {
			units[id], sources[u.source] = u, true
		}
	}
	now := map[int64]extraState{}
	err := sqldb.Chunks(sqldb.SortedKeys(sources), func(chunk []any) error {
		found, err := extraStrings(ctx, tx.s, `source_id IN `+sqldb.List(1, len(chunk)), chunk...)
		for id, to := range found {
			now[id] = extraState{true, to > 0}
		}
		return err
	})
	if err != nil {
		return err
	}
	var ids []int64
	for _, id := range sqldb.SortedKeys(units) {
		if source := units[id].source; now[source].extra || tx.extraWas[source].extra {
			ids = append(ids, id)
		}
	}
	changes := map[int64]catalog.Against{}
	err = sqldb.Chunks(ids, func(chunk []any) error {
		return tx.s.Query(ctx, `SELECT u.id, u.translation_id, u.state, CASE WHEN u.removed = 0 AND t.removed = 0 THEN 1 ELSE 0 END, s.words
			FROM units u JOIN translations t ON t.id = u.translation_id JOIN units s ON s.id = u.source_id WHERE u.id IN `+sqldb.List(1, len(chunk)), chunk, func(scan sqldb.Scan) error {
			var id, translation, state, live, words int64
			err := scan(&id, &translation, &state, &live, &words)
			u := units[id]
			is, a := now[u.source], changes[translation]
			was, differs := tx.extraWas[u.source]
			if !differs {
				was = is
			}
			if u.live && was.extra {
				a.Add(-1, words, was.changed && id != u.source, u.state)
			}
			if live != 0 && is.extra {
				a.Add(1, words, is.changed && id != u.source, catalog.State(state))
			}
			changes[translation] = a
			return err
		})
	})
	for _, id := range sqldb.SortedKeys(changes) {
		if err == nil && changes[id] != (catalog.Against{}) {
			err = tx.putAgainst(ctx, `1`, id, changes[id])
		}
	}
	return err
}

// againstColumns are the columns of a translation t with its catalog.Against.
const againstColumns = `t.extra, t.extra_words, t.changed, t.changed_translated, t.changed_translated_words, t.changed_fuzzy`

// againstOf returns pointers to the values of againstColumns.
func againstOf(a *catalog.Against) []any {
	return []any{&a.Extra, &a.ExtraWords, &a.Changed, &a.ChangedTranslated, &a.ChangedTranslatedWords, &a.ChangedFuzzy}
}

// putAgainst stores the counts of a translation, with what was stored times old.
func (tx *StepTx) putAgainst(ctx context.Context, old string, translation int64, a catalog.Against) error {
	err := tx.s.Do(ctx, `UPDATE translations SET extra = extra * `+old+` + $1, extra_words = extra_words * `+old+` + $2, changed = changed * `+old+` + $3,
		changed_translated = changed_translated * `+old+` + $4, changed_translated_words = changed_translated_words * `+old+` + $5, changed_fuzzy = changed_fuzzy * `+old+` + $6
		WHERE id = $7`, a.Extra, a.ExtraWords, a.Changed, a.ChangedTranslated, a.ChangedTranslatedWords, a.ChangedFuzzy, translation)
	if err != nil {
		return err
	}
	return tx.markChanged(ctx, translation)
}
