package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Units as input of the quality checks have the checks that fail, and all fields except
// Position and Location.

// recordWritten records that a unit was written, for Written.
func (tx *StepTx) recordWritten(translation, unit int64) {
	if tx.info.Partial {
		return // checks run when the head is reached
	}
	tx.written[translation] = append(tx.written[translation], unit)
}

// Written returns the units that the step has added, updated or removed so far, by
// translation. It is empty if the step is Partial. The caller owns it.
func (tx *StepTx) Written() map[int64][]int64 {
	units := tx.written
	tx.written = map[int64][]int64{}
	return units
}

func pointersTo(list []catalog.Unit) []*catalog.Unit {
	return catalog.Each(list, func(u *catalog.Unit) *catalog.Unit { return u })
}

// UnitsOf returns the live units of a translation, by id.
func (tx *StepTx) UnitsOf(ctx context.Context, translation int64) ([]*catalog.Unit, error) {
	list, err := rows.Units(ctx, tx.s, ` WHERE u.translation_id = $1 AND u.removed = 0 ORDER BY u.id`, translation)
	return pointersTo(list), tx.fail(ctx, fmt.Sprintf("read units of translation %d", translation), err)
}

// SourceText is the part of a source unit that its translations share.
type SourceText struct {
	// Source and Context are its texts.
	Source, Context string
	// Words and Chars are its counts.
	Words, Chars int
}

// sourceTexts has + 0 so that the rows are read in their order and not in that of
// units_strings.
const sourceTexts = `SELECT id, source, context, words, chars FROM units WHERE translation_id = $1 AND source_id + 0 = id`

// SourceTexts returns the texts of a source translation, by unit.
func (tx *StepTx) SourceTexts(ctx context.Context, translation int64) (map[int64]SourceText, error) {
	texts, err := sqldb.Map(ctx, tx.s, sourceTexts, []any{translation}, func(t *SourceText) []any { return []any{&t.Source, &t.Context, &t.Words, &t.Chars} })
	return texts, tx.fail(ctx, fmt.Sprintf("read strings of translation %d", translation), err)
}

// TargetsOf is UnitsOf for the translations of sources, in a third of the time.
// The units have the fields that checks read, and are in no order.
func (tx *StepTx) TargetsOf(ctx context.Context, translation int64, sources map[int64]SourceText) (units []*catalog.Unit, err error) {
	defer tx.s.Failed(ctx, &err, "read units of translation %d", translation)
	failing, err := tx.FailingUnits(ctx, translation)
	if err != nil {
		return nil, err
	}
	var others []int64 // units of other source strings
	u := catalog.Unit{TranslationID: translation}
	dest := []any{&u.ID, &u.SourceID, &u.Identity.Hash, &u.Identity.Key, &u.Target, &u.Note, &u.Flags, &u.State}
	err = tx.s.Query(ctx, `SELECT id, source_id, id_hash, id_key, target, note, flags, state FROM units
		WHERE translation_id = $1 AND removed = 0`, []any{translation}, func(scan sqldb.Scan) error {
		err := scan(dest...)
		s, ok := sources[u.SourceID]
		if !ok {
			others = append(others, u.ID)
			return err
		}
		u.Source, u.Context, u.Words, u.Chars, u.Failing = s.Source, s.Context, s.Words, s.Chars, failing[u.ID]
		one := u
		units = append(units, &one)
		return err
	})
	if err != nil {
		return nil, err
	}
	more, err := tx.UnitsByID(ctx, others)
	return append(units, more...), err
}

// ComparedOf calls each for the live units of a translation, with what is compared of
// them.
func (tx *StepTx) ComparedOf(ctx context.Context, translation int64, each func(*catalog.Unit)) error {
	failing, err := tx.FailingUnits(ctx, translation)
	if err != nil {
		return err
	}
	u := catalog.Unit{TranslationID: translation}
	dest := []any{&u.ID, &u.SourceID, &u.Identity.Hash, &u.Identity.Key, &u.Target, &u.State, &u.Flags, &u.Source}
	err = tx.s.Query(ctx, `SELECT u.id, u.source_id, u.id_hash, u.id_key, u.target, u.state, u.flags, s.source
		FROM units u JOIN units s ON s.id = u.source_id WHERE u.translation_id = $1 AND u.removed = 0`, []any{translation}, func(scan sqldb.Scan) error {
		err := scan(dest...)
		u.Failing = failing[u.ID]
		each(&u)
		return err
	})
	return tx.fail(ctx, fmt.Sprintf("read units of translation %d", translation), err)
}

