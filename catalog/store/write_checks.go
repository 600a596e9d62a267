package store

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/repoglot/repoglot/catalog"
)

// CheckUnit is a unit as input of the quality checks, with the checks that fail.
type CheckUnit struct {
	// Unit has all fields except Position and Location.
	catalog.Unit
	// TargetHash is as in FingerprintedUnit.
	TargetHash int64
}

// Peer is a translation of a project with which others are compared.
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

// failingChange is the change of a translation's statistics by SetFailing.
type failingChange struct {
	component int64
	stats     catalog.Count
}

// recordWritten records that a unit was written, for Written.
func (tx *StepTx) recordWritten(translation, unit int64) {
	if tx.info.Partial {
		return // checks run when the head is reached
	}
	if tx.written == nil {
		tx.written = map[int64][]int64{}
	}
	tx.written[translation] = append(tx.written[translation], unit)
}

// Written returns the units that the step has added, updated or removed so far, by
// translation, and the target hashes that they had before. Both are empty if the
// step is Partial. The caller owns them.
func (tx *StepTx) Written() (units map[int64][]int64, echoes map[int64]struct{}) {
	units, echoes = tx.written, tx.oldTargetHashes
	tx.written, tx.oldTargetHashes = nil, nil
	return units, echoes
}

const checkColumns = unitColumns + `, COALESCE(u.echo, 0)`

func (tx *StepTx) checkUnits(ctx context.Context, where string, args []any, each func(*CheckUnit) error) error {
	var r unitScan
	var echo int64
	dest := append(r.dest(), &echo)
	if err := tx.newFailing.flush(ctx, tx.s); err != nil {
		return err
	}
	return tx.s.query(ctx, `SELECT `+checkColumns+unitFrom+where, args, func(scan scan) error {
		if err := scan(dest...); err != nil {
			return err
		}
		return each(&CheckUnit{Unit: r.unit(), TargetHash: echo})
	})
}

// UnitsOf calls each for the live units of a translation, by id.
func (tx *StepTx) UnitsOf(ctx context.Context, translation int64, each func(*CheckUnit) error) error {
	return tx.fail(ctx, fmt.Sprintf("read units of translation %d", translation),
		tx.checkUnits(ctx, ` WHERE u.translation_id = $1 AND u.removed = 0 ORDER BY u.id`, []any{translation}, each))
}

// SourceText is the part of a source unit that its translations share.
type SourceText struct {
	// Source and Context are its texts.
	Source, Context string
	// Words and Chars are its counts.
	Words, Chars int64
}

// SourceTexts returns the texts of a source translation, by unit.
func (tx *StepTx) SourceTexts(ctx context.Context, translation int64) (map[int64]SourceText, error) {
	texts := map[int64]SourceText{}
	err := tx.s.query(ctx, `SELECT id, source, context, words, chars FROM units WHERE translation_id = $1 AND source_id = id`, []any{translation}, func(scan scan) error {
		var id int64
		var t SourceText
		err := scan(&id, &t.Source, &t.Context, &t.Words, &t.Chars)
		texts[id] = t
		return err
	})
	return texts, tx.fail(ctx, fmt.Sprintf("read strings of translation %d", translation), err)
}

