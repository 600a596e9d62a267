package sqldb

import (
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// Micros converts a time to microseconds, the resolution of the API; NULL for
// zero. Times outside the years 1 to 9999, which a hostile commit can claim, are
// clamped, since clients could not read them.
func Micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	lo, hi := time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	switch {
	case t.Before(lo):
		t = lo
	case t.After(hi):
		t = hi
	}
	return t.UnixMicro()
}

// FromMicros is the time that Micros has converted.
func FromMicros(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.Int64).UTC()
}

// Smallint converts a bool: PostgreSQL takes no bool for a SMALLINT.
func Smallint(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// OrNull converts an id; 0 is NULL.
func OrNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// JsonText returns v as JSON, or NULL if there is none.
func JsonText(v any, none bool) (any, error) {
	if none {
		return nil, nil
	}
	b, err := json.Marshal(v)
	return string(b), err
}

// CommitOf decodes a commit.
func CommitOf(text string) (c catalog.Commit, err error) {
	err = json.Unmarshal([]byte(text), &c)
	return c, err
}

// EventMap decodes the details of an event; nil for NULL.
func EventMap(text sql.NullString) (map[string]string, error) {
	if !text.Valid {
		return nil, nil
	}
	var m map[string]string
	err := json.Unmarshal([]byte(text.String), &m)
	return m, err
}

// SortedKeys are the keys of a map, ascending.
func SortedKeys[V any](m map[int64]V) []int64 { return slices.Sorted(maps.Keys(m)) }

// Nullable is a scanned number as a parameter.
func Nullable(n sql.NullInt64) any {
	if !n.Valid {
		return nil
	}
	return n.Int64
}
