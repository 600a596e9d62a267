package catalog

import "time"

// Interval is a unit of time that statistics are shown in: the parameter
// interval of the API. Intervals begin at midnight UTC.
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

// First is the day that the interval with at in it begins with, at midnight UTC.
// An interval that is not known is a day.
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

// Last is the last day of the interval with at in it, at midnight UTC.
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
