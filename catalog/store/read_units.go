package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

// UnitRow is a unit with everything that its answer shows.
type UnitRow struct {
	catalog.Unit
	// Translation is the owner; it may be Removed.
	Translation TranslationRow
}

// Units returns up to limit live units of a translation by id, starting at offset.
// Its cost depends on limit only: the layout blocks contain the ids, which are
// then read by key.
func (s *Snapshot) Units(ctx context.Context, translationID int64, offset, limit int) (units []catalog.Unit, err error) {
	defer s.s.AboutTranslation(ctx, translationID).End()
	defer s.s.Failed(ctx, &err, "read units of translation %d", translationID)
	if offset < 0 || limit <= 0 {
		return nil, nil
	}
	placed, err := s.layoutPage(ctx, translationID, offset, limit)
	if err != nil || len(placed) == 0 {
		return nil, err
	}
	return s.unitsAt(ctx, placed)
}

// gaps limits the ids between the first and the last unit of a page, per unit: up
// to it, the page is read as a range. That reads some rows in vain, but a lookup
// for each unit costs more.
const gaps = 3

// unitsAt reads the units of a page of a layout, which is ascending by id.
func (s *Snapshot) unitsAt(ctx context.Context, placed []catalog.UnitPosition) ([]catalog.Unit, error) {
	units := make([]catalog.Unit, 0, len(placed))
	if len(placed) == 0 {
		return units, nil
	}
	var u catalog.Unit
	dest := rows.UnitFields(&u)
	take := func(scan sqldb.Scan) error {
		err := scan(dest...)
		if len(units) < len(placed) && u.ID == placed[len(units)].ID {
			units = append(units, u)
		}
		return err
	}
	const query = `SELECT ` + rows.UnitColumns + rows.UnitFrom + ` WHERE u.id `
	lo, hi := placed[0].ID, placed[len(placed)-1].ID
	var err error
	if hi-lo < gaps*int64(len(placed)) {
		err = s.s.Query(ctx, query+`BETWEEN $1 AND $2 ORDER BY u.id`, []any{lo, hi}, take)
	} else {
		ids := catalog.Each(placed, func(p *catalog.UnitPosition) int64 { return p.ID })
		err = s.s.QueryIn(ctx, query+`IN $ids ORDER BY u.id`, nil, ids, take)
	}
	if err != nil {
		return nil, err
	}
	if len(units) != len(placed) {
		return nil, fmt.Errorf("%d units of the layout are missing: restore a backup, or move the database away and import anew", len(placed)-len(units))
	}
	for i := range units {
		units[i].Position, units[i].Location = placed[i].Position, placed[i].Location
	}
	return units, s.fillNotes(ctx, units)
}

// layoutPage reads the blocks that cover a page. All blocks except the last are
// full.
func (s *Snapshot) layoutPage(ctx context.Context, translation int64, offset, limit int) ([]catalog.UnitPosition, error) {
	offset, limit = min(offset, 1<<29), min(limit, 1<<29) // twice the units of a component: no overflow below
	first := offset / stored.BlockUnits
	last := (offset + limit - 1) / stored.BlockUnits
	from, to := offset-first*stored.BlockUnits, offset+limit-first*stored.BlockUnits
	var placed []catalog.UnitPosition
	err := sqldb.Each(ctx, s.s, `SELECT data FROM layouts WHERE translation_id = $1 AND block >= $2 AND block <= $3 ORDER BY block`,
		[]any{translation, first, last}, func(data []byte) error {
			block, err := s.db.codec.BlockRange(data, from, to)
			placed = append(placed, block...)
			from, to = max(0, from-stored.BlockUnits), to-stored.BlockUnits
			return err
		})
	return placed, err
}

// Unit returns a unit of an active component by id, or ErrNotFound. It also finds
// removed units and units of removed translations (docs/compatibility.md#ids).
func (s *Snapshot) Unit(ctx context.Context, id int64) (row UnitRow, err error) {
	component := id / catalog.UnitsPerComponent
	defer s.s.About(component).End()
	defer s.s.Failed(ctx, &err, "read unit %d", id)
	units, err := rows.Units(ctx, s.s, ` WHERE u.id = $1`, id)
	if row.Unit, err = sqldb.Only(units, err, "no such unit"); err != nil {
		return row, err
	}
	c, err := oneComponent(ctx, s.s, ` WHERE c.id = $1 AND c.active = 1 AND p.active = 1`, component)
	if err != nil {
		return row, err
	}
	if row.Translation, _, err = s.translationWhere(ctx, &c, ` WHERE t.id = $1`, units[0].TranslationID); err != nil {
		return row, err
	}
	s.s.Reading.Found(units[0].TranslationID, component)
	if !units[0].Removed {
		err = errors.Join(s.fillNotes(ctx, units), s.setPositions(ctx, units))
	}
	row.Unit = units[0]
	return row, err
}

// setPositions sets Position and Location of units, which are ascending by id;
// every block is decoded once.
func (s *Snapshot) setPositions(ctx context.Context, units []catalog.Unit) error {
	blocks := map[int64][]catalog.UnitPosition{} // by translation, the block used last
	for i := range units {
		u := &units[i]
		block := blocks[u.TranslationID]
		if n := len(block); n == 0 || block[n-1].ID < u.ID {
			var data []byte
			found, err := s.s.First(ctx, `SELECT data FROM layouts WHERE translation_id = $1 AND first_unit <= $2 ORDER BY first_unit DESC LIMIT 1`,
				[]any{u.TranslationID, u.ID}, &data)
			if err != nil {
				return err
			}
			if !found {
				continue
			}
			if block, err = s.db.codec.Block(data); err != nil {
				return err
			}
			blocks[u.TranslationID] = block
		}
		if at, ok := slices.BinarySearchFunc(block, u.ID, func(p catalog.UnitPosition, id int64) int { return cmp.Compare(p.ID, id) }); ok {
			u.Position, u.Location = block[at].Position, block[at].Location
		}
	}
	return nil
}

// UnitsByIdentity returns the live units of one string of a component in all of
// its live translations, including the source language's, by id, and their
// translations. It reads one index entry and one block per translation.
func (s *Snapshot) UnitsByIdentity(ctx context.Context, componentID int64, identity catalog.Identity) (units []catalog.Unit, owners map[int64]catalog.Translation, err error) {
	defer s.s.About(componentID).End()
	defer s.s.Failed(ctx, &err, "read the translations of a string of component %d", componentID)
	translations, err := translationsOf(ctx, s.s, componentID, false)
	if err != nil {
		return nil, nil, err
	}
	owners = make(map[int64]catalog.Translation, len(translations))
	for i := range translations {
		owners[translations[i].ID] = translations[i]
	}
	var source int64
	const bySource = `SELECT s.source_id FROM translations t CROSS JOIN units s WHERE t.component_id = $1 AND t.is_source = 1
		AND s.translation_id = t.id AND s.source_id = s.id AND s.id_hash = $2 AND s.id_key = $3`
	if found, err := s.s.First(ctx, bySource, []any{componentID, identity.Hash, identity.Key}, &source); err != nil || !found {
		return nil, owners, err
	}
	units, err = rows.UnitsIn(ctx, s.s, sqldb.SortedKeys(owners), ` WHERE u.translation_id IN $ids AND u.source_id = $1 AND u.removed = 0`, source)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(units, func(a, b catalog.Unit) int { return cmp.Compare(a.ID, b.ID) })
	return units, owners, errors.Join(s.setPositions(ctx, units), s.fillNotes(ctx, units))
}
