package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// CheckUnit is a unit as input of the quality checks, with the checks that fail. It
// has all fields except Position and Location.
type CheckUnit struct{ catalog.Unit }

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
// translation. It is empty if the step is Partial. The caller owns it.
func (tx *StepTx) Written() map[int64][]int64 {
	units := tx.written
	tx.written = nil
	return units
}

func (tx *StepTx) checkUnits(ctx context.Context, where string, args []any, each func(*CheckUnit) error) error {
	var r unitScan
	dest := r.dest()
	if err := tx.newFailing.Flush(ctx, tx.s); err != nil {
		return err
	}
	return tx.s.Query(ctx, `SELECT `+unitColumns+unitFrom+where, args, func(scan sqldb.Scan) error {
		if err := scan(dest...); err != nil {
			return err
		}
		return each(&CheckUnit{r.unit()})
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

// sourceTexts has + 0 so that the rows are read in their order and not in that of
// units_strings.
const sourceTexts = `SELECT id, source, context, words, chars FROM units WHERE translation_id = $1 AND source_id + 0 = id`

// SourceTexts returns the texts of a source translation, by unit.
func (tx *StepTx) SourceTexts(ctx context.Context, translation int64) (map[int64]SourceText, error) {
	texts := map[int64]SourceText{}
	err := tx.s.Query(ctx, sourceTexts, []any{translation}, func(scan sqldb.Scan) error {
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
	dest := []any{&u.ID, &u.SourceID, &u.Identity.Hash, &u.Identity.Key, &u.Target, &u.Note, &u.Flags, &state}
	err := tx.s.Query(ctx, `SELECT id, source_id, id_hash, id_key, target, note, flags, state FROM units
		WHERE translation_id = $1 AND removed = 0`, []any{translation}, func(scan sqldb.Scan) error {
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
		err = tx.newFailing.Flush(ctx, tx.s)
	}
	if err == nil {
		err = tx.s.Query(ctx, `SELECT unit_id, low, high FROM failing WHERE translation_id = $1`, []any{translation}, func(scan sqldb.Scan) error {
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

// ComparedOf calls each for the live units of a translation, with what is compared of
// them.
func (tx *StepTx) ComparedOf(ctx context.Context, translation int64, each func(*CheckUnit)) error {
	err := tx.newFailing.Flush(ctx, tx.s)
	if err != nil {
		return tx.fail(ctx, "read units", err)
	}
	var state, low, high int64
	u := CheckUnit{Unit: catalog.Unit{TranslationID: translation}}
	dest := []any{&u.ID, &u.SourceID, &u.Identity.Hash, &u.Identity.Key, &u.Target, &state, &u.Flags, &u.Source, &low, &high}
	err = tx.s.Query(ctx, `SELECT u.id, u.source_id, u.id_hash, u.id_key, u.target, u.state, u.flags, s.source, COALESCE(f.low, 0), COALESCE(f.high, 0)
		FROM units u JOIN units s ON s.id = u.source_id LEFT JOIN failing f ON f.unit_id = u.id WHERE u.translation_id = $1 AND u.removed = 0`, []any{translation}, func(scan sqldb.Scan) error {
		err := scan(dest...)
		u.State, u.Failing = catalog.State(state), [2]uint64{uint64(low), uint64(high)}
		each(&u)
		return err
	})
	return tx.fail(ctx, fmt.Sprintf("read units of translation %d", translation), err)
}

// VerdictUnits calls each for live units, in no order, with what a verdict about
// them is stored with: no texts.
func (tx *StepTx) VerdictUnits(ctx context.Context, ids []int64, each func(*CheckUnit)) error {
	err := tx.newFailing.Flush(ctx, tx.s)
	if err != nil {
		return tx.fail(ctx, "read units", err)
	}
	var state, words, chars, low, high int64
	var u CheckUnit
	dest := []any{&u.ID, &u.TranslationID, &u.SourceID, &u.Flags, &state, &words, &chars, &low, &high}
	return tx.fail(ctx, "read units", sqldb.Chunks(ids, func(chunk []any) error {
		return tx.s.Query(ctx, `SELECT u.id, u.translation_id, u.source_id, u.flags, u.state, s.words, s.chars, COALESCE(f.low, 0), COALESCE(f.high, 0)
			FROM units u JOIN units s ON s.id = u.source_id LEFT JOIN failing f ON f.unit_id = u.id WHERE u.removed = 0 AND u.id IN `+sqldb.List(1, len(chunk)), chunk, func(scan sqldb.Scan) error {
			err := scan(dest...)
			one := u
			one.State, one.Words, one.Chars, one.Failing = catalog.State(state), int(words), int(chars), [2]uint64{uint64(low), uint64(high)}
			each(&one)
			return err
		})
	}))
}

// UnitsByID calls each for units, including removed ones. Unknown ids are left
// out.
func (tx *StepTx) UnitsByID(ctx context.Context, ids []int64, each func(*CheckUnit) error) error {
	return tx.fail(ctx, "read units", sqldb.Chunks(ids, func(chunk []any) error {
		return tx.checkUnits(ctx, ` WHERE u.id IN `+sqldb.List(1, len(chunk))+` ORDER BY u.id`, chunk, each)
	}))
}