// TargetsOf is UnitsOf for the translations of sources, in a third of the time.
// The units have the fields that checks read, and are in no order.
func (tx *StepTx) TargetsOf(ctx context.Context, translation int64, sources map[int64]SourceText) ([]*CheckUnit, error) {
	var units []*CheckUnit
	var others []int64 // units of other source strings
	at := map[int64]*CheckUnit{}
	u := CheckUnit{Unit: catalog.Unit{TranslationID: translation}}
	var state int64
	dest := []any{&u.ID, &u.SourceID, &u.Identity.Hash, &u.Identity.Key, &u.Target, &u.Note, &u.Flags, &state, &u.TargetHash}
	err := tx.s.query(ctx, `SELECT id, source_id, id_hash, id_key, target, note, flags, state, COALESCE(echo, 0) FROM units
		WHERE translation_id = $1 AND removed = 0`, []any{translation}, func(scan scan) error {
		err := scan(dest...)
		s, ok := sources[u.SourceID]
		if !ok {
			others = append(others, u.ID)
			return err
		}
		u.State, u.Source, u.Context, u.Words, u.Chars = catalog.State(state), s.Source, s.Context, int(s.Words), int(s.Chars)
		one := u
		units = append(units, &one)
		at[u.ID] = &one
		return err
	})
	if err == nil {
		err = tx.newFailing.flush(ctx, tx.s)
	}
	if err == nil {
		err = tx.s.query(ctx, `SELECT unit_id, low, high FROM failing WHERE translation_id = $1`, []any{translation}, func(scan scan) error {
			var id, low, high int64
			err := scan(&id, &low, &high)
			if one := at[id]; one != nil {
				one.Failing = [2]uint64{uint64(low), uint64(high)}
			}
			return err
		})
	}
	if err == nil {
		err = tx.UnitsByID(ctx, others, func(u *CheckUnit) error {
			units = append(units, u)
			return nil
		})
	}
	return units, tx.fail(ctx, fmt.Sprintf("read units of translation %d", translation), err)
}

// UnitsByID calls each for units, including removed ones. Unknown ids are left
// out.
func (tx *StepTx) UnitsByID(ctx context.Context, ids []int64, each func(*CheckUnit) error) error {
	return tx.fail(ctx, "read units", chunks(ids, func(chunk []any) error {
		return tx.checkUnits(ctx, ` WHERE u.id IN `+list(1, len(chunk))+` ORDER BY u.id`, chunk, each)
	}))
}

// Peers returns the live, checked translations of a project in some languages.
func (tx *StepTx) Peers(ctx context.Context, project int64, languages []string) ([]Peer, error) {
	var out []Peer
	for _, language := range languages {
		err := tx.s.query(ctx, `SELECT t.id, t.component_id, t.language, t.plural_number, t.plural_formula, t.is_source, t.checked
			FROM components c JOIN translations t ON t.component_id = c.id
			WHERE c.project_id = $1 AND c.active = 1 AND t.removed = 0 AND t.language = $2 AND t.checked <> '' ORDER BY t.id`,
			[]any{project, language}, func(scan scan) error {
				var p Peer
				err := scan(&p.ID, &p.ComponentID, &p.Language, &p.PluralNumber, &p.PluralFormula, &p.IsSource, &p.Checked)
				out = append(out, p)
				return err
			})
		if err != nil {
			return nil, tx.fail(ctx, fmt.Sprintf("read translations of project %d", project), err)
		}
	}
	return out, nil
}

// CommonHashes returns the id_hashes that live units of both translations have.
func (tx *StepTx) CommonHashes(ctx context.Context, a, b int64) ([]int64, error) {
	var out []int64
	err := tx.s.query(ctx, `SELECT DISTINCT x.id_hash FROM units x JOIN units y ON y.translation_id = $2 AND y.id_hash = x.id_hash AND y.removed = 0
		WHERE x.translation_id = $1 AND x.removed = 0`, []any{a, b}, func(scan scan) error {
		var hash int64
		err := scan(&hash)
		out = append(out, hash)
		return err
	})
	return out, tx.fail(ctx, fmt.Sprintf("compare translations %d and %d", a, b), err)
}

// SourceTranslation returns the id of a component's live source translation, or 0.
func (tx *StepTx) SourceTranslation(ctx context.Context, component int64) (id int64, err error) {
	_, err = tx.s.first(ctx, `SELECT id FROM translations WHERE component_id = $1 AND is_source = 1 AND removed = 0`, []any{component}, &id)
	return id, tx.fail(ctx, fmt.Sprintf("read the source translation of component %d", component), err)
}

