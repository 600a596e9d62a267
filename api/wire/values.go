package wire

import (
	"strconv"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// Percent is a percentage with exactly one decimal: 95.8, 100.0, 0.0
// (decision 1). Its unit is a tenth of a percent.
type Percent catalog.Tenths

// MarshalJSON writes a JSON number.
func (p Percent) MarshalJSON() ([]byte, error) {
	b := strconv.AppendInt(nil, int64(p)/10, 10)
	return append(b, '.', byte('0'+int64(p)%10)), nil
}

// share is n of total; of nothing it is 0.0 (decision 15).
func share(n, total int64) Percent { return Percent(catalog.Percent(n, total, 0)) }

// shareDone is n of total for a measure of completeness: of nothing, 100.0.
func shareDone(n, total int64) Percent { return Percent(catalog.Percent(n, total, 1000)) }

// ChangeTime is the form of a change entry's timestamp: always microseconds.
func ChangeTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// UnitTime is the form of a unit's timestamp: seconds.
func UnitTime(t time.Time) string { return string(appendUnitTime(nil, t)) }

func appendUnitTime(b []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(b, "2006-01-02T15:04:05Z")
}

// OrNull is s, or null if s is empty.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
