package api

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// changeQuery reads the parameters of change lists: action, user,
// timestamp_after, timestamp_before (facts §4, Filters), and ours, ordering and
// after_id (decision 4). As in Django REST framework, all that is wrong with
// them is told at once, before the page is looked at.
func (r *request) changeQuery(q store.ChangeQuery) (store.ChangeQuery, error) {
	errs := fieldErrors{}
	q.Actions = r.actions(errs)
	q.User, _ = r.params.get("user")
	q.From = r.timestamp("timestamp_after", errs)
	q.To = r.timestamp("timestamp_before", errs)
	q.Newest = r.newest(errs)
	q.AfterID = r.afterID(errs)
	return q, errs.err()
}

// actions are the values of the parameter action: each one a number of the
// table, none is no filter.
func (r *request) actions(errs fieldErrors) []catalog.Action {
	var actions []catalog.Action
	for _, p := range r.params {
		if p.name != "action" {
			continue
		}
		n, err := strconv.ParseInt(p.value, 10, 16)
		action := catalog.Action(n)
		if err != nil || !action.Known() || strconv.Itoa(int(action)) != p.value {
			errs.add("action", "Select a valid choice. "+p.value+" is not one of the available choices.")
			return nil
		}
		if !slices.Contains(actions, action) {
			actions = append(actions, action)
		}
	}
	return actions
}

// timestamp reads one end of the range; both ends share their error.
func (r *request) timestamp(name string, errs fieldErrors) time.Time {
	value, _ := r.params.get(name)
	if value = strings.TrimSpace(value); value == "" {
		return time.Time{}
	}
	at, ok := parseDateTime(value)
	if !ok {
		errs.add("timestamp", "Enter a valid date/time.")
	}
	return at
}

func (r *request) newest(errs fieldErrors) bool {
	switch ordering, _ := r.params.get("ordering"); ordering {
	case "", "id":
	case "-id":
		return true
	default:
		errs.add("ordering", "Select a valid choice: id or -id.")
	}
	return false
}

func (r *request) afterID(errs fieldErrors) int64 {
	after, given := r.params.get("after_id")
	if !given {
		return 0
	}
	id, err := strconv.ParseInt(after, 10, 64)
	if err != nil {
		errs.add("after_id", "A valid integer is required.")
	}
	return max(id, 0)
}

// dateTime is the form of a date and time: ISO 8601, or with a blank for the T;
// seconds, their fraction and the zone may be missing. Where a zone's plus was
// not escaped in the URL it arrives as a blank.
var dateTime = regexp.MustCompile(`^(\d{4})-(\d{1,2})-(\d{1,2})[T ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,6})\d*)?)?(?: ?(Z|[+-]\d{2}(?::?\d{2})?)| (\d{2}:?\d{2}))?$`)

// parseDateTime reads a date and time; one without a zone is UTC, ours.
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

// zone is how far a zone is ahead of UTC: "Z", "+02", "+02:00", "-0230", or
// digits whose plus was lost.
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

// fieldErrors collects what is wrong with parameters: the first error of each.
type fieldErrors map[string]string

func (e fieldErrors) add(field, text string) {
	if _, ok := e[field]; !ok {
		e[field] = text
	}
}

// err is a problem with all of them, nil for none.
func (e fieldErrors) err() error {
	if len(e) == 0 {
		return nil
	}
	p := &problem{status: 400, fields: e}
	for _, field := range slices.Sorted(maps.Keys(e)) {
		p.detail += field + ": " + e[field] + " "
	}
	return p
}
