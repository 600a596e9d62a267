package chart

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func day(n int) time.Time { return time.Date(2024, 1, n, 0, 0, 0, 0, time.UTC) }

// TestDrawings compares drawings with coordinates that were computed by hand from the
// drawing area: curves of 656 × 222 from (56, 10) on, bars of 120 × 10, weeks of 10 × 60.
func TestDrawings(t *testing.T) {
	t.Parallel()
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for name, test := range map[string]struct {
		svg  string
		want []string
	}{
		"curves": {
			string(Curves("a < b", []Series{{Days: []time.Time{day(1), day(11)}, Values: []int64{10, 20}}}, day(21), number)),
			[]string{
				`aria-label="a &lt; b"`,
				`d="M56.0 121.0H384.0V10.0H712.0"`, // half of 20 until the middle, then all
				`y1="232.0" y2="232.0"/><text class="y" x="50" y="236.0">0</text>`,
				`y1="176.5" y2="176.5"/><text class="y" x="50" y="180.5">5</text>`,
				`y1="10.0" y2="10.0"/><text class="y" x="50" y="14.0">20</text>`,
				`<text class="x" x="56.0" y="252">2024-01</text>`,
			},
		},
		"one day": {
			string(Curves("", []Series{{Days: []time.Time{day(1)}, Values: []int64{1}}}, day(1), number)),
			[]string{`d="M712.0 10.0H712.0"`},
		},
		"second series": {
			string(Curves("", []Series{{Days: []time.Time{day(1)}, Values: []int64{4}}, {Days: []time.Time{day(2)}, Values: []int64{1}}}, day(3), number)),
			[]string{`class="line c0" d="M56.0 10.0H712.0"`, `class="line c1" d="M384.0 176.5H712.0"`},
		},
		"bar":        {string(Bar(3, 1, 8)), []string{`class="done" width="45.0"`, `class="fuzzy" x="45.0" width="15.0"`}},
		"full bar":   {string(Bar(8, 0, 8)), []string{`class="done" width="120.0"`}},
		"no strings": {string(Bar(0, 0, 0)), []string{``}},
		"weeks":      {string(Weeks("", []int64{0, 2, 4})), []string{`viewBox="0 0 30 62"`, `x="11" y="30.0" width="8" height="30.0"`, `x="21" y="0.0" width="8" height="60.0"`}},
		"spark": {
			string(Spark(&Series{Days: []time.Time{day(1), day(6)}, Values: []int64{0, 4}}, day(1), day(11), "")),
			[]string{`d="M0.0 21.0H50.0V1.0H100.0"`},
		},
	} {
		for _, want := range test.want {
			if !strings.Contains(test.svg, want) {
				t.Errorf("%s: no %s in %s", name, want, test.svg)
			}
		}
	}
	if bars := Weeks("", []int64{0, 2, 4}); strings.Count(string(bars), "<rect") != 2 {
		t.Errorf("a week without changes has a column: %s", bars)
	}
}

// TestSteps: the lines of a drawing are 1, 2 or 5 times a power of ten apart, and marks
// of time are at most about six.
func TestSteps(t *testing.T) {
	t.Parallel()
	for most, want := range map[int64]int64{1: 1, 4: 1, 5: 2, 20: 5, 21: 10, 1000: 500, 3828: 1000} {
		if got := niceStep(most); got != want {
			t.Errorf("%d: steps of %d, want %d", most, got, want)
		}
	}
	for _, test := range []struct {
		days        int
		first, last string
		n           int
	}{
		{20, "2024-01", "2024-01", 1},
		{366, "2024-01", "2025-01", 5},
		{10 * 365, "2024", "2032", 5},
	} {
		marks := ticks(day(1), day(1).AddDate(0, 0, test.days))
		if len(marks) != test.n || marks[0].text != test.first || marks[len(marks)-1].text != test.last {
			t.Errorf("%d days: %v", test.days, marks)
		}
	}
}
