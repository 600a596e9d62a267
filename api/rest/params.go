package rest

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Params are the parameters of a query, in their order. Names may repeat.
type Params []Param

// Param is one parameter, unescaped.
type Param struct{ Name, Value string }

// ParseQuery parses a raw query. A "?" that is not escaped begins another
// parameter, as "&" does: wlc sends "?format=api?format=po", of which proxies make
// "?format=api%3Fformat=po" (docs/compatibility.md#format-parameter). Text that cannot be unescaped stays
// as it is; nothing is an error.
func ParseQuery(raw string) Params {
	var ps Params
	for part := range strings.FieldsFuncSeq(raw, func(r rune) bool { return r == '&' || r == '?' }) {
		name, value, _ := strings.Cut(part, "=")
		p := Param{Name: unescape(name), Value: unescape(value)}
		if p.Name == "format" {
			for {
				var more string
				var found bool
				if p.Value, more, found = strings.Cut(p.Value, "?"); !found {
					break
				}
				ps = append(ps, p)
				p.Name, p.Value, _ = strings.Cut(more, "=")
			}
		}
		ps = append(ps, p)
	}
	return ps
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// Get returns the last value of a parameter.
func (ps Params) Get(name string) (value string, ok bool) {
	for i := len(ps) - 1; i >= 0; i-- {
		if ps[i].Name == name {
			return ps[i].Value, true
		}
	}
	return "", false
}

// Encode writes the query of a page link: format (unless it is empty), page (unless it
// is 1) and all other parameters with all their values, sorted by name.
func (ps Params) Encode(format string, page int) string {
	kept := url.Values{}
	for _, p := range ps {
		if p.Name != "format" && p.Name != "page" {
			kept.Add(p.Name, p.Value)
		}
	}
	if format != "" {
		kept.Set("format", format)
	}
	if page > 1 {
		kept.Set("page", strconv.Itoa(page))
	}
	return kept.Encode()
}

// IsDigits reports whether s is a number without a sign.
func IsDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// Timestamp reads one end of a range of time; both ends share their error.
func (r *Request) Timestamp(name string, errs FieldErrors) time.Time {
	value, _ := r.Params.Get(name)
	if value = strings.TrimSpace(value); value == "" {
		return time.Time{}
	}
	at, ok := parseDateTime(value)
	if !ok {
		errs.Add("timestamp", "Enter a valid date/time.")
	}
	if at.IsZero() {
		at = at.Add(time.Microsecond) // the zero time would be no bound
	}
	return at
}

// layouts are the forms of a date and time: ISO 8601 with a blank instead of the T, with
// or without seconds and a zone.
var layouts = func() (list []string) {
	for _, clock := range []string{"15:4", "15:4:5"} {
		for _, zone := range []string{"", "Z07:00", "Z0700", "Z07"} {
			list = append(list, "2006-1-2 "+clock+zone)
		}
	}
	return list
}()

// parseDateTime reads a date and time; one without a zone is UTC. The plus of a zone that
// is not escaped arrives as a blank.
func parseDateTime(s string) (at time.Time, ok bool) {
	date, rest, _ := strings.Cut(strings.Replace(s, "T", " ", 1), " ")
	clock, zone, apart := strings.Cut(rest, " ")
	if apart && IsDigits(zone[:min(1, len(zone))]) {
		zone = "+" + zone
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, date+" "+clock+zone); err == nil {
			return at.UTC().Truncate(time.Microsecond), at.Year() > 0
		}
	}
	return at, false
}
