package catalog

import (
	"slices"
	"time"
)

// Timeline adds up the statistics of translations over time. Its zero value
// counts in days.
type Timeline struct {
	// Interval is the length of time of a point.
	Interval Interval

	steps map[int64]*Stats // sums of differences, by the first second of the interval
}

// Point is the statistics at the end of an interval.
type Point struct {
	// First and Last are the interval's days, at midnight UTC.
	First, Last time.Time
	// Stats are the statistics after the last change in the interval.
	Stats Stats
}

// Change adds a change of the statistics of one translation, from before to after.
// Changes may be added in any order.
func (l *Timeline) Change(at time.Time, before, after Stats) {
	if l.steps == nil {
		l.steps = make(map[int64]*Stats)
	}
	first := l.Interval.First(at).Unix()
	s := l.steps[first]
	if s == nil {
		s = &Stats{}
		l.steps[first] = s
	}
	s.Add(after)
	s.Subtract(before)
}

// Points returns the intervals with changes between from and to, ascending. The zero
// time is no bound. If from is after the first change, the first point is the interval
// that from is in, even without a change: a curve begins with it.
func (l *Timeline) Points(from, to time.Time) []Point {
	var firsts []int64
	for first := range l.steps {
		firsts = append(firsts, first)
	}
	slices.Sort(firsts)
	if !from.IsZero() && !to.IsZero() && to.Before(from) {
		return nil
	}
	var sum Stats
	var points []Point
	if !from.IsZero() {
		begin := l.Interval.First(from)
		n, changed := slices.BinarySearch(firsts, begin.Unix())
		for _, first := range firsts[:n] {
			sum.Add(*l.steps[first])
		}
		if n > 0 && !changed {
			points = append(points, l.point(begin, sum))
		}
		firsts = firsts[n:]
	}
	for _, first := range firsts {
		at := time.Unix(first, 0).UTC()
		if !to.IsZero() && at.After(to) {
			break
		}
		sum.Add(*l.steps[first])
		points = append(points, l.point(at, sum))
	}
	return points
}

func (l *Timeline) point(first time.Time, s Stats) Point {
	return Point{First: first, Last: l.Interval.Last(first), Stats: s}
}

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
