package wire

import (
	"strconv"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// Percent is a percentage in tenths, written with one decimal: 95.8, 100.0, 0.0
// (docs/compatibility.md#percentages).
type Percent catalog.Tenths

// MarshalJSON writes a JSON number.
func (p Percent) MarshalJSON() ([]byte, error) {
	b := strconv.AppendInt(nil, int64(p)/10, 10)
	return append(b, '.', byte('0'+int64(p)%10)), nil
}

// share is the percentage n of total; 0.0 if total is 0.
func share(n, total int64) Percent { return Percent(catalog.Percent(n, total, 0)) }

// shareDone is the percentage n of total for a measure of completeness: 100.0
// if total is 0.
func shareDone(n, total int64) Percent { return Percent(catalog.Percent(n, total, 1000)) }

// ChangeTime formats the timestamp of a change entry, with microseconds.
func ChangeTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// UnitTime formats the timestamp of a unit, in seconds.
func UnitTime(t time.Time) string { return string(appendUnitTime(nil, t)) }

func appendUnitTime(b []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(b, "2006-01-02T15:04:05Z")
}

// OrNull is a pointer to s, or nil if s is empty.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
