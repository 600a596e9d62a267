package wire

import (
	"testing"
	"time"
)

// TestPercent: rounding and form of percentages
// (docs/compatibility.md#percentages).
func TestPercent(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		n, total    int64
		share, done string
	}{
		{0, 0, "0.0", "100.0"},
		{0, 5, "0.0", "0.0"},
		{5, 5, "100.0", "100.0"},
		{1, 3, "33.3", "33.3"},
		{2, 3, "66.6", "66.6"},
		{23, 24, "95.8", "95.8"},
		{1, 1000, "0.1", "0.1"},
		{1, 2000, "0.0", "0.0"},
		{1999, 2000, "99.9", "99.9"},
		{9999999, 10000000, "99.9", "99.9"},
	} {
		body, err := JSON([]Percent{share(tc.n, tc.total), shareDone(tc.n, tc.total)}, 0)
		if want := "[" + tc.share + "," + tc.done + "]"; err != nil || string(body) != want {
			t.Errorf("%d of %d: %s, %v; want %s", tc.n, tc.total, body, err, want)
		}
	}
}

// TestTimes: the form of each kind of time, whatever zone the value has.
func TestTimes(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("x", 2*60*60)
	for in, want := range map[time.Time][2]string{
		time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC):        {"2026-01-02T03:04:05.000000Z", "2026-01-02T03:04:05Z"},
		time.Date(2026, 1, 2, 3, 4, 5, 120000000, zone):    {"2026-01-02T01:04:05.120000Z", "2026-01-02T01:04:05Z"},
		time.Date(1969, 12, 31, 23, 59, 59, 999, time.UTC): {"1969-12-31T23:59:59.000000Z", "1969-12-31T23:59:59Z"},
	} {
		if got := [2]string{ChangeTime(in), UnitTime(in)}; got != want {
			t.Errorf("%v: %v", in, got)
		}
	}
}

// TestLinksEscape: text in a path cannot leave its segment.
func TestLinksEscape(t *testing.T) {
	t.Parallel()
	for want, segments := range map[string][]string{
		"/api/users/jan-%C5%BEi%C5%BEka/": {"api", "users", "jan-žižka"},
		"/api/a%2Fb/%3Fc%23/%25/":         {"api", "a/b", "?c#", "%"},
		"/languages/sr@latin/":            {"languages", "sr@latin"},
	} {
		if got := Path(segments...); got != want {
			t.Errorf("%v: %s", segments, got)
		}
	}
}

func TestLicenseURL(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"MIT": "https://spdx.org/licenses/MIT.html", "GPL-3.0-or-later": "https://spdx.org/licenses/GPL-3.0-or-later.html",
		"GPL-2.0": "https://spdx.org/licenses/GPL-2.0.html", "CC-BY-SA-4.0": "https://spdx.org/licenses/CC-BY-SA-4.0.html",
		"Vim": "https://spdx.org/licenses/Vim.html",
		"":    "null", "proprietary": "null", "mit": "null", "MIT OR GPL-2.0": "null", "../MIT": "null",
	} {
		got := "null"
		if url := licenseURL(id); url != nil {
			got = *url
		}
		if got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}
