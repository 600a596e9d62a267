package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

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
