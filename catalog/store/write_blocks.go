package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/blocks"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

const (
	// maxRewritten is the number of blocks up to which a step makes those anew that it changes,
	// which takes 1 to 2 ms each. It deletes more of them, for FillSearch.
	maxRewritten = 8
	// maxFilled is the number of blocks that FillSearch writes in one transaction.
	maxFilled = 64
)

// buildBlock adds a new unit to the block that is built from new units: to read the rows of an
// import again took a tenth of its time. A block of other units, too, is one that was changed.
func (tx *StepTx) buildBlock(ctx context.Context, u *catalog.Unit) error {
	block, b := blocks.Number(u.ID), tx.building
	if b == nil || b.Block != block {
		tx.leaveBlock()
		if tx.info.Partial || u.ID%idset.BlockUnits != 0 && u.ID%catalog.UnitsPerComponent != 1 {
			tx.touched[block] = struct{}{}
			return nil
		}
		b = blocks.NewBuilder(&tx.db.searches.folder, block)
		tx.building = b
		tx.unfilled[u.ID/catalog.UnitsPerComponent] = struct{}{} // which fail checks is not stored
	}
	of := blocks.Unit{
		ID: u.ID, Translation: u.TranslationID, Source: u.SourceID, State: int64(u.State), Priority: int64(u.Priority), Created: terms.MinTime, Removed: u.Removed,
		Texts: [blocks.Kinds]string{blocks.Target: u.Target, blocks.Note: u.Note, blocks.Flags: u.Flags},
	}
	if at, ok := sqldb.Micros(u.Created).(int64); ok {
		of.Created = at
	}
	if u.SourceID == u.ID {
		of.Texts[blocks.Source], of.Texts[blocks.Context] = u.Source, u.Context
	}
	if b.Add(&of); !b.Full() {
		return nil
	}
	tx.building = nil
	return putColumns(ctx, tx.s, block, b.Columns())
}

// leaveBlock leaves a block that is not full to storeBlocks.
func (tx *StepTx) leaveBlock() {
	if tx.building != nil {
		tx.touched[tx.building.Block] = struct{}{}
		tx.building = nil
	}
}

// storeBlocks replaces the blocks of the units that the step has written, or that fail other
// checks.
func (tx *StepTx) storeBlocks(ctx context.Context) error {
	tx.leaveBlock()
	for of, changed := range map[blocks.Kind]map[int64]struct{}{blocks.Place: tx.touched, blocks.Checks: tx.rechecked} {
		list := sqldb.SortedKeys(changed)
		err := tx.s.DoIn(ctx, `DELETE FROM search_blocks WHERE id IN $ids`, nil, blocks.Keys(of, list...))
		if err == nil && !tx.info.Partial && len(list) <= maxRewritten {
			err, list = putBlocks(ctx, tx.s, &tx.db.searches.folder, of, list), nil
		}
		if err != nil {
			return err
		}
		for _, block := range list {
			tx.unfilled[block*idset.BlockUnits/catalog.UnitsPerComponent] = struct{}{}
		}
	}
	return nil
}

func putBlocks(ctx context.Context, s *sqldb.Session, fold *query.Folder, of blocks.Kind, list []int64) error {
	for _, block := range list {
		columns, err := blocks.Read(ctx, s, fold, of, block)
		if err == nil {
			err = putColumns(ctx, s, block, columns)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// putColumns stores columns of a block. They are not counted among what a step writes.
func putColumns(ctx context.Context, s *sqldb.Session, block int64, columns blocks.Columns) error {
	defer func(budget *sqldb.Budget) { s.Budget = budget }(s.Budget)
	s.Budget = nil
	in := sqldb.NewInserter("search_blocks", "id", "data")
	for kind, data := range columns {
		if data != nil {
			_ = in.Add(ctx, s, blocks.Key(blocks.Kind(kind), block), data)
		}
	}
	return in.Flush(ctx, s)
}

// FillSearch makes the blocks that components lack, a few in each transaction: after an
// import, after steps that changed many of them, or if an older version or an export filled
// the database. Without them searches find the same, but take longer. It looks again only
// for what a step of this process has left.
func (db *DB) FillSearch(ctx context.Context, components ...int64) error {
	for _, id := range components {
		if _, filled := db.searches.filled.LoadOrStore(id, nil); filled {
			continue
		}
		for _, of := range []blocks.Kind{blocks.Place, blocks.Checks} {
			for more := true; more; {
				absent, err := db.fillSearch(ctx, id, of)
				if err != nil {
					db.searches.filled.Delete(id)
					return db.fail(ctx, fmt.Sprintf("store what searches read of component %d", id), err)
				}
				more = absent > maxFilled
			}
		}
	}
	return nil
}

// fillSearch makes some of the blocks that a component lacks, and returns how many these were.
func (db *DB) fillSearch(ctx context.Context, component int64, of blocks.Kind) (absent int, err error) {
	find := func(ctx context.Context, s *sqldb.Session) (list []int64, err error) {
		list, err = absentBlocks(ctx, s, component, of)
		absent = len(list)
		return list[:min(absent, maxFilled)], err
	}
	err = db.Read(ctx, func(ctx context.Context, s *Snapshot) error {
		_, err := find(ctx, s.s)
		return err
	})
	if err != nil || absent == 0 {
		return 0, err
	}
	info := StepInfo{Components: []int64{component}}
	return absent, db.writeLocked(ctx, info.lock, func(s *sqldb.Session) error {
		list, err := find(ctx, s)
		if err == nil {
			err = putBlocks(ctx, s, &db.searches.folder, of, list)
		}
		return err
	})
}

// absentBlocks lists the blocks that a component lacks.
func absentBlocks(ctx context.Context, s *sqldb.Session, component int64, of blocks.Kind) (absent []int64, err error) {
	var units int64
	if _, err := s.First(ctx, `SELECT last_unit FROM components WHERE id = $1`, []any{component}, &units); err != nil || units == 0 {
		return nil, err
	}
	next, end := blocks.Number(component*catalog.UnitsPerComponent), blocks.Number(component*catalog.UnitsPerComponent+units)+1
	upTo := func(block int64) {
		for ; next < block; next++ {
			absent = append(absent, next)
		}
	}
	err = s.Query(ctx, `SELECT id FROM search_blocks WHERE id >= $1 AND id < $2 ORDER BY id`, []any{blocks.Key(of, next), blocks.Key(of, end)}, sqldb.Cols1(func(key int64) {
		upTo(key - blocks.Key(of, 0))
		next++
	}))
	upTo(end)
	return absent, err
}
