package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
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

// StoredUnit is a stored unit as needed to compare many versions in memory.
type StoredUnit struct {
	catalog.Known
	// Target is the stored translation, forms joined.
	Target string
	// State is the stored state.
	State catalog.State
}

// StoredUnits returns all units of a translation by id, including removed ones.
func (s *Snapshot) StoredUnits(ctx context.Context, translationID int64) ([]StoredUnit, error) {
	out, err := sqldb.Rows(ctx, s.s, `SELECT id, removed, id_hash, id_key, text_print, meta_print, target, state FROM units WHERE translation_id = $1`,
		[]any{translationID}, func(u *StoredUnit) []any {
			return []any{&u.ID, &u.Removed, &u.Identity.Hash, &u.Identity.Key, &u.Text, &u.Meta, &u.Target, &u.State}
		})
	slices.SortFunc(out, func(a, b StoredUnit) int { return cmp.Compare(a.ID, b.ID) })
	return out, s.s.Fail(ctx, fmt.Sprintf("read units of translation %d", translationID), err)
}

// FailingUnits returns up to limit units of a translation that fail a check, by
// id, starting at offset. Position and Location are not set.
func (s *Snapshot) FailingUnits(ctx context.Context, translationID int64, offset, limit int) ([]catalog.Unit, error) {
	defer s.s.AboutTranslation(ctx, translationID).End()
	units, err := rows.Units(ctx, s.s, ` WHERE u.id IN (SELECT unit_id FROM failing WHERE translation_id = $1 ORDER BY unit_id LIMIT $2 OFFSET $3) ORDER BY u.id`,
		translationID, max(limit, 0), max(offset, 0))
	return units, s.s.Fail(ctx, fmt.Sprintf("read failing units of translation %d", translationID), err)
}

// UnitByHash returns the id of the unit of a translation with an id_hash. The hash
// is not unique: of several units a live one comes first, then the lowest id.
func (s *Snapshot) UnitByHash(ctx context.Context, translationID, hash int64) (id int64, found bool, err error) {
	defer s.s.AboutTranslation(ctx, translationID).End()
	const query = `SELECT u.id` + fromStrings + ` AND s.id_hash = $2 ORDER BY u.removed, u.id LIMIT 1`
	found, err = s.s.First(ctx, query, []any{translationID, hash}, &id)
	return id, found, s.s.Fail(ctx, fmt.Sprintf("find a string of translation %d by its hash", translationID), err)
}

// UnitOfSource returns the live unit of a translation with a source and a context, nil
// without one.
func (s *Snapshot) UnitOfSource(ctx context.Context, translationID int64, source, context string) (*catalog.Unit, error) {
	var h catalog.Hasher
	id, found, err := s.UnitByHash(ctx, translationID, h.Identity(source, context).Hash)
	if err != nil || !found {
		return nil, err
	}
	u, err := s.Unit(ctx, id)
	if err != nil || u.Removed || u.Source != source || u.Context != context {
		return nil, err
	}
	return &u.Unit, nil
}

// fileChunk is the number of units that UnitsInFile holds at once.
const fileChunk = 1000

// UnitsInFile yields the live units of a translation in the order of its file; if
// only is not nil, only units in that set. It holds the whole layout in memory,
// and up to fileChunk units. It ends after an error.
func (s *Snapshot) UnitsInFile(ctx context.Context, translationID int64, only map[int64]struct{}) iter.Seq2[*catalog.Unit, error] {
	return func(yield func(*catalog.Unit, error) bool) {
		var placed []catalog.UnitPosition
		section := s.s.AboutTranslation(ctx, translationID)
		err := s.eachInLayout(ctx, []searchTranslation{{id: translationID}}, func(p catalog.UnitPosition) {
			if _, in := only[p.ID]; in || only == nil {
				placed = append(placed, p)
			}
		})
		section.End()
		slices.SortFunc(placed, func(a, b catalog.UnitPosition) int { return cmp.Compare(a.Position, b.Position) })
		for piece := range slices.Chunk(placed, fileChunk) {
			var units []catalog.Unit
			if err == nil {
				slices.SortFunc(piece, func(a, b catalog.UnitPosition) int { return cmp.Compare(a.ID, b.ID) })
				section = s.s.About()
				units, err = s.unitsAt(ctx, piece)
				section.End()
			}
			slices.SortFunc(units, func(a, b catalog.Unit) int { return cmp.Compare(a.Position, b.Position) })
			for i := range units {
				if !yield(&units[i], nil) {
					return
				}
			}
		}
		if err != nil {
			yield(nil, s.s.Fail(ctx, fmt.Sprintf("read units of translation %d", translationID), err))
		}
	}
}