// PeerByID returns a translation and its project; Checked is "" if it was not
// checked, or was removed.
func (tx *StepTx) PeerByID(ctx context.Context, translation int64) (project int64, p Peer, err error) {
	_, err = tx.s.first(ctx, `SELECT c.project_id, t.id, t.component_id, t.language, t.plural_number, t.plural_formula, t.is_source,
		CASE WHEN t.removed = 0 AND c.active = 1 THEN t.checked ELSE '' END
		FROM translations t JOIN components c ON c.id = t.component_id WHERE t.id = $1`, []any{translation},
		&project, &p.ID, &p.ComponentID, &p.Language, &p.PluralNumber, &p.PluralFormula, &p.IsSource, &p.Checked)
	return project, p, tx.fail(ctx, fmt.Sprintf("read translation %d", translation), err)
}

// CheckedOf returns the Checked keys of the translations of some units, by
// translation.
func (tx *StepTx) CheckedOf(ctx context.Context, units []int64) (map[int64]string, error) {
	out := map[int64]string{}
	err := chunks(units, func(chunk []any) error {
		return tx.s.query(ctx, `SELECT id, checked FROM translations WHERE id IN (SELECT translation_id FROM units WHERE id IN `+list(1, len(chunk))+`)`, chunk, func(scan scan) error {
			var id int64
			var rules string
			err := scan(&id, &rules)
			out[id] = rules
			return err
		})
	})
	return out, tx.fail(ctx, "read what was checked", err)
}

// UnitsByHash calls each for the live units of a translation that have one of the
// id_hashes.
func (tx *StepTx) UnitsByHash(ctx context.Context, translation int64, hashes []int64, each func(*CheckUnit) error) error {
	return tx.fail(ctx, fmt.Sprintf("read units of translation %d", translation), chunks(hashes, func(chunk []any) error {
		return tx.checkUnits(ctx, ` WHERE u.translation_id = $1 AND u.removed = 0 AND u.id_hash IN `+list(2, len(chunk)), append([]any{translation}, chunk...), each)
	}))
}

// FailingOf counts the failing checks of the translations of source units, by
// source unit. Checks of the source unit itself do not count. Source units without
// failing checks are absent.
func (tx *StepTx) FailingOf(ctx context.Context, sources []int64) (map[int64]int, error) {
	out := map[int64]int{}
	if err := tx.newFailing.flush(ctx, tx.s); err != nil {
		return nil, tx.fail(ctx, "count failing checks", err)
	}
	err := chunks(sources, func(chunk []any) error {
		return tx.s.query(ctx, `SELECT source_id, low, high FROM failing WHERE unit_id <> source_id AND source_id IN `+list(1, len(chunk)), chunk, func(scan scan) error {
			var source, low, high int64
			err := scan(&source, &low, &high)
			out[source] += bits.OnesCount64(uint64(low)) + bits.OnesCount64(uint64(high))
			return err
		})
	})
	return out, tx.fail(ctx, "count failing checks", err)
}

// SetFailing stores the failing checks of a unit and updates the translation's
// statistics. The unit may belong to a component of the project outside the
// convoy. u must be as read in this step; its Failing becomes failing.
func (tx *StepTx) SetFailing(ctx context.Context, u *CheckUnit, failing [2]uint64) error {
	if u.Failing == failing {
		return nil
	}
	return tx.fail(ctx, fmt.Sprintf("store failing checks of unit %d", u.ID), tx.setFailing(ctx, u, failing))
}

func (tx *StepTx) setFailing(ctx context.Context, u *CheckUnit, failing [2]uint64) (err error) {
	none := [2]uint64{}
	if u.Failing != none {
		if err := tx.newFailing.flush(ctx, tx.s); err != nil {
			return err
		}
	}
	count := catalog.Count{Units: 1, Words: int64(u.Words), Chars: int64(u.Chars)}
	t := tx.failingOf(u.TranslationID, u.ID/catalog.UnitsPerComponent)
	if failing == none {
		t.stats.Subtract(count)
		_, err = tx.s.exec(ctx, `DELETE FROM failing WHERE unit_id = $1`, u.ID)
	} else if u.Failing == none {
		t.stats.Add(count)
		err = tx.newFailing.add(ctx, tx.s, u.ID, u.TranslationID, u.SourceID, int64(failing[0]), int64(failing[1]))
	} else {
		_, err = tx.s.exec(ctx, `UPDATE failing SET low = $1, high = $2 WHERE unit_id = $3`, int64(failing[0]), int64(failing[1]), u.ID)
	}
	u.Failing = failing
	return err
}

