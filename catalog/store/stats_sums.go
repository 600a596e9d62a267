package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

// SumQuery selects live translations to add up their statistics.
type SumQuery struct {
	// Components are the ids of the components of the translations.
	Components []int64
	// Language, if not empty, selects translations with this code in their URLs.
	Language string
	// Sources includes the source-language translations.
	Sources bool
}

// Sum holds the added up statistics of a set of translations. As in Weblate,
// aggregates include the source-language translations
// (docs/compatibility.md#statistics).
type Sum struct {
	// Language is the code that the translations have in common.
	Language string
	// Translations is the number of translations.
	Translations int64
	// Stats and RecentChanges are sums.
	Stats         catalog.Stats
	RecentChanges int64
	// Progress counts them for people: against the templates.
	Progress catalog.Progress
	// LastChange is the time of the newest change; zero without changes.
	LastChange time.Time
}

// Add adds another set.
func (s *Sum) Add(o Sum) {
	s.Translations += o.Translations
	s.Stats.Add(o.Stats)
	s.RecentChanges += o.RecentChanges
	s.Progress.Add(o.Progress)
	if o.LastChange.After(s.LastChange) {
		s.LastChange = o.LastChange
	}
}

// Sums adds up the statistics of translations, one Sum per language, ordered by
// code. It reads rows of translations, not units, and only of components that
// changed since the last call.
func (s *Snapshot) Sums(ctx context.Context, q SumQuery) ([]Sum, error) {
	defer s.s.About(q.Components...).End()
	sums := map[string]*Sum{}
	err := s.sumsOf(ctx, q.Components, func(_ int64, row *sumRow) {
		if row.source && !q.Sources || q.Language != "" && q.Language != row.Language {
			return
		}
		sum := sums[row.Language]
		if sum == nil {
			sum = &Sum{Language: row.Language}
			sums[row.Language] = sum
		}
		sum.Add(row.Sum)
	})
	out := make([]Sum, 0, len(sums))
	for _, code := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, *sums[code])
	}
	return out, s.s.Fail(ctx, "add up statistics", err)
}

// Languages returns the codes of the live translations of components, sorted.
func (s *Snapshot) Languages(ctx context.Context, components []int64) ([]string, error) {
	defer s.s.About(components...).End()
	seen := map[string]bool{}
	err := s.sumsOf(ctx, components, func(_ int64, row *sumRow) { seen[row.Language] = true })
	return slices.Sorted(maps.Keys(seen)), s.s.Fail(ctx, "read languages", err)
}

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
	err := s.s.QueryIn(ctx, `SELECT component_id, id FROM translations WHERE component_id IN $ids AND removed = 0`, nil, components, func(scan sqldb.Scan) error {
		var component, id int64
		err := scan(&component, &id)
		into[component].translations = append(into[component].translations, id)
		return err
	})
	if err != nil {
		return err
	}
	var component int64
	var row sumRow
	dest := append([]any{&component, &row.source, &row.Language, &row.Translations}, stored.ScanOf(stored.Counts, &row.Stats)...)
	dest = append(dest, &row.Stats.Suggestions, &row.Stats.Comments, &row.RecentChanges, &row.LastChange, &row.template)
	dest = append(dest, rows.AgainstOf(&row.against)...)
	return s.s.QueryIn(ctx, `SELECT component_id, is_source, language, COUNT(*), `+stored.ColumnList(stored.Counts, "SUM(%s)")+`, SUM(suggestions), SUM(comments), SUM(recent_changes), MAX(last_change_at),
		CASE WHEN MAX(template) > 0 THEN 1 ELSE 0 END, SUM(extra), SUM(extra_words), SUM(changed), SUM(changed_translated), SUM(changed_translated_words), SUM(changed_fuzzy)
		FROM translations WHERE component_id IN $ids AND removed = 0 GROUP BY component_id, language, is_source`, nil, components, func(scan sqldb.Scan) error {
		err := scan(dest...)
		into[component].rows = append(into[component].rows, row)
		return err
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
