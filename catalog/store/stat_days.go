package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// StatDay is what the statistics of a translation were at the end of a day.
type StatDay struct {
	// TranslationID is the translation.
	TranslationID int64
	// Day begins at midnight UTC. PutStatDay takes any time of the day.
	Day time.Time
	// Removed says that the file was gone; Stats are zero then.
	Removed bool
	// Stats are those after the last change of the day.
	Stats catalog.Stats
}

const daySeconds = 24 * 60 * 60

// dayNumber is the number of a time's day since 1970, in UTC.
func dayNumber(t time.Time) int64 {
	s := t.Unix()
	if s < 0 {
		s -= daySeconds - 1
	}
	return s / daySeconds
}

// PutStatDay stores the statistics of a translation on a day, in place of those
// stored for the day before.
func (tx *StepTx) PutStatDay(ctx context.Context, d StatDay) error {
	_, err := tx.componentOf(ctx, d.TranslationID)
	if err == nil {
		_, err = tx.s.exec(ctx, `INSERT INTO stat_days (translation_id, day, data) VALUES ($1, $2, $3)
			ON CONFLICT (translation_id, day) DO UPDATE SET data = excluded.data`, d.TranslationID, dayNumber(d.Day), encodeStats(&d))
	}
	return tx.fail(ctx, fmt.Sprintf("store statistics of translation %d", d.TranslationID), err)
}

// StatDays returns the stored days of a translation, ascending: days without an
// entry are like the last one before.
func (s *Snapshot) StatDays(ctx context.Context, translationID int64) ([]StatDay, error) {
	var out []StatDay
	err := s.s.query(ctx, `SELECT day, data FROM stat_days WHERE translation_id = $1 ORDER BY day`, []any{translationID}, func(scan scan) error {
		var n int64
		var data []byte
		if err := scan(&n, &data); err != nil {
			return err
		}
		d, err := decodeStats(data)
		d.TranslationID, d.Day = translationID, time.Unix(n*daySeconds, 0).UTC()
		out = append(out, d)
		return err
	})
	return out, s.db.fail(ctx, fmt.Sprintf("read statistics of translation %d over time", translationID), err)
}

// counts are the numbers of s in the order that they are stored in.
func counts(s *catalog.Stats) []*int64 {
	var list []*int64
	for _, c := range []*catalog.Count{&s.Total, &s.Translated, &s.Fuzzy, &s.ReadOnly, &s.Failing} {
		list = append(list, &c.Units, &c.Words, &c.Chars)
	}
	return list
}

func encodeStats(d *StatDay) []byte {
	data := []byte{}
	if d.Removed {
		return data
	}
	for _, n := range counts(&d.Stats) {
		data = binary.AppendVarint(data, *n)
	}
	return data
}

func decodeStats(data []byte) (d StatDay, err error) {
	if d.Removed = len(data) == 0; d.Removed {
		return d, nil
	}
	for _, n := range counts(&d.Stats) {
		v, size := binary.Varint(data)
		if size <= 0 {
			return d, errors.New("the statistics of a day are damaged: restore a backup, or move the database away and import anew")
		}
		*n, data = v, data[size:]
	}
	return d, nil
}
