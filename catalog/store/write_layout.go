package store

import (
	"bytes"
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

// PutLayout stores the positions and locations of all live units of a translation,
// ascending by ID. It writes only blocks whose bytes differ.
func (tx *StepTx) PutLayout(ctx context.Context, translationID int64, placed []catalog.UnitPosition) error {
	return tx.fail(ctx, fmt.Sprintf("store layout of translation %d", translationID), tx.putLayout(ctx, translationID, placed))
}

func (tx *StepTx) putLayout(ctx context.Context, translation int64, placed []catalog.UnitPosition) error {
	for i := 1; i < len(placed); i++ {
		if placed[i].ID <= placed[i-1].ID {
			return sqldb.Invalid("unit %d after unit %d: not ascending", placed[i].ID, placed[i-1].ID)
		}
	}
	if _, err := tx.componentOf(ctx, translation); err != nil {
		return err
	}
	old, err := tx.blocks(ctx, translation)
	if err != nil {
		return err
	}
	changed := false
	n := 0
	for ; len(placed) > 0; n++ {
		block := placed[:min(len(placed), stored.BlockUnits)]
		placed = placed[len(block):]
		data := tx.db.codec.DeflateBlock(stored.EncodeBlock(block))
		if n < len(old) && bytes.Equal(old[n], data) {
			continue
		}
		changed = true
		if err := tx.s.Do(ctx, `INSERT INTO layouts (translation_id, block, first_unit, data) VALUES ($1, $2, $3, $4)
			ON CONFLICT (translation_id, block) DO UPDATE SET first_unit = excluded.first_unit, data = excluded.data`,
			translation, n, block[0].ID, data); err != nil {
			return err
		}
	}
	if n < len(old) {
		changed = true
		if err := tx.s.Do(ctx, `DELETE FROM layouts WHERE translation_id = $1 AND block >= $2`, translation, n); err != nil {
			return err
		}
	}
	if changed {
		return tx.markChanged(ctx, translation)
	}
	return nil
}

func (tx *StepTx) blocks(ctx context.Context, translation int64) ([][]byte, error) {
	var out [][]byte
	err := tx.s.Query(ctx, `SELECT data FROM layouts WHERE translation_id = $1 ORDER BY block`, []any{translation}, func(scan sqldb.Scan) error {
		var data []byte
		err := scan(&data)
		out = append(out, data)
		return err
	})
	return out, err
}

// Layout returns the layout stored by PutLayout, if any.
func (tx *StepTx) Layout(ctx context.Context, translationID int64) ([]catalog.UnitPosition, error) {
	op := fmt.Sprintf("read layout of translation %d", translationID)
	blocks, err := tx.blocks(ctx, translationID)
	if err != nil {
		return nil, tx.fail(ctx, op, err)
	}
	placed := make([]catalog.UnitPosition, 0, len(blocks)*stored.BlockUnits)
	for _, data := range blocks {
		block, err := tx.db.codec.Block(data)
		if err != nil {
			return nil, tx.fail(ctx, op, err)
		}
		placed = append(placed, block...)
	}
	return placed, nil
}
