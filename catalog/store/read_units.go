package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
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
func (s *Snapshot) Units(ctx context.Context, translationID int64, offset, limit int) ([]catalog.Unit, error) {
	defer s.s.AboutTranslation(ctx, translationID).End()
	units, err := s.units(ctx, translationID, offset, limit)
	if err == nil {
		return units, nil
	}
	return units, s.s.Fail(ctx, fmt.Sprintf("read units of translation %d", translationID), err)
}

func (s *Snapshot) units(ctx context.Context, translation int64, offset, limit int) ([]catalog.Unit, error) {
	if offset < 0 || limit <= 0 {
		return nil, nil
	}
	placed, err := s.layoutPage(ctx, translation, offset, limit)
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
	var r unitScan
	dest := r.dest()
	lo, hi := placed[0].ID, placed[len(placed)-1].ID
	var err error
	if hi-lo < gaps*int64(len(placed)) {
		err = s.s.QueryFew(ctx, `SELECT `+unitColumns+unitFrom+` WHERE u.id >= $1 AND u.id <= $2 ORDER BY u.id`, []any{lo, hi}, func(scan sqldb.Scan) error {
			err := scan(dest...)
			if len(units) < len(placed) && r.u.ID == placed[len(units)].ID {
				units = append(units, r.unit())
			}
			return err
		})
	} else {
		ids := make([]int64, len(placed))
		for i, p := range placed {
			ids[i] = p.ID
		}
		err = sqldb.Chunks(ids, func(chunk []any) error {
			return s.s.QueryFew(ctx, `SELECT `+unitColumns+unitFrom+` WHERE u.id IN `+sqldb.List(1, len(chunk))+` ORDER BY u.id`, chunk, func(scan sqldb.Scan) error {
				err := scan(dest...)
				units = append(units, r.unit())
				return err
			})
		})
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
	err := s.s.QueryFew(ctx, `SELECT data FROM layouts WHERE translation_id = $1 AND block >= $2 AND block <= $3 ORDER BY block`,
		[]any{translation, first, last}, func(scan sqldb.Scan) error {
			var data []byte
			if err := scan(&data); err != nil {
				return err
			}
			block, err := s.db.codec.BlockRange(data, from, to)
			placed = append(placed, block...)
			from, to = max(0, from-stored.BlockUnits), to-stored.BlockUnits
			return err
		})
	return placed, err
}

// Unit returns a unit of an active component by id, or ErrNotFound. It also finds
// removed units and units of removed translations (docs/compatibility.md#ids).
func (s *Snapshot) Unit(ctx context.Context, id int64) (UnitRow, error) {
	defer s.s.About(id / catalog.UnitsPerComponent).End()
	row, err := s.unit(ctx, id)
	s.s.Reading.Found(row.TranslationID, id/catalog.UnitsPerComponent)
	return row, s.s.Fail(ctx, fmt.Sprintf("read unit %d", id), err)
}

func (s *Snapshot) unit(ctx context.Context, id int64) (UnitRow, error) {
	var row UnitRow
	var r unitScan
	found, err := s.s.First(ctx, `SELECT `+unitColumns+unitFrom+` WHERE u.id = $1`, []any{id}, r.dest()...)
	if err == nil && !found {
		err = sqldb.NotFound("no such unit")
	}
	if err != nil {
		return UnitRow{}, err
	}
	row.Unit = r.unit()
	c, err := oneComponent(ctx, s.s, ` WHERE c.id = $1 AND c.active = 1 AND p.active = 1`, id/catalog.UnitsPerComponent)
	if err != nil {
		return UnitRow{}, err
	}
	if row.Translation, _, err = s.translationWhere(ctx, &c, ` WHERE t.id = $1`, row.TranslationID); err != nil {
		return UnitRow{}, err
	}
	if row.Removed {
		return row, nil
	}
	one := []catalog.Unit{row.Unit}
	if err := s.fillNotes(ctx, one); err != nil {
		return UnitRow{}, err
	}
	row.Unit = one[0]
	return row, s.setPosition(ctx, &row.Unit)
}

// setPosition sets Position and Location from the layout block with the unit.
func (s *Snapshot) setPosition(ctx context.Context, u *catalog.Unit) error {
	var data []byte
	found, err := s.s.First(ctx, `SELECT data FROM layouts WHERE translation_id = $1 AND first_unit <= $2 ORDER BY first_unit DESC LIMIT 1`,
		[]any{u.TranslationID, u.ID}, &data)
	if err != nil || !found {
		return err
	}
	block, err := s.db.codec.Block(data)
	for _, p := range block {
		if p.ID == u.ID {
			u.Position, u.Location = p.Position, p.Location
		}
	}
	return err
}

const (
	unitColumns = `u.id, u.translation_id, u.source_id, u.id_hash, u.id_key, COALESCE(s.source, ''), COALESCE(s.context, ''),
		u.target, u.previous_source, u.note, u.flags, u.priority, u.state, COALESCE(s.words, 0), COALESCE(s.chars, 0), u.removed, u.created, u.remark,
		COALESCE(f.low, 0), COALESCE(f.high, 0)`
	unitFrom = ` FROM units u LEFT JOIN units s ON s.id = u.source_id LEFT JOIN failing f ON f.unit_id = u.id`
)

// unitScan is a row of unitColumns; one serves many rows. Small numbers are
// scanned into int64: for any other integer type database/sql prints the value and
// parses it again.
type unitScan struct {
	u                                      catalog.Unit
	priority, state, words, chars, removed int64
	translatorBytes                        int64
	created                                sql.NullInt64
	low, high                              int64
}

func (r *unitScan) dest() []any {
	u := &r.u
	return []any{
		&u.ID, &u.TranslationID, &u.SourceID, &u.Identity.Hash, &u.Identity.Key, &u.Source, &u.Context,
		&u.Target, &u.PreviousSource, &u.Note, &u.Flags, &r.priority, &r.state, &r.words, &r.chars, &r.removed, &r.created, &r.translatorBytes,
		&r.low, &r.high,
	}
}

func (r *unitScan) unit() catalog.Unit {
	r.u.Priority, r.u.State, r.u.Removed = int(r.priority), catalog.State(r.state), r.removed != 0
	r.u.Words, r.u.Chars = int(r.words), int(r.chars)
	r.u.Created, r.u.TranslatorBytes = sqldb.FromMicros(r.created), int(r.translatorBytes)
	r.u.Failing = [2]uint64{uint64(r.low), uint64(r.high)}
	return r.u
}

// UnitsByIdentity returns the live units of one string of a component in all of
// its live translations, including the source language's, by id, and their
// translations. It reads one index entry and one block per translation.
func (s *Snapshot) UnitsByIdentity(ctx context.Context, componentID int64, identity catalog.Identity) ([]catalog.Unit, map[int64]catalog.Translation, error) {
	defer s.s.About(componentID).End()
	units, owners, err := s.translated(ctx, componentID, identity)
	return units, owners, s.s.Fail(ctx, fmt.Sprintf("read the translations of a string of component %d", componentID), err)
}

func (s *Snapshot) translated(ctx context.Context, component int64, identity catalog.Identity) ([]catalog.Unit, map[int64]catalog.Translation, error) {
	translations, err := translationsOf(ctx, s.s, component, false)
	if err != nil {
		return nil, nil, err
	}
	owners := make(map[int64]catalog.Translation, len(translations))
	for i := range translations {
		owners[translations[i].ID] = translations[i]
	}
	var source int64
	const bySource = `SELECT s.source_id FROM translations t CROSS JOIN units s WHERE t.component_id = $1 AND t.is_source = 1
		AND s.translation_id = t.id AND s.source_id = s.id AND s.id_hash = $2 AND s.id_key = $3`
	if found, err := s.s.First(ctx, bySource, []any{component, identity.Hash, identity.Key}, &source); err != nil || !found {
		return nil, owners, err
	}
	var units []catalog.Unit
	var r unitScan
	dest := r.dest()
	err = sqldb.Chunks(sqldb.SortedKeys(owners), func(chunk []any) error {
		n := len(chunk)
		query := `SELECT ` + unitColumns + unitFrom + ` WHERE u.translation_id IN ` + sqldb.List(1, n) + fmt.Sprintf(` AND u.source_id = $%d AND u.removed = 0`, n+1)
		return s.s.Query(ctx, query, append(chunk, source), func(scan sqldb.Scan) error {
			err := scan(dest...)
			units = append(units, r.unit())
			return err
		})
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range units {
		if err := s.setPosition(ctx, &units[i]); err != nil {
			return nil, nil, err
		}
	}
	slices.SortFunc(units, func(a, b catalog.Unit) int { return cmp.Compare(a.ID, b.ID) })
	return units, owners, s.fillNotes(ctx, units)
}
