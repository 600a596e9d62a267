package store

import (
	"context"
	"database/sql"
)

// componentSums are the statistics of a component's live translations, added up by
// language, source-language translations apart.
type componentSums struct {
	generation int64 // the component's
	rows       []sumRow
}

type sumRow struct {
	Sum
	source bool
}

// sumsOf calls each for the sums of components, in their order. Only components
// that changed since the last read are read again; after a pull that is one.
func (s *Snapshot) sumsOf(ctx context.Context, components []int64, each func(component int64, row *sumRow)) error {
	generations, err := s.generations(ctx)
	if err != nil {
		return err
	}
	found := make(map[int64]*componentSums, len(components))
	l := s.db.caches.lookups
	l.mu.RLock()
	var missing []int64
	for _, id := range components {
		if kept := l.sums[id]; kept != nil && kept.generation == generations[id] {
			found[id] = kept
		} else {
			missing = append(missing, id)
		}
	}
	l.mu.RUnlock()
	if err := s.readSums(ctx, missing, generations, found); err != nil {
		return err
	}
	l.keepSums(missing, found)
	for _, id := range components {
		for i := range found[id].rows {
			each(id, &found[id].rows[i])
		}
	}
	return nil
}

func (l *lookups) keepSums(ids []int64, found map[int64]*componentSums) {
	if len(ids) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		old, read := l.sums[id], found[id]
		if old != nil && old.generation > read.generation {
			continue
		}
		if old != nil {
			l.rows -= len(old.rows) + 1
		}
		if l.rows += len(read.rows) + 1; l.rows > maxKeptSums {
			clear(l.sums)
			l.rows = len(read.rows) + 1
		}
		l.sums[id] = read
	}
}

// generations returns the generations of all components, read once per generation
// of the database.
func (s *Snapshot) generations(ctx context.Context) (of map[int64]int64, err error) {
	generation, err := s.Generation(ctx)
	if err != nil {
		return nil, err
	}
	l := s.db.caches.lookups
	l.read(generation, func() { of = l.generations })
	if of != nil {
		return of, nil
	}
	of = map[int64]int64{}
	err = s.s.query(ctx, `SELECT id, content_generation FROM components`, nil, func(scan scan) error {
		var id, generation int64
		err := scan(&id, &generation)
		of[id] = generation
		return err
	})
	if err == nil {
		l.write(generation, func() { l.generations = of })
	}
	return of, err
}

// readSums adds up the stored statistics of translations. It reads rows of
// translations, not units.
func (s *Snapshot) readSums(ctx context.Context, components []int64, generations map[int64]int64, into map[int64]*componentSums) error {
	for _, id := range components {
		into[id] = &componentSums{generation: generations[id]}
	}
	return chunks(components, func(chunk []any) error {
		return s.s.query(ctx, `SELECT component_id, is_source, language, COUNT(*), SUM(total), SUM(total_words), SUM(total_chars),
			SUM(translated), SUM(translated_words), SUM(translated_chars),
			SUM(fuzzy), SUM(fuzzy_words), SUM(fuzzy_chars), SUM(readonly), SUM(readonly_words), SUM(readonly_chars),
			SUM(failing), SUM(failing_words), SUM(failing_chars), SUM(suggestions), SUM(comments), SUM(recent_changes), MAX(last_change_at)
			FROM translations WHERE component_id IN `+list(1, len(chunk))+` AND removed = 0 GROUP BY component_id, language, is_source`,
			chunk, func(scan scan) error {
				id, row, err := scanSum(scan)
				if err == nil {
					into[id].rows = append(into[id].rows, row)
				}
				return err
			})
	})
}

func scanSum(scan scan) (component int64, row sumRow, err error) {
	var source int64
	var last sql.NullInt64
	dest := []any{&component, &source, &row.Language, &row.Translations}
	for _, n := range counts(&row.Stats) {
		dest = append(dest, n)
	}
	err = scan(append(dest, &row.Stats.Suggestions, &row.Stats.Comments, &row.RecentChanges, &last)...)
	row.LastChange, row.source = fromMicros(last), source != 0
	return component, row, err
}
