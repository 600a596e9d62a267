package catalog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
)

func TestInterval(t *testing.T) {
	for _, c := range []struct {
		interval    catalog.Interval
		at          string
		first, last string
	}{
		{catalog.IntervalDay, "2024-02-29T23:59:59.999999Z", "2024-02-29", "2024-02-29"},
		{catalog.IntervalDay, "2024-03-01T01:00:00+02:00", "2024-02-29", "2024-02-29"},
		{catalog.IntervalWeek, "2024-12-30T00:00:00Z", "2024-12-30", "2025-01-05"}, // a Monday
		{catalog.IntervalWeek, "2025-01-05T23:59:59Z", "2024-12-30", "2025-01-05"}, // a Sunday
		{catalog.IntervalWeek, "1969-12-31T12:00:00Z", "1969-12-29", "1970-01-04"},
		{catalog.IntervalMonth, "2024-02-29T00:00:00Z", "2024-02-01", "2024-02-29"},
		{catalog.IntervalMonth, "2023-12-31T23:00:00-02:00", "2024-01-01", "2024-01-31"},
	} {
		at, err := time.Parse(time.RFC3339Nano, c.at)
		if err != nil {
			t.Fatal(err)
		}
		first, last := c.interval.First(at), c.interval.Last(at)
		if got := first.Format(time.DateOnly) + " " + last.Format(time.DateOnly); got != c.first+" "+c.last || first.Location() != time.UTC {
			t.Errorf("%s with %s in it is %s, want %s %s", c.interval, c.at, got, c.first, c.last)
		}
	}
}

func units(n int64) catalog.Stats { return catalog.Stats{Total: catalog.Count{Units: n}} }

func points(list []catalog.Point) string {
	var out []string
	for _, p := range list {
		out = append(out, fmt.Sprintf("%s…%s %d", p.First.Format("0102"), p.Last.Format("0102"), p.Stats.Total.Units))
	}
	return strings.Join(out, ", ")
}

// TestTimeline cuts a curve of two translations in every way.
func TestTimeline(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2024, 1, n, 0, 0, 0, 0, time.UTC) }
	var none time.Time
	for _, c := range []struct {
		interval catalog.Interval
		from, to time.Time
		want     string
	}{
		{catalog.IntervalDay, none, none, "0103…0103 5, 0110…0110 7, 0111…0111 17, 0120…0120 10"},
		{catalog.IntervalWeek, none, none, "0101…0107 5, 0108…0114 17, 0115…0121 10"},
		{catalog.IntervalMonth, none, none, "0101…0131 10"},
		{catalog.IntervalDay, day(3), none, "0103…0103 5, 0110…0110 7, 0111…0111 17, 0120…0120 10"},
		{catalog.IntervalDay, day(1), day(2), ""},
		{catalog.IntervalDay, day(4), day(10), "0104…0104 5, 0110…0110 7"},
		{catalog.IntervalDay, day(4), day(10).Add(-1), "0104…0104 5"},
		{catalog.IntervalWeek, day(11), none, "0108…0114 17, 0115…0121 10"},
		{catalog.IntervalWeek, day(23), none, "0122…0128 10"},
		{catalog.IntervalDay, day(12), day(11), ""},
		{catalog.IntervalDay, none, day(2), ""},
		{catalog.IntervalMonth, day(31), day(31), "0101…0131 10"},
	} {
		l := catalog.Timeline{Interval: c.interval}
		if got := l.Points(c.from, c.to); got != nil {
			t.Errorf("an empty timeline has %v", got)
		}
		l.Change(day(11), catalog.Stats{}, units(10))
		l.Change(day(3), catalog.Stats{}, units(5))
		l.Change(day(10), units(5), units(7))
		l.Change(day(20), units(7), catalog.Stats{}) // gone
		if got := points(l.Points(c.from, c.to)); got != c.want {
			t.Errorf("%s from %s to %s: %q, want %q", c.interval, c.from, c.to, got, c.want)
		}
	}
}

// TestTimelineIsNaive compares with statistics computed for each day.
func TestTimelineIsNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		begin := time.Date(2023, 12, 20, 0, 0, 0, 0, time.UTC)
		const days = 70
		interval := rapid.SampledFrom([]catalog.Interval{catalog.IntervalDay, catalog.IntervalWeek, catalog.IntervalMonth}).Draw(t, "interval")
		l := catalog.Timeline{Interval: interval}
		var sums [days]int64         // at the end of each day
		changed := map[string]bool{} // intervals
		for tr := range rapid.IntRange(0, 4).Draw(t, "translations") {
			var have int64
			for d := range days {
				if rapid.IntRange(0, 9).Draw(t, "change") == 0 {
					now := rapid.Int64Range(0, 50).Draw(t, fmt.Sprint("units ", tr))
					at := begin.AddDate(0, 0, d).Add(time.Duration(rapid.IntRange(0, 86399).Draw(t, "second")) * time.Second)
					l.Change(at, units(have), units(now))
					changed[interval.First(at).String()] = true
					have = now
				}
				sums[d] += have
			}
		}
		from := rapid.IntRange(-1, days-1).Draw(t, "from")
		to := rapid.IntRange(0, days-1).Draw(t, "to")
		var want []catalog.Point
		started := false
		for d := range days {
			at := begin.AddDate(0, 0, d)
			first, last := interval.First(at), interval.Last(at)
			if d > 0 && !first.Equal(at) {
				continue
			}
			end := min(int(last.Sub(begin).Hours()/24), days-1)
			outside := from >= 0 && end < from || first.After(begin.AddDate(0, 0, to)) || from > to
			cut := started && from >= 0 && d <= from && from <= end
			started = started || changed[first.String()]
			if !outside && (changed[first.String()] || cut) {
				want = append(want, catalog.Point{First: first, Last: last, Stats: units(sums[end])})
			}
		}
		var since time.Time
		if from >= 0 {
			since = begin.AddDate(0, 0, from)
		}
		if diff := cmp.Diff(want, l.Points(since, begin.AddDate(0, 0, to))); diff != "" {
			t.Fatalf("%s from %d to %d (-naive +timeline):\n%s", interval, from, to, diff)
		}
	})
}
