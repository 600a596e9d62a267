package sqldb

import (
	"testing"
	"time"
)

func TestMicros(t *testing.T) {
	for _, at := range []time.Time{{}, time.Unix(0, 0).UTC(), time.Date(2024, 3, 3, 12, 0, 0, 123456000, time.UTC), time.Date(-400, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		v := Micros(at)
		if (v == nil) != at.IsZero() {
			t.Errorf("micros(%v) = %v", at, v)
		}
		if n, ok := v.(int64); ok {
			if y := time.UnixMicro(n).UTC().Year(); y < 1 || y > 9999 {
				t.Errorf("micros(%v) is in the year %d", at, y)
			}
		}
	}
}
