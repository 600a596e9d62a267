package rest

import (
	"testing"
	"time"
)

// FuzzQuery: encoding is stable, whatever came in, and keeps the last value.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{"format=api?format=po", "a=b+c&a=%zz", "&&?=&=x", "page=2&page_size=%20"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		ps := ParseQuery(raw)
		once := ps.Encode("api", 3)
		again := ParseQuery(once)
		if twice := again.Encode("api", 3); twice != once {
			t.Errorf("%q: %q then %q", raw, once, twice)
		}
		if page, _ := again.Get("page"); page != "3" {
			t.Errorf("%q: page %q in %q", raw, page, once)
		}
		for _, p := range ps {
			if p.Name == "page" || p.Name == "format" {
				continue
			}
			want, _ := ps.Get(p.Name)
			if got, ok := again.Get(p.Name); !ok || got != want {
				t.Errorf("%q: %q is %q, was %q", raw, p.Name, got, want)
			}
		}
	})
}

// TestDateTime: Weblate's forms of a time, and a plus that a URL turned into a
// blank.
func TestDateTime(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"2021-01-01T00:00:00Z":              "2021-01-01T00:00:00Z",
		"2021-01-01T00:00:00+00:00":         "2021-01-01T00:00:00Z",
		"2021-01-01T00:00:00 00:00":         "2021-01-01T00:00:00Z",
		"2021-01-01T02:30:00+02:30":         "2021-01-01T00:00:00Z",
		"2021-01-01T02:30:00+0230":          "2021-01-01T00:00:00Z",
		"2021-01-01T02:00:00+02":            "2021-01-01T00:00:00Z",
		"2021-01-01T02:00:00 02:00":         "2021-01-01T00:00:00Z",
		"2020-12-31T23:00:00-01:00":         "2021-01-01T00:00:00Z",
		"2021-01-01 00:00:00":               "2021-01-01T00:00:00Z",
		"2021-01-01T00:00":                  "2021-01-01T00:00:00Z",
		"2021-1-1 0:0":                      "2021-01-01T00:00:00Z",
		"2021-01-01T00:00:00":               "2021-01-01T00:00:00Z",
		"2026-03-04T05:06:07.123456Z":       "2026-03-04T05:06:07.123456Z",
		"2026-03-04T05:06:07.5+00:00":       "2026-03-04T05:06:07.5Z",
		"2026-03-04T05:06:07.123456789Z":    "2026-03-04T05:06:07.123456Z",
		"2024-02-29T00:00:00Z":              "2024-02-29T00:00:00Z",
		"0001-01-01T00:00:00Z":              "0001-01-01T00:00:00Z",
		"9999-12-31T23:59:59Z":              "9999-12-31T23:59:59Z",
		"2021-01-01":                        "", // a bare date
		"2021-02-29T00:00:00Z":              "",
		"2021-13-01T00:00:00Z":              "",
		"2021-01-01T24:00:00Z":              "",
		"2021-01-01T00:60:00Z":              "",
		"2021-01-01T00:00:00+25:00":         "",
		"2021-01-01T00:00:00+00:61":         "",
		"0000-01-01T00:00:00Z":              "",
		"2021-01-01T00:00:00Zjunk":          "",
		"20210101T000000Z":                  "",
		"1609459200":                        "",
		"yesterday":                         "",
		"２021-01-01T00:00:00Z":              "",
		"2021-01-01T00:00:00\nZ":            "",
		"-2021-01-01T00:00:00Z":             "",
		"2021-01-01T00:00:00.1234567890123": "2021-01-01T00:00:00.123456Z",
	} {
		at, ok := parseDateTime(value)
		got := ""
		if ok {
			got = at.Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", value, got, want)
		}
	}
}
