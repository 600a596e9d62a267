package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
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
	err := s.s.query(ctx, `SELECT id, removed, id_hash, id_key, text_print, meta_print, target, state FROM units WHERE translation_id = $1`,
		[]any{translationID}, func(scan scan) error {
			err := scan(dest...)
			out = append(out, u)
			return err
		})
	slices.SortFunc(out, func(a, b StoredUnit) int { return int(a.ID - b.ID) })
	return out, s.db.fail(ctx, fmt.Sprintf("read units of translation %d", translationID), err)
}

// AllTranslations returns the translations of a component by id, including removed
// ones.
func (s *Snapshot) AllTranslations(ctx context.Context, componentID int64) ([]catalog.Translation, error) {
	ts, err := translationsOf(ctx, s.s, componentID, true)
	return ts, s.db.fail(ctx, fmt.Sprintf("read all translations of component %d", componentID), err)
}
