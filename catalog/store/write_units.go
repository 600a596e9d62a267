package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/blocks"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// FingerprintedUnit is a unit to add or update, with its fingerprints.
type FingerprintedUnit struct {
	*catalog.Unit
	// Text and Meta are the fingerprints by Hasher.Text and Hasher.Meta, which
	// Known returns.
	Text, Meta int64
	// Since, of a new source unit, is the committer time of the commit of the branch that
	// brought it, for the check long_untranslated; zero: Created.
	Since time.Time
}

// Text is what an entry needs of a stored unit.
type Text struct {
	// Target is the stored translation, forms joined.
	Target string
	// State is the stored state.
	State catalog.State
	// Source and Context are the source unit's.
	Source, Context string
}

// Known returns what catalog.Diff needs of all units of a translation by id,
// including removed ones. It reads an index, not the rows.
func (tx *StepTx) Known(ctx context.Context, translationID int64) ([]catalog.Known, error) {
	known, err := sqldb.Rows(ctx, tx.s, `SELECT id, removed, id_hash, id_key, text_print, meta_print FROM units WHERE translation_id = $1`, []any{translationID}, knownFields)
	slices.SortFunc(known, func(a, b catalog.Known) int { return cmp.Compare(a.ID, b.ID) })
	return known, tx.fail(ctx, fmt.Sprintf("read known units of translation %d", translationID), err)
}

func knownFields(k *catalog.Known) []any {
	return []any{&k.ID, &k.Removed, &k.Identity.Hash, &k.Identity.Key, &k.Text, &k.Meta}
}

// fromStrings selects units u of translation $1 by the hashes of their source units s:
// only these are in an index by hash (units_strings). SQLite keeps the order of a
// CROSS JOIN; it would read all units of the translation first.
const fromStrings = ` FROM translations t CROSS JOIN translations o CROSS JOIN units s CROSS JOIN units u
	WHERE t.id = $1 AND o.component_id = t.component_id AND o.is_source = 1
	AND s.translation_id = o.id AND s.source_id = s.id AND u.translation_id = t.id AND u.source_id = s.id`

// KnownOf is Known for the units with one of the identities, in any order.
func (tx *StepTx) KnownOf(ctx context.Context, translationID int64, identities []catalog.Identity) ([]catalog.Known, error) {
	hashes := make([]int64, len(identities))
	wanted := make(map[catalog.Identity]bool, len(identities))
	for i, id := range identities {
		hashes[i], wanted[id] = id.Hash, true
	}
	slices.Sort(hashes)
	known, err := sqldb.RowsIn(ctx, tx.s, `SELECT u.id, u.removed, u.id_hash, u.id_key, u.text_print, u.meta_print`+fromStrings+` AND s.id_hash IN $ids`,
		[]any{translationID}, slices.Compact(hashes), knownFields)
	known = slices.DeleteFunc(known, func(k catalog.Known) bool { return !wanted[k.Identity] })
	return known, tx.fail(ctx, fmt.Sprintf("read some known units of translation %d", translationID), err)
}

// Texts returns the texts of units by id. Unknown ids are left out.
func (tx *StepTx) Texts(ctx context.Context, ids []int64) (map[int64]Text, error) {
	texts, err := sqldb.MapIn(ctx, tx.s, `SELECT u.id, u.target, u.state, COALESCE(s.source, ''), COALESCE(s.context, '')
			FROM units u LEFT JOIN units s ON s.id = u.source_id WHERE u.id IN $ids`, nil, ids, func(t *Text) []any { return []any{&t.Target, &t.State, &t.Source, &t.Context} })
	return texts, tx.fail(ctx, "read texts of units", err)
}

// AddUnits stores new units and gives them ids in the order of the slice, from
// their component's counter. If a unit has an ID, assigned by the caller from
// BranchComponent.LastUnit, it must be the one that it would get. SourceID 0 makes
// a unit its own source; only source units keep Source, Context, Words and Chars.
// PutLayout stores Position and Location.
func (tx *StepTx) AddUnits(ctx context.Context, units []FingerprintedUnit) error {
	if err := tx.noteAdded(ctx, units); err != nil {
		return tx.fail(ctx, "add units", err)
	}
	columns := []string{
		"id", "translation_id", "source_id", "id_hash", "id_key", "text_print", "meta_print", "removed", "state", "priority",
		"target", "previous_source", "note", "flags", "remark", "created", "words", "chars", "source", "context", "since",
	}
	sources, targets := sqldb.NewInserter("units", columns...), sqldb.NewInserter("units", columns[:len(columns)-5]...)
	for i := range units {
		if err := tx.addUnit(ctx, sources, targets, &units[i]); err != nil {
			return tx.fail(ctx, fmt.Sprintf("add units of translation %d", units[i].TranslationID), err)
		}
	}
	err := sources.Flush(ctx, tx.s)
	if err == nil {
		err = targets.Flush(ctx, tx.s)
	}
	return tx.fail(ctx, "add units", err)
}

// noteAdded gives the step the larger cache if it adds many units to one source
// translation, whose part of the index by hash is filled in random order.
func (tx *StepTx) noteAdded(ctx context.Context, units []FingerprintedUnit) error {
	for i := range units {
		if units[i].SourceID != 0 {
			continue
		}
		if t := units[i].TranslationID; t != tx.addingTo {
			tx.addingTo, tx.added = t, 0
		}
		tx.added++
	}
	if tx.added < sqldb.BulkUnits || tx.largeCache {
		return nil
	}
	tx.largeCache = true
	return tx.s.ResizeCache(ctx, tx.s.DB.BulkCache) // until restoreCache
}

