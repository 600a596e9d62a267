package store

import (
	"cmp"
	"context"
	"slices"
)

// targetHashRow is a row of the table echoes, which finds units by
// FingerprintedUnit.TargetHash.
type targetHashRow struct{ hash, unit int64 }

// dropTargetHashes removes the rows of units that are about to be written, and
// records their hashes for Written.
func (tx *StepTx) dropTargetHashes(ctx context.Context, ids []int64) error {
	if tx.info.Partial {
		return nil // nothing was checked yet
	}
	var old []targetHashRow
	if err := chunks(ids, func(chunk []any) error {
		return tx.s.query(ctx, `SELECT echo, id FROM units WHERE echo IS NOT NULL AND id IN `+list(1, len(chunk)), chunk, func(scan scan) error {
			var e targetHashRow
			err := scan(&e.hash, &e.unit)
			old = append(old, e)
			return err
		})
	}); err != nil {
		return err
	}
	if tx.oldTargetHashes == nil {
		tx.oldTargetHashes = map[int64]struct{}{}
	}
	for _, e := range old {
		tx.oldTargetHashes[e.hash] = struct{}{}
		if err := tx.dropTargetHash(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (tx *StepTx) dropTargetHash(ctx context.Context, e targetHashRow) error {
	_, err := tx.s.exec(ctx, `DELETE FROM echoes WHERE echo = $1 AND unit_id = $2`, e.hash, e.unit)
	return err
}

// AddTargetHashes adds the rows of live units: of units that the step has written,
// and of a translation that is checked for the first time. Existing rows stay.
func (tx *StepTx) AddTargetHashes(ctx context.Context, units []*CheckUnit) error {
	rows := make([]targetHashRow, 0, len(units))
	for _, u := range units {
		if u.TargetHash != 0 {
			rows = append(rows, targetHashRow{u.TargetHash, u.ID})
		}
	}
	slices.SortFunc(rows, func(a, b targetHashRow) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.unit, b.unit)) })
	in := newInserter("echoes", "echo", "unit_id")
	in.onConflict(" ON CONFLICT (echo, unit_id) DO NOTHING")
	for _, e := range rows {
		if err := in.add(ctx, tx.s, e.hash, e.unit); err != nil {
			return tx.fail(ctx, "store what strings are found by", err)
		}
	}
	return tx.fail(ctx, "store what strings are found by", in.flush(ctx, tx.s))
}

// SetTargetHash stores another TargetHash of a unit; 0 deletes it.
func (tx *StepTx) SetTargetHash(ctx context.Context, u *CheckUnit, hash int64) error {
	err := tx.dropTargetHash(ctx, targetHashRow{u.TargetHash, u.ID})
	if err == nil {
		_, err = tx.s.exec(ctx, `UPDATE units SET echo = $1 WHERE id = $2`, orNull(hash), u.ID)
	}
	u.TargetHash = hash
	return tx.fail(ctx, "store what a string is found by", err)
}

// SharedTargetHashes returns those of the hashes that more than one unit has.
func (tx *StepTx) SharedTargetHashes(ctx context.Context, hashes []int64) ([]int64, error) {
	var out []int64
	err := chunks(hashes, func(chunk []any) error {
		return tx.s.ids(ctx, `SELECT echo FROM echoes WHERE echo IN `+list(1, len(chunk))+` GROUP BY echo HAVING COUNT(*) > 1`, chunk, &out)
	})
	return out, tx.fail(ctx, "read strings with one translation", err)
}

// UnitsByTargetHash calls each for the live units with one of the hashes.
func (tx *StepTx) UnitsByTargetHash(ctx context.Context, hashes []int64, each func(*CheckUnit) error) error {
	return tx.fail(ctx, "read strings with one translation", chunks(hashes, func(chunk []any) error {
		return tx.checkUnits(ctx, ` JOIN echoes e ON e.unit_id = u.id AND e.echo = u.echo WHERE e.echo IN `+list(1, len(chunk))+` AND u.removed = 0`, chunk, each)
	}))
}
