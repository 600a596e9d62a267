package store

import (
	"context"
	"database/sql"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

// componentSums are the statistics of a component's live translations, added up by
// language, source-language translations apart.
type componentSums struct {
	rows         []sumRow
	translations []int64 // live, in no order
}

type sumRow struct {
	Sum
	source   bool
	template bool // of a source translation: it is made from a template
	against  catalog.Against
}

// sumsOf calls each for the sums of components, in their order. Only components
// that changed since the last read are read again; after a pull that is one.
func (s *Snapshot) sumsOf(ctx context.Context, components []int64, each func(component int64, row *sumRow)) error {
	found, err := s.keptSums(ctx, components)
	for _, id := range components {
		if err != nil {
			return err
		}
		for i := range found[id].rows {
			each(id, &found[id].rows[i])
		}
	}
	return err
}

// keptSums returns the sums of components; those that changed are read.
func (s *Snapshot) keptSums(ctx context.Context, components []int64) (map[int64]*componentSums, error) {
	generations, err := s.generations(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[int64]*componentSums, len(components))
	l := s.db.caches.lookups.sums
	var missing []int64
	for _, id := range components {
		if kept, ok := l.Get(id, generations[id]); ok {
			found[id] = kept
		} else {
			missing = append(missing, id)
		}
	}
	if err := s.readSums(ctx, missing, found); err != nil {
		return nil, err
	}
	for _, id := range missing {
		found[id].fillProgress()
		l.Put(id, generations[id], found[id], len(found[id].rows)+1)
	}
	return found, nil
}

// generations returns the generations of the active components.
func (s *Snapshot) generations(ctx context.Context) (map[int64]int64, error) {
	kept, err := s.components(ctx)
	if err != nil {
		return nil, err
	}
	return kept.own, nil
}

// readSums adds up the stored statistics of translations. It reads rows of
// translations, not units.
func (s *Snapshot) readSums(ctx context.Context, components []int64, into map[int64]*componentSums) error {
	for _, id := range components {
		into[id] = &componentSums{}
	}
	return sqldb.Chunks(components, func(chunk []any) error {
		err := s.s.Query(ctx, `SELECT component_id, id FROM translations WHERE component_id IN `+sqldb.List(1, len(chunk))+` AND removed = 0`, chunk, func(scan sqldb.Scan) error {
			var component, id int64
			err := scan(&component, &id)
			into[component].translations = append(into[component].translations, id)
			return err
		})
		if err != nil {
			return err
		}
		return s.s.Query(ctx, `SELECT component_id, is_source, language, COUNT(*), `+stored.ColumnList(stored.Counts, "SUM(%s)")+`, SUM(suggestions), SUM(comments), SUM(recent_changes), MAX(last_change_at),
			MAX(template), SUM(extra), SUM(extra_words), SUM(changed), SUM(changed_translated), SUM(changed_translated_words), SUM(changed_fuzzy)
			FROM translations WHERE component_id IN `+sqldb.List(1, len(chunk))+` AND removed = 0 GROUP BY component_id, language, is_source`,
			chunk, func(scan sqldb.Scan) error {
				id, row, err := scanSum(scan)
				if err == nil {
					into[id].rows = append(into[id].rows, row)
				}
				return err
			})
	})
}

// fillProgress compares the files of a component with its template.
func (c *componentSums) fillProgress() {
	var source catalog.Translation
	for i := range c.rows {
		if c.rows[i].source {
			source = c.rows[i].translation()
		}
	}
	for i := range c.rows {
		t := c.rows[i].translation()
		c.rows[i].Progress = catalog.NewProgress(&t, &source)
	}
}

// translation is what is counted of a row, which is of one translation: the live ones of
// a component have different codes.
func (r *sumRow) translation() catalog.Translation {
	return catalog.Translation{IsSource: r.source, HasTemplate: r.template, Stats: r.Stats, Against: r.against}
}

func scanSum(scan sqldb.Scan) (component int64, row sumRow, err error) {
	var source, template int64
	var last sql.NullInt64
	dest := []any{&component, &source, &row.Language, &row.Translations}
	dest = append(append(dest, stored.ScanOf(stored.Counts, &row.Stats)...), &row.Stats.Suggestions, &row.Stats.Comments, &row.RecentChanges, &last, &template)
	err = scan(append(dest, rows.AgainstOf(&row.against)...)...)
	row.LastChange, row.source, row.template = sqldb.FromMicros(last), source != 0, template > 0
	return component, row, err
}
