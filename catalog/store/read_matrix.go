package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

// ComponentSum holds the statistics of one component in one language.
type ComponentSum struct {
	Sum
	// ComponentID is the component.
	ComponentID int64
	// Source says that it is the source-language translation.
	Source bool
}

// SumsByComponent returns the statistics of components by component and language, in
// the order of components. Like Sums it reads only components that changed since the
// last call.
func (s *Snapshot) SumsByComponent(ctx context.Context, components []int64) (out []ComponentSum, err error) {
	defer s.s.About(components...).End()
	err = s.sumsOf(ctx, components, func(id int64, row *sumRow) {
		out = append(out, ComponentSum{Sum: row.Sum, ComponentID: id, Source: row.source})
	})
	return out, s.s.Fail(ctx, "read statistics by component", err)
}

// Sources returns the source translations of components with what NewProgress needs of
// them. Like Sums it reads only components that changed since the last call.
func (s *Snapshot) Sources(ctx context.Context, components []int64) (map[int64]*catalog.Translation, error) {
	defer s.s.About(components...).End()
	sources := make(map[int64]*catalog.Translation, len(components))
	for _, id := range components {
		sources[id] = &catalog.Translation{IsSource: true}
	}
	err := s.sumsOf(ctx, components, func(id int64, row *sumRow) {
		if row.source {
			t := row.translation()
			sources[id] = &t
		}
	})
	return sources, s.s.Fail(ctx, "read the sizes of source translations", err)
}

// TranslationsIn returns the live translations of components with these codes, by
// component and language. Its cost grows with their number.
func (s *Snapshot) TranslationsIn(ctx context.Context, components []int64, languages []string) (out []catalog.Translation, err error) {
	defer s.s.About(components...).End()
	for part := range slices.Chunk(languages, 128) {
		var args []any
		for _, language := range part {
			args = append(args, language)
		}
		more, err := sqldb.RowsIn(ctx, s.s, `SELECT `+translationColumns+translationFrom+` WHERE t.component_id IN $ids AND t.removed = 0 AND t.language IN `+sqldb.List(1, len(part)),
			args, components, translationFields)
		if err != nil {
			return nil, s.s.Fail(ctx, "read translations by language", err)
		}
		out = append(out, more...)
	}
	return out, nil
}

// PastStats returns the statistics that translations of components had at the end of
// a day, in UTC. Translations that did not exist then, or had no statistics yet, are
// left out. It looks up one row of a translation, however long its history is.
func (s *Snapshot) PastStats(ctx context.Context, components, translations []int64, day time.Time) (map[int64]catalog.Stats, error) {
	defer s.s.About(components...).End()
	past := make(map[int64]catalog.Stats, len(translations))
	err := s.s.QueryIn(ctx, `SELECT d.translation_id, d.data FROM stat_days d JOIN (
			SELECT translation_id, MAX(day) AS day FROM stat_days WHERE translation_id IN $ids AND day <= $1 GROUP BY translation_id
		) l ON l.translation_id = d.translation_id AND l.day = d.day`, []any{dayNumber(day)}, translations, func(scan sqldb.Scan) error {
		var id int64
		var data []byte
		if err := scan(&id, &data); err != nil {
			return err
		}
		d, err := stored.DecodeDay(data)
		if !d.Removed {
			past[id] = d.Stats
		}
		return err
	})
	return past, s.s.Fail(ctx, "read past statistics", err)
}

// CheckCount counts the strings that fail a check.
type CheckCount struct {
	// ComponentID and TranslationID own the strings; 0 for the sum of several.
	ComponentID, TranslationID int64
	// Check is the check's number, its bit in a checks.Mask.
	Check int64
	// Units is the number of strings, above 0.
	Units int64
}

// CheckCounts counts the strings of components that fail each check, by check. It reads
// counts that steps keep.
func (s *Snapshot) CheckCounts(ctx context.Context, components []int64) (out []CheckCount, err error) {
	defer s.s.About(components...).End()
	units := map[int64]int64{}
	err = s.s.QueryIn(ctx, `SELECT check_id, SUM(units) FROM check_counts WHERE component_id IN $ids GROUP BY check_id`, nil, components, func(scan sqldb.Scan) error {
		var check, n int64
		err := scan(&check, &n)
		units[check] += n
		return err
	})
	for _, check := range sqldb.SortedKeys(units) {
		if units[check] > 0 {
			out = append(out, CheckCount{Check: check, Units: units[check]})
		}
	}
	return out, s.s.Fail(ctx, "count failing checks", err)
}

// CheckPlaces counts the strings that fail one check, by translation.
func (s *Snapshot) CheckPlaces(ctx context.Context, components []int64, check int64) ([]CheckCount, error) {
	defer s.s.About(components...).End()
	out, err := sqldb.RowsIn(ctx, s.s, checkCounts+` WHERE component_id IN $ids AND check_id = $1 AND units > 0`, []any{check}, components, (*CheckCount).fields)
	slices.SortFunc(out, func(a, b CheckCount) int { return cmp.Compare(a.TranslationID, b.TranslationID) })
	return out, s.s.Fail(ctx, "count failing checks by translation", err)
}

// TranslationChecks counts the strings of a translation that fail each check.
func (s *Snapshot) TranslationChecks(ctx context.Context, component, translation int64) ([]CheckCount, error) {
	defer s.s.About(component).End()
	out, err := sqldb.Rows(ctx, s.s, checkCounts+` WHERE component_id = $1 AND translation_id = $2 AND units > 0 ORDER BY check_id`,
		[]any{component, translation}, (*CheckCount).fields)
	return out, s.s.Fail(ctx, "count failing checks of a translation", err)
}

const checkCounts = `SELECT component_id, translation_id, check_id, units FROM check_counts`

func (c *CheckCount) fields() []any {
	return []any{&c.ComponentID, &c.TranslationID, &c.Check, &c.Units}
}

// TargetIDs returns the ids of the live translations of components, except into their
// source languages, ascending. An index of the live translations gives them.
func (s *Snapshot) TargetIDs(ctx context.Context, components []int64) (ids []int64, err error) {
	defer s.s.About(components...).End()
	err = s.s.IDsIn(ctx, `SELECT id FROM translations WHERE component_id IN $ids AND removed = 0 AND is_source = 0`, nil, components, &ids)
	slices.Sort(ids)
	return ids, s.s.Fail(ctx, "list translations", err)
}
