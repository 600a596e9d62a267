package rest

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

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