func (tx *StepTx) addUnit(ctx context.Context, sources, targets *sqldb.Inserter, n *FingerprintedUnit) error {
	u := n.Unit
	component, err := tx.componentOf(ctx, u.TranslationID)
	if err != nil {
		return err
	}
	if err := tx.markChanged(ctx, u.TranslationID); err != nil {
		return err
	}
	m := tx.convoy[component]
	if m.lastUnit++; m.lastUnit >= catalog.UnitsPerComponent {
		return sqldb.Invalid("component %d has no room for another unit", component)
	}
	m.countersChanged = true
	id := component*catalog.UnitsPerComponent + m.lastUnit
	if u.ID != 0 && u.ID != id {
		return sqldb.Invalid("unit %d should get the id %d", u.ID, id)
	}
	u.ID = id
	u.SourceID = cmp.Or(u.SourceID, u.ID)
	tx.recordWritten(u.TranslationID, u.ID)
	if err := tx.buildBlock(ctx, u); err != nil {
		return err
	}
	row := append(make([]any, 0, 21), u.ID, u.TranslationID, u.SourceID, u.Identity.Hash, u.Identity.Key, n.Text, n.Meta, sqldb.Smallint(u.Removed), int64(u.State), u.Priority,
		u.Target, u.PreviousSource, u.Note, u.Flags, u.TranslatorBytes, sqldb.Micros(u.Created))
	if u.SourceID != u.ID {
		return targets.Add(ctx, tx.s, row...)
	}
	var since any
	if !n.Since.IsZero() && !n.Since.Equal(u.Created) {
		since = sqldb.Micros(n.Since)
	}
	m.noteAge(n)
	return sources.Add(ctx, tx.s, append(row, u.Words, u.Chars, u.Source, u.Context, since)...)
}

// noteAge makes oldest the age of a new source unit, if that is older. Of components
// that older versions filled it is not known.
func (m *convoyMember) noteAge(n *FingerprintedUnit) {
	at := n.Since
	if at.IsZero() {
		at = n.Created
	}
	first := n.ID%catalog.UnitsPerComponent == 1
	if at.IsZero() || !first && !m.oldest.Valid {
		return
	}
	if us := at.UnixMicro(); !m.oldest.Valid || us < m.oldest.Int64 {
		m.oldest = sql.NullInt64{Int64: us, Valid: true}
	}
}

// UpdateUnits stores, by ID, target, state, previous source, note, the length of
// the translator comment, flags, priority and fingerprints, and restores removed
// units. An unknown ID is ErrNotFound. No ID may come twice.
func (tx *StepTx) UpdateUnits(ctx context.Context, units []FingerprintedUnit) error {
	if err := tx.recordReplaced(ctx, catalog.Each(units, func(u *FingerprintedUnit) int64 { return u.ID })); err != nil {
		return tx.fail(ctx, "read what units were", err)
	}
	for len(units) > 0 {
		n := sqldb.InsertSize(len(units))
		if err := tx.updateUnits(ctx, units[:n]); err != nil {
			return tx.fail(ctx, fmt.Sprintf("update units of translation %d", units[0].TranslationID), err)
		}
		units = units[n:]
	}
	return nil
}

// updateUnits updates units by one statement, which on PostgreSQL is one round trip.
func (tx *StepTx) updateUnits(ctx context.Context, units []FingerprintedUnit) error {
	const columns = 11
	args := make([]any, 0, columns*len(units))
	for i := range units {
		u := &units[i]
		if err := tx.markChanged(ctx, u.TranslationID); err != nil {
			return err
		}
		tx.recordWritten(u.TranslationID, u.ID)
		tx.touched[blocks.Number(u.ID)] = struct{}{}
		args = append(args, u.Target, int64(u.State), u.PreviousSource, u.Note, u.Flags, u.Priority, u.Text, u.Meta, u.TranslatorBytes, u.ID, u.TranslationID)
	}
	n, err := tx.s.Exec(ctx, `WITH v (target, state, previous_source, note, flags, priority, text, meta, remark, id, translation) AS (VALUES `+sqldb.Lists(len(units), columns)+`)
		UPDATE units SET target = v.target, state = v.state, previous_source = v.previous_source, note = v.note, flags = v.flags, priority = v.priority,
		text_print = v.text, meta_print = v.meta, removed = 0, remark = v.remark FROM v WHERE units.id = v.id AND units.translation_id = v.translation`, args...)
	if err == nil && n != int64(len(units)) {
		err = sqldb.NotFound("%d of %d units", int64(len(units))-n, len(units))
	}
	return err
}

// RemoveUnits marks units as removed. Their last text is kept. An unknown id is
// ErrNotFound.
func (tx *StepTx) RemoveUnits(ctx context.Context, ids []int64) error {
	if err := tx.recordReplaced(ctx, ids); err != nil {
		return tx.fail(ctx, "read what units were", err)
	}
	var translations []int64
	err := tx.s.QueryIn(ctx, `UPDATE units SET removed = 1 WHERE id IN $ids RETURNING translation_id, id`, nil, ids, sqldb.Cols2(func(translation, id int64) {
		tx.recordWritten(translation, id)
		tx.touched[blocks.Number(id)] = struct{}{}
		translations = append(translations, translation)
	}))
	if err == nil && len(translations) != len(ids) {
		err = sqldb.NotFound("%d of %d units", len(ids)-len(translations), len(ids))
	}
	for _, t := range translations {
		if err == nil {
			err = tx.markChanged(ctx, t)
		}
	}
	return tx.fail(ctx, "remove units", err)
}
