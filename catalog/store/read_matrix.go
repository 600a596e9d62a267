package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
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
	defer s.about(components...).end()
	err = s.sumsOf(ctx, components, func(id int64, row *sumRow) {
		out = append(out, ComponentSum{Sum: row.Sum, ComponentID: id, Source: row.source})
	})
	return out, s.db.fail(ctx, "read statistics by component", err)
}

// TranslationsIn returns the live translations of components with these codes, by
// component and language. Its cost grows with their number.
func (s *Snapshot) TranslationsIn(ctx context.Context, components []int64, languages []string) (out []catalog.Translation, err error) {
	defer s.about(components...).end()
	for part := range slices.Chunk(languages, 128) {
		err = chunks(components, func(chunk []any) error {
			n := len(chunk)
			for _, language := range part {
				chunk = append(chunk, language)
			}
			return s.s.query(ctx, `SELECT `+translationColumns+translationFrom+` WHERE t.component_id IN `+list(1, n)+
				` AND t.removed = 0 AND t.language IN `+list(n+1, len(part)), chunk, appendTranslation(&out))
		})
		if err != nil {
			break
		}
	}
	return out, s.db.fail(ctx, "read translations by language", err)
}

// PastStats returns the statistics that translations of components had at the end of
// a day, in UTC. Translations that did not exist then, or had no statistics yet, are
// left out. It looks up one row of a translation, however long its history is.
func (s *Snapshot) PastStats(ctx context.Context, components, translations []int64, day time.Time) (map[int64]catalog.Stats, error) {
	defer s.about(components...).end()
	past := make(map[int64]catalog.Stats, len(translations))
	err := chunks(translations, func(chunk []any) error {
		n := len(chunk)
		return s.s.query(ctx, `SELECT d.translation_id, d.data FROM stat_days d JOIN (
				SELECT translation_id, MAX(day) AS day FROM stat_days WHERE translation_id IN `+list(1, n)+fmt.Sprintf(` AND day <= $%d GROUP BY translation_id
			) l ON l.translation_id = d.translation_id AND l.day = d.day`, n+1), append(chunk, dayNumber(day)), func(scan scan) error {
			var id int64
			var data []byte
			if err := scan(&id, &data); err != nil {
				return err
			}
			d, err := decodeStats(data)
			if !d.Removed {
				past[id] = d.Stats
			}
			return err
		})
	})
	return past, s.db.fail(ctx, "read past statistics", err)
}

// Curves calls each for every stored day of translations of components, by
// translation and day. On days without an entry nothing has changed.
func (s *Snapshot) Curves(ctx context.Context, components, translations []int64, each func(StatDay)) error {
	defer s.about(components...).end()
	err := chunks(translations, func(chunk []any) error {
		return s.s.query(ctx, `SELECT translation_id, day, data FROM stat_days WHERE translation_id IN `+list(1, len(chunk))+` ORDER BY translation_id, day`, chunk, func(scan scan) error {
			var id, day int64
			var data []byte
			if err := scan(&id, &day, &data); err != nil {
				return err
			}
			d, err := decodeStats(data)
			d.TranslationID, d.Day = id, time.Unix(day*daySeconds, 0).UTC()
			each(d)
			return err
		})
	})
	return s.db.fail(ctx, "read statistics over time by translation", err)
}

// FailingCount counts the strings of a translation that fail the same checks.
type FailingCount struct {
	// ComponentID and TranslationID own the strings.
	ComponentID, TranslationID int64
	// Failing has the checks, as the bits of a checks.Mask.
	Failing [2]uint64
	// Units is the number of strings.
	Units int64
}

// FailingCounts counts the strings with failing checks of components, or with a
// translation above 0 only of that. It reads the index of failing checks, which has
// an entry for each of these strings.
func (s *Snapshot) FailingCounts(ctx context.Context, components []int64, translation int64) (out []FailingCount, err error) {
	defer s.about(components...).end()
	err = chunks(components, func(chunk []any) error {
		query := `SELECT t.component_id, t.id, f.low, f.high, COUNT(*) FROM translations t JOIN failing f ON f.translation_id = t.id
			WHERE t.component_id IN ` + list(1, len(chunk)) + ` AND t.removed = 0`
		if translation > 0 {
			chunk = append(chunk, translation)
			query += fmt.Sprintf(` AND t.id = $%d`, len(chunk))
		}
		return s.s.query(ctx, query+` GROUP BY t.component_id, t.id, f.low, f.high`, chunk, func(scan scan) error {
			var c FailingCount
			var low, high int64
			err := scan(&c.ComponentID, &c.TranslationID, &low, &high, &c.Units)
			c.Failing = [2]uint64{uint64(low), uint64(high)}
			out = append(out, c)
			return err
		})
	})
	return out, s.db.fail(ctx, "count failing checks", err)
}

// TargetIDs returns the ids of the live translations of components, except into their
// source languages, ascending. An index of the live translations gives them.
func (s *Snapshot) TargetIDs(ctx context.Context, components []int64) (ids []int64, err error) {
	defer s.about(components...).end()
	err = chunks(components, func(chunk []any) error {
		return s.s.ids(ctx, `SELECT id FROM translations WHERE component_id IN `+list(1, len(chunk))+` AND removed = 0 AND is_source = 0`, chunk, &ids)
	})
	slices.Sort(ids)
	return ids, s.db.fail(ctx, "list translations", err)
}
