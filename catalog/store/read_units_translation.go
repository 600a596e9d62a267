package store

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

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
	var out []StoredUnit
	var u StoredUnit
	dest := []any{&u.ID, &u.Removed, &u.Identity.Hash, &u.Identity.Key, &u.Text, &u.Meta, &u.Target, &u.State}
	err := s.s.Query(ctx, `SELECT id, removed, id_hash, id_key, text_print, meta_print, target, state FROM units WHERE translation_id = $1`,
		[]any{translationID}, func(scan sqldb.Scan) error {
			err := scan(dest...)
			out = append(out, u)
			return err
		})
	slices.SortFunc(out, func(a, b StoredUnit) int { return int(a.ID - b.ID) })
	return out, s.s.Fail(ctx, fmt.Sprintf("read units of translation %d", translationID), err)
}

// AllTranslations returns the translations of a component by id, including removed
// ones.
func (s *Snapshot) AllTranslations(ctx context.Context, componentID int64) ([]catalog.Translation, error) {
	ts, err := translationsOf(ctx, s.s, componentID, true)
	return ts, s.s.Fail(ctx, fmt.Sprintf("read all translations of component %d", componentID), err)
}

// FailingUnits returns up to limit units of a translation that fail a check, by
// id, starting at offset. Position and Location are not set.
func (s *Snapshot) FailingUnits(ctx context.Context, translationID int64, offset, limit int) ([]catalog.Unit, error) {
	defer s.s.AboutTranslation(ctx, translationID).End()
	var units []catalog.Unit
	var r unitScan
	dest := r.dest()
	err := s.s.Query(ctx, `SELECT `+unitColumns+unitFrom+` WHERE u.id IN (
		SELECT unit_id FROM failing WHERE translation_id = $1 ORDER BY unit_id LIMIT $2 OFFSET $3) ORDER BY u.id`,
		[]any{translationID, max(limit, 0), max(offset, 0)}, func(scan sqldb.Scan) error {
			err := scan(dest...)
			units = append(units, r.unit())
			return err
		})
	return units, s.s.Fail(ctx, fmt.Sprintf("read failing units of translation %d", translationID), err)
}

// UnitByHash returns the id of the unit of a translation with an id_hash. The hash
// is not unique: of several units a live one comes first, then the lowest id.
func (s *Snapshot) UnitByHash(ctx context.Context, translationID, hash int64) (id int64, found bool, err error) {
	defer s.s.AboutTranslation(ctx, translationID).End()
	const query = `SELECT u.id` + fromStrings + ` AND s.id_hash = $2 ORDER BY u.removed, u.id LIMIT 1`
	err = s.s.Query(ctx, query, []any{translationID, hash}, func(scan sqldb.Scan) error {
		found = true
		return scan(&id)
	})
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
			if err != nil {
				break
			}
			var units []catalog.Unit
			section = s.s.About()
			units, err = s.unitsOf(ctx, piece)
			section.End()
			if err != nil {
				break
			}
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

// unitsOf reads the units of a piece of a file, in its order.
func (s *Snapshot) unitsOf(ctx context.Context, placed []catalog.UnitPosition) ([]catalog.Unit, error) {
	slices.SortFunc(placed, func(a, b catalog.UnitPosition) int { return cmp.Compare(a.ID, b.ID) })
	units, err := s.unitsAt(ctx, placed)
	slices.SortFunc(units, func(a, b catalog.Unit) int { return cmp.Compare(a.Position, b.Position) })
	return units, err
}