// Changed returns up to limit units of a translation whose string the template has with
// another msgid_plural or without one, by id, starting at offset.
func (s *Snapshot) Changed(ctx context.Context, component, translation int64, offset, limit int) ([]catalog.Unit, error) {
	return s.notInTemplate(ctx, component, translation, ` AND x.changed_to > 0`, offset, limit)
}

// Extra returns up to limit units of a translation with a text whose string the template
// does not have in any form, by id.
func (s *Snapshot) Extra(ctx context.Context, component, translation int64, limit int) ([]catalog.Unit, error) {
	return s.notInTemplate(ctx, component, translation, ` AND x.changed_to = 0 AND o.target <> ''`, 0, limit)
}

func (s *Snapshot) notInTemplate(ctx context.Context, component, translation int64, which string, offset, limit int) ([]catalog.Unit, error) {
	defer s.s.About(component).End()
	var ids []int64
	err := s.s.IDs(ctx, `SELECT o.id FROM extra_strings x JOIN units o ON o.translation_id = $3 AND o.source_id = x.source_id AND o.removed = 0
		WHERE x.source_id >= $1 AND x.source_id < $2`+which+` ORDER BY o.id LIMIT $4 OFFSET $5`,
		[]any{component * catalog.UnitsPerComponent, (component + 1) * catalog.UnitsPerComponent, translation, limit, offset}, &ids)
	if err != nil {
		return nil, s.s.Fail(ctx, fmt.Sprintf("compare with the template of component %d", component), err)
	}
	return s.UnitsByID(ctx, []int64{component}, ids)
}

// Occurrences returns the source units of one string, the same source and context, in
// components, by id: up to limit of them. An index has those of all components.
func (s *Snapshot) Occurrences(ctx context.Context, identity catalog.Identity, components map[int64]*ComponentRow, limit int) (ids []int64, err error) {
	defer s.s.About(sqldb.SortedKeys(components)...).End()
	err = s.s.IDs(ctx, `SELECT u.source_id FROM units u JOIN translations t ON t.id = u.translation_id
		WHERE u.id_hash = $1 AND u.id_key = $2 AND u.source_id = u.id AND u.removed = 0 AND t.removed = 0 ORDER BY u.source_id`,
		[]any{identity.Hash, identity.Key}, &ids)
	ids = slices.DeleteFunc(ids, func(id int64) bool { return components[id/catalog.UnitsPerComponent] == nil })
	return ids[:min(len(ids), limit)], s.s.Fail(ctx, "look up a string in all components", err)
}

// Said is a string in one language.
type Said struct {
	// Unit is the unit; its Position and Location are not set.
	Unit catalog.Unit
	// Language is the code in URLs; Source says that it is the source language.
	Language string
	Source   bool
}

// SaidIn returns the live units of source units of components in languages, by
// source unit and language; no languages are all. It reads one index entry and one
// row for each.
func (s *Snapshot) SaidIn(ctx context.Context, sources []catalog.Unit, components []int64, languages []string) (out []Said, err error) {
	defer s.s.About(components...).End()
	query := `SELECT ` + rows.UnitColumns + `, t.language, t.is_source FROM translations t JOIN units u ON u.translation_id = t.id AND u.source_id = $2
		LEFT JOIN units s ON s.id = u.source_id LEFT JOIN failing f ON f.unit_id = u.id
		WHERE t.component_id = $1 AND t.removed = 0 AND u.removed = 0`
	args := sqldb.Append(make([]any, 2), languages)
	if len(languages) > 0 {
		query += ` AND t.language IN ` + sqldb.List(3, len(languages))
	}
	for i := range sources {
		args[0], args[1] = sources[i].ID/catalog.UnitsPerComponent, sources[i].ID
		said, err := sqldb.Rows(ctx, s.s, query+` ORDER BY t.language`, args, func(x *Said) []any { return append(rows.UnitFields(&x.Unit), &x.Language, &x.Source) })
		if err != nil {
			return nil, s.s.Fail(ctx, "read a string in several languages", err)
		}
		out = append(out, said...)
	}
	return out, nil
}

// UnitsByID returns live units of components by id. Unknown and removed ones are left
// out.
func (s *Snapshot) UnitsByID(ctx context.Context, components, ids []int64) ([]catalog.Unit, error) {
	defer s.s.About(components...).End()
	out, err := rows.UnitsIn(ctx, s.s, ids, ` WHERE u.id IN $ids AND u.removed = 0 ORDER BY u.id`)
	return out, s.s.Fail(ctx, "read units by id", err)
}
