package query

import (
	"testing"
	"time"
)

// TestDaysAgo: days are named as people do, in UTC.
func TestDaysAgo(t *testing.T) {
	now := time.Date(2026, 3, 31, 1, 30, 0, 0, time.FixedZone("", 2*3600)) // the 30th in UTC
	for q, want := range map[string]string{
		"changed:<yesterday":                         "changed:<2026-03-29T00:00:00.000000Z",
		"added:today":                                "added:[2026-03-30T00:00:00.000000Z to 2026-03-30T23:59:59.999999Z]",
		"added:>Yesterday":                           "added:>=2026-03-30T00:00:00.000000Z",
		`changed:>="3 days ago"`:                     "changed:>=2026-03-27T00:00:00.000000Z",
		`changed:>="a week ago"`:                     "changed:>=2026-03-23T00:00:00.000000Z",
		`changed:>="2 Weeks  ago"`:                   "changed:>=2026-03-16T00:00:00.000000Z",
		`changed:<"1 month ago"`:                     "changed:<2026-03-02T00:00:00.000000Z", // 30 February
		`changed:<"2 years ago"`:                     "changed:<2024-03-30T00:00:00.000000Z",
		`changed:[2026-03-23 to yesterday]`:          "changed:[2026-03-23T00:00:00.000000Z to 2026-03-29T23:59:59.999999Z]",
		"added:<0001":                                printed(None),
		"added:<0001-01-01T00:00:00Z":                printed(None),
		"added:<0001-01-01T00:00:00.000001Z":         "added:<0001-01-01T00:00:00.000001Z",
		`added:<="0001-01-01T00:59:59.999999+01:00"`: printed(None),
	} {
		e, err := ParseAt(q, now)
		if err != nil || printed(e) != want {
			t.Errorf("%s: %v, %v, want %s", q, e, err, want)
		}
	}
	for _, q := range []string{"changed:tomorrow", `changed:"3 ago"`, `changed:"3000 years ago"`, `changed:"-1 days ago"`} {
		if e, err := ParseAt(q, now); err == nil {
			t.Errorf("%s: %v", q, e)
		}
	}
}
