package store

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Occurrences returns the source units of one string, the same source and context, in
// components, by id: up to limit of them. An index has those of all components.
func (s *Snapshot) Occurrences(ctx context.Context, identity catalog.Identity, components map[int64]*ComponentRow, limit int) (ids []int64, err error) {
	defer s.s.About(sqldb.SortedKeys(components)...).End()
	err = s.s.Query(ctx, `SELECT u.source_id FROM units u JOIN translations t ON t.id = u.translation_id
		WHERE u.id_hash = $1 AND u.id_key = $2 AND u.source_id = u.id AND u.removed = 0 AND t.removed = 0 ORDER BY u.source_id`,
		[]any{identity.Hash, identity.Key}, func(scan sqldb.Scan) error {
			var id int64
			err := scan(&id)
			if components[id/catalog.UnitsPerComponent] != nil && len(ids) < limit {
				ids = append(ids, id)
			}
			return err
		})
	return ids, s.s.Fail(ctx, "look up a string in all components", err)
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
func (s *Snapshot) SaidIn(ctx context.Context, sources []catalog.Unit, components []int64, languages []string) ([]Said, error) {
	defer s.s.About(components...).End()
	var out []Said
	var r unitScan
	for i := range sources {
		u := &sources[i]
		args := []any{u.ID / catalog.UnitsPerComponent, u.ID}
		query := `SELECT ` + unitColumns + `, t.language, t.is_source FROM translations t JOIN units u ON u.translation_id = t.id AND u.source_id = $2
			LEFT JOIN units s ON s.id = u.source_id LEFT JOIN failing f ON f.unit_id = u.id
			WHERE t.component_id = $1 AND t.removed = 0 AND u.removed = 0`
		if len(languages) > 0 {
			query += ` AND t.language IN ` + sqldb.List(3, len(languages))
			for _, code := range languages {
				args = append(args, code)
			}
		}
		err := s.s.Query(ctx, query+` ORDER BY t.language`, args, func(scan sqldb.Scan) error {
			var x Said
			err := scan(append(r.dest(), &x.Language, &x.Source)...)
			x.Unit = r.unit()
			out = append(out, x)
			return err
		})
		if err != nil {
			return nil, s.s.Fail(ctx, "read a string in several languages", err)
		}
	}
	return out, nil
}

// UnitsByID returns live units of components by id. Unknown and removed ones are left
// out.
func (s *Snapshot) UnitsByID(ctx context.Context, components, ids []int64) (out []catalog.Unit, err error) {
	defer s.s.About(components...).End()
	var r unitScan
	err = sqldb.Chunks(ids, func(chunk []any) error {
		return s.s.Query(ctx, `SELECT `+unitColumns+unitFrom+` WHERE u.id IN `+sqldb.List(1, len(chunk))+` AND u.removed = 0 ORDER BY u.id`, chunk, func(scan sqldb.Scan) error {
			err := scan(r.dest()...)
			out = append(out, r.unit())
			return err
		})
	})
	return out, s.s.Fail(ctx, "read units by id", err)
}