// VerdictUnits returns live units, in no order, with what a verdict about them is stored
// with: no texts.
func (tx *StepTx) VerdictUnits(ctx context.Context, ids []int64) ([]*catalog.Unit, error) {
	list, err := sqldb.RowsIn(ctx, tx.s, `SELECT u.id, u.translation_id, u.source_id, u.flags, u.state, s.words, s.chars, COALESCE(f.low, 0), COALESCE(f.high, 0)
		FROM units u JOIN units s ON s.id = u.source_id LEFT JOIN failing f ON f.unit_id = u.id WHERE u.removed = 0 AND u.id IN $ids`, nil, ids, func(u *catalog.Unit) []any {
		return []any{&u.ID, &u.TranslationID, &u.SourceID, &u.Flags, &u.State, &u.Words, &u.Chars, &u.Failing[0], &u.Failing[1]}
	})
	return pointersTo(list), tx.fail(ctx, "read units", err)
}

// UnitsByID returns units, by id, including removed ones. Unknown ids are left out.
func (tx *StepTx) UnitsByID(ctx context.Context, ids []int64) ([]*catalog.Unit, error) {
	list, err := rows.UnitsIn(ctx, tx.s, ids, ` WHERE u.id IN $ids ORDER BY u.id`)
	return pointersTo(list), tx.fail(ctx, "read units", err)
}

// FlaggedUnits returns the live units of a translation that have a flag, or a flag that
// contains the text, by id.
func (tx *StepTx) FlaggedUnits(ctx context.Context, translation int64, flag string) ([]*catalog.Unit, error) {
	list, err := rows.Units(ctx, tx.s, ` WHERE u.translation_id = $1 AND u.removed = 0 AND u.flags LIKE $2 ORDER BY u.id`, translation, "%"+flag+"%")
	return pointersTo(list), tx.fail(ctx, fmt.Sprintf("read units of translation %d", translation), err)
}

// UnitsToEdit returns live units of a translation with all that UpdateUnits stores, by
// id; unknown and removed ones are left out.
func (tx *StepTx) UnitsToEdit(ctx context.Context, translation int64, ids []int64) (map[int64]catalog.Unit, error) {
	units := make(map[int64]catalog.Unit, len(ids))
	list, err := rows.UnitsIn(ctx, tx.s, ids, ` WHERE u.removed = 0 AND u.translation_id = $1 AND u.id IN $ids`, translation)
	for i := range list {
		units[list[i].ID] = list[i]
	}
	return units, tx.fail(ctx, fmt.Sprintf("read units of translation %d", translation), err)
}

// SourceTranslation returns the id of a component's live source translation, or 0.
func (tx *StepTx) SourceTranslation(ctx context.Context, component int64) (id int64, err error) {
	_, err = tx.s.First(ctx, `SELECT id FROM translations WHERE component_id = $1 AND is_source = 1 AND removed = 0`, []any{component}, &id)
	return id, tx.fail(ctx, fmt.Sprintf("read the source translation of component %d", component), err)
}

// PeerByID returns a translation of which units were compared, without statistics and
// history. Checked is "" if it was not checked, or was removed.
func (tx *StepTx) PeerByID(ctx context.Context, translation int64) (t catalog.Translation, err error) {
	_, err = tx.s.First(ctx, `SELECT t.id, t.component_id, t.language, CASE WHEN t.removed = 0 AND c.active = 1 THEN t.checked ELSE '' END
		FROM translations t JOIN components c ON c.id = t.component_id WHERE t.id = $1`, []any{translation}, &t.ID, &t.ComponentID, &t.Language, &t.Checked)
	return t, tx.fail(ctx, fmt.Sprintf("read translation %d", translation), err)
}

// CheckedOf returns the Checked keys of the translations of some units, by
// translation.
func (tx *StepTx) CheckedOf(ctx context.Context, units []int64) (map[int64]string, error) {
	out, err := sqldb.MapIn(ctx, tx.s, `SELECT id, checked FROM translations WHERE id IN (SELECT translation_id FROM units WHERE id IN $ids)`, nil, units,
		func(rules *string) []any { return []any{rules} })
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
	err := s.s.IDsIn(ctx, `SELECT DISTINCT component_id FROM translations WHERE (checked = '' OR checked LIKE '%`+UncomparedSuffix+`') AND removed = 0 AND component_id IN $ids`, nil, components, &out)
	return out, s.s.Fail(ctx, "read what was not checked", err)
}
