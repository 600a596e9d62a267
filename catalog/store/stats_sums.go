package store

import (
	"context"
	"database/sql"
	"fmt"
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
	l := s.db.lookups.sums
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
	err := s.s.QueryIn(ctx, `SELECT component_id, id FROM translations WHERE component_id IN $ids AND removed = 0`, nil, components,
		sqldb.Cols2(func(component, id int64) { into[component].translations = append(into[component].translations, id) }))
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

// StatDay holds the statistics of a translation at the end of a day.
type StatDay = stored.Day

const daySeconds = 24 * 60 * 60

// dayNumber is the number of days from 1970 to a time, in UTC.
func dayNumber(t time.Time) int64 {
	s := t.Unix()
	if s < 0 {
		s -= daySeconds - 1
	}
	return s / daySeconds
}

// PutStatDay stores the statistics of a translation on a day, which is never before that
// of the component's newest entry. It replaces earlier statistics of the same day.
func (tx *StepTx) PutStatDay(ctx context.Context, d StatDay) error {
	c, err := tx.componentOf(ctx, d.TranslationID)
	if err == nil {
		day, m := dayNumber(d.Day), tx.convoy[c]
		if m != nil && m.lastAt.Valid {
			day = max(day, dayNumber(sqldb.FromMicros(m.lastAt)))
		}
		var n int64
		n, err = tx.s.Exec(ctx, `INSERT INTO stat_days (translation_id, day, data) VALUES ($1, $2, $3)
			ON CONFLICT (translation_id, day) DO UPDATE SET data = excluded.data WHERE stat_days.data <> excluded.data`, d.TranslationID, day, stored.EncodeDay(&d))
		if m != nil && n > 0 {
			m.dirty = true // invalidates the cached days of the component
		}
	}
	return tx.fail(ctx, fmt.Sprintf("store statistics of translation %d", d.TranslationID), err)
}

// StatDays returns the stored days of a translation, ascending. On days without an
// entry nothing has changed.
func (s *Snapshot) StatDays(ctx context.Context, translationID int64) (out []StatDay, err error) {
	defer s.s.AboutTranslation(ctx, translationID).End()
	err = s.eachDay(ctx, []int64{translationID}, func(d StatDay) { out = append(out, d) })
	return out, s.s.Fail(ctx, fmt.Sprintf("read statistics of translation %d over time", translationID), err)
}

// Curves calls each for every stored day of translations of components, by
// translation and day. On days without an entry nothing has changed.
func (s *Snapshot) Curves(ctx context.Context, components, translations []int64, each func(StatDay)) error {
	defer s.s.About(components...).End()
	return s.s.Fail(ctx, "read statistics over time by translation", s.eachDay(ctx, translations, each))
}

// StatQuery selects translations whose statistics over time are added up.
type StatQuery struct {
	// TranslationID, if not 0, selects only this translation; the other fields are
	// ignored.
	TranslationID int64
	// Components are the components of the translations, which may be removed.
	Components []int64
	// Language, if not empty, selects translations with this code in their URLs.
	Language string
}

// Timeline passes all changes of the statistics of the selected translations to l.
// Its cost grows with the number of their stored days; without a language, only
// with the days of components that changed since the last call.
func (s *Snapshot) Timeline(ctx context.Context, q StatQuery, l *catalog.Timeline) error {
	if q.TranslationID != 0 {
		defer s.s.AboutTranslation(ctx, q.TranslationID).End()
	} else {
		defer s.s.About(q.Components...).End()
	}
	ids, err := []int64{q.TranslationID}, error(nil)
	switch {
	case q.TranslationID != 0:
	case q.Language == "":
		ids, err = nil, s.componentTimelines(ctx, q.Components, l)
	default:
		ids, err = s.everTranslated(ctx, q)
	}
	if err == nil {
		err = s.eachStep(ctx, ids, l.Change)
	}
	return s.s.Fail(ctx, fmt.Sprintf("read statistics over time of %+v", q), err)
}

// everTranslated lists the translations of components, removed ones included.
func (s *Snapshot) everTranslated(ctx context.Context, q StatQuery) (ids []int64, err error) {
	query, args := `SELECT id FROM translations WHERE component_id IN $ids`, []any(nil)
	if q.Language != "" {
		query, args = query+` AND language = $1`, []any{q.Language}
	}
	err = s.s.IDsIn(ctx, query, args, q.Components, &ids)
	return ids, err
}

// eachDay reads the days of translations, in the order of their key.
func (s *Snapshot) eachDay(ctx context.Context, translations []int64, each func(StatDay)) error {
	var id, day int64
	var data sql.RawBytes
	return s.s.QueryIn(ctx, `SELECT translation_id, day, data FROM stat_days WHERE translation_id IN $ids ORDER BY translation_id, day`, nil, translations, func(scan sqldb.Scan) error {
		if err := scan(&id, &day, &data); err != nil {
			return err
		}
		d, err := stored.DecodeDay(data)
		d.TranslationID, d.Day = id, time.Unix(day*daySeconds, 0).UTC()
		if err == nil {
			each(d)
		}
		return err
	})
}

// eachStep calls each for the changes of translations from one day to the next.
func (s *Snapshot) eachStep(ctx context.Context, translations []int64, each func(day time.Time, before, after catalog.Stats)) error {
	var before StatDay
	return s.eachDay(ctx, translations, func(d StatDay) {
		if d.TranslationID != before.TranslationID {
			before = StatDay{}
		}
		each(d.Day, before.Stats, d.Stats)
		before = d
	})
}
