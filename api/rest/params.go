package rest

import (
	"net/url"
	"regexp"
	"sort"
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
	kept := make(Params, 0, len(ps)+2)
	for _, p := range ps {
		if p.Name != "format" && p.Name != "page" {
			kept = append(kept, p)
		}
	}
	if format != "" {
		kept = append(kept, Param{"format", format})
	}
	if page > 1 {
		kept = append(kept, Param{"page", strconv.Itoa(page)})
	}
	sort.SliceStable(kept, func(i, j int) bool { return kept[i].Name < kept[j].Name })
	var b strings.Builder
	for i, p := range kept {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(p.Name))
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(p.Value))
	}
	return b.String()
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

// dateTime is the form of a date and time: ISO 8601, or with a blank instead of
// the T; seconds, their fraction and the zone are optional. An unescaped plus
// of a zone arrives as a blank.
var dateTime = regexp.MustCompile(`^(\d{4})-(\d{1,2})-(\d{1,2})[T ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,6})\d*)?)?(?: ?(Z|[+-]\d{2}(?::?\d{2})?)| (\d{2}:?\d{2}))?$`)

// parseDateTime reads a date and time; one without a zone is UTC.
func parseDateTime(s string) (at time.Time, ok bool) {
	m := dateTime.FindStringSubmatch(s)
	if m == nil {
		return at, false
	}
	var n [8]int
	for i := 1; i <= 6; i++ {
		n[i], _ = strconv.Atoi(m[i]) // digits or nothing
	}
	micros, _ := strconv.Atoi((m[7] + "000000")[:6])
	at = time.Date(n[1], time.Month(n[2]), n[3], n[4], n[5], n[6], micros*1000, time.UTC)
	exists := at.Year() == n[1] && int(at.Month()) == n[2] && at.Day() == n[3] && at.Hour() == n[4] && at.Minute() == n[5] && at.Second() == n[6]
	offset, valid := zone(m[8], m[9])
	return at.Add(-offset), exists && valid && n[1] > 0
}

// zone returns how far a zone is ahead of UTC: "Z", "+02", "+02:00", "-0230",
// or digits whose plus was lost.
func zone(signed, lost string) (ahead time.Duration, ok bool) {
	if lost != "" {
		signed = "+" + lost
	}
	if signed == "" || signed == "Z" {
		return 0, true
	}
	digits := strings.ReplaceAll(signed[1:], ":", "")
	hours, _ := strconv.Atoi(digits[:2])
	minutes, _ := strconv.Atoi((digits + "00")[2:4])
	ahead = time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if signed[0] == '-' {
		ahead = -ahead
	}
	return ahead, hours < 24 && minutes < 60
}
