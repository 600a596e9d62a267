package query

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// eventOf returns the event of a field, or "".
func eventOf(field string) Event {
	switch e := Event(field); e {
	case Added, Changed, ChangeTime, LastChanged, SourceChanged:
		return e
	}
	return ""
}

// timeTerm parses a comparison with a time. A year, a month or a day means all of
// it.
func (p *parser) timeTerm(t *token) (Expr, error) {
	if t.value.regexp {
		return nil, p.failf(t.valuePos, "%s takes no regular expression", t.field)
	}
	from, to, ok := p.period(t.value.text)
	if ok && t.value.ranged {
		ok = t.op == ":" || t.op == ":="
		var end bool
		_, to, end = p.period(t.value.end)
		ok = ok && end
	}
	if !ok {
		return nil, p.failf(t.valuePos, "Invalid timestamp: %s", quote(t.value.written))
	}
	e := Time{Event: Event(t.field)}
	switch t.op {
	case ":<", ":<=": // the zero time would be no bound
		if t.op == ":<" && from.IsZero() || to.IsZero() {
			return None, nil
		}
	}
	switch t.op {
	case ":<":
		e.To = from
	case ":<=":
		e.To = to
	case ":>":
		e.From = to
	case ":>=":
		e.From = from
	default:
		if e.From, e.To = from, to; !from.Before(to) {
			return None, nil
		}
	}
	return e, nil
}

var timeFormat = regexp.MustCompile(`^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[Tt ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,9}))?)?\s*([Zz]|[+-]\d{2}(?::?\d{2})?)?)?)?)?$`)

// daysAgo are the days that are named by how long ago they were.
var daysAgo = regexp.MustCompile(`^(an?|\d{1,6}) (day|week|month|year)s? ago$`)

// named is the day of UTC that a text names as today, yesterday or "3 days ago".
func (p *parser) named(s string) (day time.Time, ok bool) {
	s = strings.ToLower(strings.Join(strings.Fields(s), " "))
	switch s {
	case "today":
		s = "0 days ago"
	case "yesterday":
		s = "1 day ago"
	}
	m := daysAgo.FindStringSubmatch(s)
	if m == nil {
		return day, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		n = 1
	}
	y, month, d := p.now.UTC().Date()
	switch m[2] {
	case "day":
		d -= n
	case "week":
		d -= 7 * n
	case "month":
		month -= time.Month(n)
	case "year":
		y -= n
	}
	day = time.Date(y, month, d, 0, 0, 0, 0, time.UTC)
	return day, day.Year() > 0
}

// period is the range of times with the precision of the text. A time without a
// zone is UTC.
func (p *parser) period(s string) (from, to time.Time, ok bool) {
	if day, ok := p.named(s); ok {
		return day, day.AddDate(0, 0, 1), true
	}
	return period(s)
}

func period(s string) (from, to time.Time, ok bool) {
	m := timeFormat.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return from, to, false
	}
	n := [7]int{0, 0, 1, 1}
	for i := 1; i <= 6; i++ {
		if m[i] != "" {
			n[i], _ = strconv.Atoi(m[i]) // digits
		}
	}
	micros, _ := strconv.Atoi((m[7] + "000000")[:6])
	from = time.Date(n[1], time.Month(n[2]), n[3], n[4], n[5], n[6], micros*1000, time.UTC)
	exists := n[1] > 0 && n[1] < 9999 && int(from.Month()) == n[2] && from.Day() == n[3] && from.Hour() == n[4] && from.Minute() == n[5] && from.Second() == n[6]
	switch {
	case m[2] == "":
		to = from.AddDate(1, 0, 0)
	case m[3] == "":
		to = from.AddDate(0, 1, 0)
	case m[4] == "":
		to = from.AddDate(0, 0, 1)
	case m[6] == "":
		to = from.Add(time.Minute)
	case m[7] == "":
		to = from.Add(time.Second)
	default:
		to = from.Add(time.Microsecond)
	}
	offset, valid := zone(m[8])
	return from.Add(-offset), to.Add(-offset), exists && valid
}

// zone is the offset of a zone from UTC.
func zone(s string) (time.Duration, bool) {
	if s == "" || s == "Z" || s == "z" {
		return 0, true
	}
	digits := strings.ReplaceAll(s[1:], ":", "") + "00"
	hours, _ := strconv.Atoi(digits[:2])
	minutes, _ := strconv.Atoi(digits[2:4])
	offset := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if s[0] == '-' {
		offset = -offset
	}
	return offset, hours < 24 && minutes < 60
}
