package query

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// events are the fields with a time.
var events = []Event{Added, Changed, ChangeTime, LastChanged, SourceChanged}

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

// precisions are how times are written, and the end of the period that each names.
var precisions = []struct {
	layout string
	end    func(from time.Time) time.Time
}{
	{"2006", func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }},
	{"2006-1", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }},
	{"2006-1-2", func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }},
	{"2006-1-2T15:4", func(t time.Time) time.Time { return t.Add(time.Minute) }},
	{"2006-1-2T15:4:5", func(t time.Time) time.Time { return t.Add(time.Second) }},
}

func period(s string) (from, to time.Time, ok bool) {
	s = strings.ToUpper(strings.TrimSpace(s))
	if date, clock, spaced := strings.Cut(s, " "); spaced && !strings.Contains(date, "T") {
		s = date + "T" + clock
	}
	s = strings.Join(strings.Fields(s), "") // before the zone
	for _, p := range precisions {
		zones := []string{""}
		if strings.Contains(p.layout, ":") {
			zones = []string{"", "Z07:00", "Z0700", "Z07"}
		}
		for _, zone := range zones {
			from, err := time.Parse(p.layout+zone, s)
			if err != nil || from.Year() < 1 || from.Year() > 9998 {
				continue
			}
			if strings.ContainsAny(s, ".,") {
				from = from.Truncate(time.Microsecond)
				return from.UTC(), from.Add(time.Microsecond).UTC(), true
			}
			return from.UTC(), p.end(from).UTC(), true
		}
	}
	return from, to, false
}
