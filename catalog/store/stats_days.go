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
func (s *Snapshot) StatDays(ctx context.Context, translationID int64) ([]StatDay, error) {
	defer s.s.AboutTranslation(ctx, translationID).End()
	var out []StatDay
	err := s.s.Query(ctx, `SELECT day, data FROM stat_days WHERE translation_id = $1 ORDER BY day`, []any{translationID}, func(scan sqldb.Scan) error {
		var n int64
		var data []byte
		if err := scan(&n, &data); err != nil {
			return err
		}
		d, err := stored.DecodeDay(data)
		d.TranslationID, d.Day = translationID, time.Unix(n*daySeconds, 0).UTC()
		out = append(out, d)
		return err
	})
	return out, s.s.Fail(ctx, fmt.Sprintf("read statistics of translation %d over time", translationID), err)
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
		err = sqldb.Chunks(ids, func(chunk []any) error {
			return s.eachDay(ctx, chunk, func(day int64, before, after catalog.Stats) {
				l.Change(time.Unix(day*daySeconds, 0), before, after)
			})
		})
	}
	return s.s.Fail(ctx, fmt.Sprintf("read statistics over time of %+v", q), err)
}

// everTranslated lists the translations of components, removed ones included.
func (s *Snapshot) everTranslated(ctx context.Context, q StatQuery) (ids []int64, err error) {
	err = sqldb.Chunks(q.Components, func(chunk []any) error {
		query := `SELECT id FROM translations WHERE component_id IN ` + sqldb.List(1, len(chunk))
		if q.Language != "" {
			chunk = append(chunk, q.Language)
			query += fmt.Sprintf(` AND language = $%d`, len(chunk))
		}
		return s.s.IDs(ctx, query, chunk, &ids)
	})
	return ids, err
}

// eachDay reads the days of translations, in the order of their key.
func (s *Snapshot) eachDay(ctx context.Context, translations []any, each func(day int64, before, after catalog.Stats)) error {
	var last int64
	var before catalog.Stats
	query := `SELECT translation_id, day, data FROM stat_days WHERE translation_id IN ` + sqldb.List(1, len(translations)) + ` ORDER BY translation_id, day`
	return s.s.Query(ctx, query, translations, func(scan sqldb.Scan) error {
		var id, day int64
		var data sql.RawBytes
		if err := scan(&id, &day, &data); err != nil {
			return err
		}
		if id != last {
			last, before = id, catalog.Stats{}
		}
		d, err := stored.DecodeDay(data)
		if err != nil {
			return err
		}
		each(day, before, d.Stats)
		before = d.Stats
		return nil
	})
}