func (tx *StepTx) failingOf(translation, component int64) *failingChange {
	if tx.failing == nil {
		tx.failing = map[int64]*failingChange{}
	}
	t := tx.failing[translation]
	if t == nil {
		t = &failingChange{component: component}
		tx.failing[translation] = t
	}
	return t
}

// ClearFailing deletes the failing checks of a translation whose file was removed,
// and marks it as not checked.
func (tx *StepTx) ClearFailing(ctx context.Context, translation int64) error {
	_, err := tx.componentOf(ctx, translation)
	if err == nil {
		err = tx.newFailing.flush(ctx, tx.s)
	}
	if err == nil {
		_, err = tx.s.exec(ctx, `DELETE FROM failing WHERE translation_id = $1`, translation)
	}
	if err == nil {
		_, err = tx.s.exec(ctx, `UPDATE translations SET failing = 0, failing_words = 0, failing_chars = 0, checked = '' WHERE id = $1`, translation)
	}
	return tx.fail(ctx, fmt.Sprintf("forget checks of translation %d", translation), err)
}

// SetChecked stores the key with which a translation of the convoy was checked.
func (tx *StepTx) SetChecked(ctx context.Context, translation int64, key string) error {
	_, err := tx.componentOf(ctx, translation)
	if err == nil {
		_, err = tx.s.exec(ctx, `UPDATE translations SET checked = $1 WHERE id = $2`, key, translation)
	}
	return tx.fail(ctx, fmt.Sprintf("store checks of translation %d", translation), err)
}

// storeFailing stores the sums of what SetFailing changed. It returns the
// components outside the convoy whose answers changed.
func (tx *StepTx) storeFailing(ctx context.Context) (abroad []int64, err error) {
	if err := tx.newFailing.flush(ctx, tx.s); err != nil {
		return nil, err
	}
	for _, id := range sortedKeys(tx.failing) {
		t := tx.failing[id]
		if t.stats != (catalog.Count{}) {
			if _, err := tx.s.exec(ctx, `UPDATE translations SET failing = failing + $1, failing_words = failing_words + $2, failing_chars = failing_chars + $3
				WHERE id = $4`, t.stats.Units, t.stats.Words, t.stats.Chars, id); err != nil {
				return nil, err
			}
		}
		tx.dirty[id] = struct{}{}
		if m, ok := tx.convoy[t.component]; ok {
			m.dirty = true
			continue
		}
		abroad = append(abroad, t.component)
	}
	return abroad, nil
}

// FailingUnits returns the failing checks of the units of a translation, by unit.
// Units without failing checks are absent.
func (tx *StepTx) FailingUnits(ctx context.Context, translation int64) (map[int64][2]uint64, error) {
	out := map[int64][2]uint64{}
	err := tx.newFailing.flush(ctx, tx.s)
	if err == nil {
		err = tx.s.query(ctx, `SELECT unit_id, low, high FROM failing WHERE translation_id = $1`, []any{translation}, func(scan scan) error {
			var id, low, high int64
			err := scan(&id, &low, &high)
			out[id] = [2]uint64{uint64(low), uint64(high)}
			return err
		})
	}
	return out, tx.fail(ctx, fmt.Sprintf("read failing checks of translation %d", translation), err)
}

// Unchecked returns those of the components that have a live translation that was
// not checked.
func (s *Snapshot) Unchecked(ctx context.Context, components []int64) ([]int64, error) {
	var out []int64
	err := chunks(components, func(chunk []any) error {
		return s.s.query(ctx, `SELECT DISTINCT component_id FROM translations WHERE checked = '' AND removed = 0 AND component_id IN `+list(1, len(chunk)),
			chunk, func(scan scan) error {
				var id int64
				err := scan(&id)
				out = append(out, id)
				return err
			})
	})
	return out, s.db.fail(ctx, "read what was not checked", err)
}
