package store

import (
	"cmp"
	"context"
	"fmt"
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
		err = sqldb.Chunks(components, func(chunk []any) error {
			n := len(chunk)
			for _, language := range part {
				chunk = append(chunk, language)
			}
			return s.s.Query(ctx, `SELECT `+translationColumns+translationFrom+` WHERE t.component_id IN `+sqldb.List(1, n)+
				` AND t.removed = 0 AND t.language IN `+sqldb.List(n+1, len(part)), chunk, appendTranslation(&out))
		})
		if err != nil {
			break
		}
	}
	return out, s.s.Fail(ctx, "read translations by language", err)
}

// PastStats returns the statistics that translations of components had at the end of
// a day, in UTC. Translations that did not exist then, or had no statistics yet, are
// left out. It looks up one row of a translation, however long its history is.
func (s *Snapshot) PastStats(ctx context.Context, components, translations []int64, day time.Time) (map[int64]catalog.Stats, error) {
	defer s.s.About(components...).End()
	past := make(map[int64]catalog.Stats, len(translations))
	err := sqldb.Chunks(translations, func(chunk []any) error {
		n := len(chunk)
		return s.s.Query(ctx, `SELECT d.translation_id, d.data FROM stat_days d JOIN (
				SELECT translation_id, MAX(day) AS day FROM stat_days WHERE translation_id IN `+sqldb.List(1, n)+fmt.Sprintf(` AND day <= $%d GROUP BY translation_id
			) l ON l.translation_id = d.translation_id AND l.day = d.day`, n+1), append(chunk, dayNumber(day)), func(scan sqldb.Scan) error {
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
	})
	return past, s.s.Fail(ctx, "read past statistics", err)
}

// Curves calls each for every stored day of translations of components, by
// translation and day. On days without an entry nothing has changed.
func (s *Snapshot) Curves(ctx context.Context, components, translations []int64, each func(stored.Day)) error {
	defer s.s.About(components...).End()
	err := sqldb.Chunks(translations, func(chunk []any) error {
		return s.s.Query(ctx, `SELECT translation_id, day, data FROM stat_days WHERE translation_id IN `+sqldb.List(1, len(chunk))+` ORDER BY translation_id, day`, chunk, func(scan sqldb.Scan) error {
			var id, day int64
			var data []byte
			if err := scan(&id, &day, &data); err != nil {
				return err
			}
			d, err := stored.DecodeDay(data)
			d.TranslationID, d.Day = id, time.Unix(day*daySeconds, 0).UTC()
			each(d)
			return err
		})
	})
	return s.s.Fail(ctx, "read statistics over time by translation", err)
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
	err = sqldb.Chunks(components, func(chunk []any) error {
		return s.s.Query(ctx, `SELECT check_id, SUM(units) FROM check_counts WHERE component_id IN `+sqldb.List(1, len(chunk))+` GROUP BY check_id`, chunk, func(scan sqldb.Scan) error {
			var check, n int64
			err := scan(&check, &n)
			units[check] += n
			return err
		})
	})
	for _, check := range sqldb.SortedKeys(units) {
		if units[check] > 0 {
			out = append(out, CheckCount{Check: check, Units: units[check]})
		}
	}
	return out, s.s.Fail(ctx, "count failing checks", err)
}

// CheckPlaces counts the strings that fail one check, by translation.
func (s *Snapshot) CheckPlaces(ctx context.Context, components []int64, check int64) (out []CheckCount, err error) {
	defer s.s.About(components...).End()
	err = sqldb.Chunks(components, func(chunk []any) error {
		n := len(chunk)
		return s.s.Query(ctx, `SELECT component_id, translation_id, units FROM check_counts WHERE component_id IN `+sqldb.List(1, n)+
			fmt.Sprintf(` AND check_id = $%d AND units > 0`, n+1), append(chunk, check), func(scan sqldb.Scan) error {
			c := CheckCount{Check: check}
			err := scan(&c.ComponentID, &c.TranslationID, &c.Units)
			out = append(out, c)
			return err
		})
	})
	slices.SortFunc(out, func(a, b CheckCount) int { return cmp.Compare(a.TranslationID, b.TranslationID) })
	return out, s.s.Fail(ctx, "count failing checks by translation", err)
}

// TranslationChecks counts the strings of a translation that fail each check.
func (s *Snapshot) TranslationChecks(ctx context.Context, component, translation int64) (out []CheckCount, err error) {
	defer s.s.About(component).End()
	err = s.s.Query(ctx, `SELECT check_id, units FROM check_counts WHERE component_id = $1 AND translation_id = $2 AND units > 0 ORDER BY check_id`,
		[]any{component, translation}, func(scan sqldb.Scan) error {
			c := CheckCount{ComponentID: component, TranslationID: translation}
			err := scan(&c.Check, &c.Units)
			out = append(out, c)
			return err
		})
	return out, s.s.Fail(ctx, "count failing checks of a translation", err)
}

// TargetIDs returns the ids of the live translations of components, except into their
// source languages, ascending. An index of the live translations gives them.
func (s *Snapshot) TargetIDs(ctx context.Context, components []int64) (ids []int64, err error) {
	defer s.s.About(components...).End()
	err = sqldb.Chunks(components, func(chunk []any) error {
		return s.s.IDs(ctx, `SELECT id FROM translations WHERE component_id IN `+sqldb.List(1, len(chunk))+` AND removed = 0 AND is_source = 0`, chunk, &ids)
	})
	slices.Sort(ids)
	return ids, s.s.Fail(ctx, "list translations", err)
}
