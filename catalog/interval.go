package catalog

import "time"

// Interval is a unit of time of statistics: the parameter interval of the API.
// Intervals begin at midnight UTC.
type Interval string

// The intervals.
const (
	IntervalDay Interval = "day"
	// IntervalWeek is a week of ISO 8601: it begins on Monday.
	IntervalWeek  Interval = "week"
	IntervalMonth Interval = "month"
)

// Known reports whether i is one of the intervals.
func (i Interval) Known() bool {
	return i == IntervalDay || i == IntervalWeek || i == IntervalMonth
}

// First returns the first day of the interval that at is in, at midnight UTC. An
// unknown interval is a day.
func (i Interval) First(at time.Time) time.Time {
	at = at.UTC()
	year, month, day := at.Date()
	switch i {
	case IntervalWeek:
		day -= (int(at.Weekday()) + 6) % 7 // time.Weekday counts from Sunday
	case IntervalMonth:
		day = 1
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// Last returns the last day of the interval that at is in, at midnight UTC.
func (i Interval) Last(at time.Time) time.Time {
	first := i.First(at)
	switch i {
	case IntervalWeek:
		return first.AddDate(0, 0, 6)
	case IntervalMonth:
		return first.AddDate(0, 1, -1)
	}
	return first
}
