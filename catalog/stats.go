package catalog

import (
	"maps"
	"slices"
	"time"
)

// Count is a number of units with the words and characters of their sources.
type Count struct {
	// Units is the number of units.
	Units int64
	// Words is the sum of their num_words.
	Words int64
	// Chars is the sum of the code points of their sources.
	Chars int64
}

// Add adds the counts of another set of units.
func (c *Count) Add(o Count) { c.add(o, 1) }

// Subtract takes the counts of a set of units away.
func (c *Count) Subtract(o Count) { c.add(o, -1) }

func (c *Count) add(o Count, times int64) {
	c.Units += times * o.Units
	c.Words += times * o.Words
	c.Chars += times * o.Chars
}

// Stats are the statistics of a set of units (docs/compatibility.md#statistics). The
// zero value belongs to the empty set.
type Stats struct {
	// Total counts all units.
	Total Count
	// Translated counts units of state 20 and above, read-only ones included.
	Translated Count
	// Fuzzy counts units that need editing.
	Fuzzy Count
	// ReadOnly counts units of state 100.
	ReadOnly Count
	// Failing counts units with at least one failing check.
	Failing Count
	// Suggestions and Comments are the numbers of units with at least one. The
	// store counts them; statistics over time leave them out.
	Suggestions, Comments int64
}

// AddUnit counts one more unit.
func (s *Stats) AddUnit(u *Unit) {
	n := Count{Units: 1, Words: int64(u.Words), Chars: int64(u.Chars)}
	s.Total.Add(n)
	if u.State.Translated() {
		s.Translated.Add(n)
	}
	if u.State.Fuzzy() {
		s.Fuzzy.Add(n)
	}
	if u.State == StateReadOnly {
		s.ReadOnly.Add(n)
	}
}

// Add adds the statistics of another set of units.
func (s *Stats) Add(o Stats) { s.add(&o, 1) }

// Subtract takes the statistics of a set of units away.
func (s *Stats) Subtract(o Stats) { s.add(&o, -1) }

func (s *Stats) add(o *Stats, times int64) {
	s.Total.add(o.Total, times)
	s.Translated.add(o.Translated, times)
	s.Fuzzy.add(o.Fuzzy, times)
	s.ReadOnly.add(o.ReadOnly, times)
	s.Failing.add(o.Failing, times)
	s.Suggestions += times * o.Suggestions
	s.Comments += times * o.Comments
}

// Tenths is a percentage in tenths of a percent: 958 is 95.8 %.
type Tenths int

// Percent returns n of total, cut after one decimal
// (docs/compatibility.md#percentages). If total is 0 it returns empty: pass 1000 for
// a measure of completeness, else 0.
func Percent(n, total int64, empty Tenths) Tenths {
	if total == 0 {
		return empty
	}
	return Tenths(1000 * n / total)
}

// Against compares the units of a translation with the template of its component
// (docs/compatibility.md#missing-strings). Without a template it is zero, as it is for
// a translation without a string that the template lacks.
type Against struct {
	// Extra counts units whose string the template does not have in any form. Units of
	// the source translation that are not the template's are all extra.
	Extra, ExtraWords int64
	// Changed counts units whose string the template has with another msgid_plural or
	// without one.
	Changed int64
	// ChangedTranslated and ChangedFuzzy are those of them that are translated or need
	// editing in the file.
	ChangedTranslated, ChangedTranslatedWords, ChangedFuzzy int64
}

// Add adds n units of one string with that many words: of a changed one, or an extra one.
func (a *Against) Add(n, words int64, changed bool, state State) {
	if !changed {
		a.Extra += n
		a.ExtraWords += n * words
		return
	}
	a.Changed += n
	if state.Translated() {
		a.ChangedTranslated += n
		a.ChangedTranslatedWords += n * words
	}
	if state.Fuzzy() {
		a.ChangedFuzzy += n
	}
}

// Progress is how far a translation is, or several are, as it is counted for people:
// against the template (docs/compatibility.md#missing-strings).
type Progress struct {
	// Total is the number of strings: those of the template, and those that only the
	// file has. Without a template it is the number of strings of the file.
	Total int64
	// Translated and Fuzzy are those that are translated and need editing.
	Translated, Fuzzy int64
	// Missing are those that the file does not have, and Changed those that it has with
	// another msgid_plural: neither is translated.
	Missing, Changed int64
	// Words is the number of words of all, WordsLeft that of those not translated.
	Words, WordsLeft int64
	// Files is the number of translations, Bare that of those without a template.
	Files, Bare int64
}

// NewProgress counts a translation of a component with this source translation.
func NewProgress(t, source *Translation) Progress {
	p := Progress{Total: t.Stats.Total.Units, Translated: t.Stats.Translated.Units, Fuzzy: t.Stats.Fuzzy.Units, Words: t.Stats.Total.Words, Files: 1}
	left := t.Stats.Translated.Words
	switch {
	case t.IsSource:
	case !source.HasTemplate:
		p.Bare = 1
	default:
		a, template := &t.Against, source.Strings()
		p.Missing = max(0, template.Units-p.Total+a.Extra) // an older version beside this one does not count
		p.Changed = a.Changed
		p.Total, p.Words = template.Units+a.Extra, template.Words+a.ExtraWords
		p.Translated, p.Fuzzy = p.Translated-a.ChangedTranslated, p.Fuzzy-a.ChangedFuzzy
		left -= a.ChangedTranslatedWords
	}
	p.WordsLeft = max(0, p.Words-left)
	return p
}

// Add adds another set of translations.
func (p *Progress) Add(o Progress) {
	p.Total += o.Total
	p.Translated += o.Translated
	p.Fuzzy += o.Fuzzy
	p.Missing += o.Missing
	p.Changed += o.Changed
	p.Words += o.Words
	p.WordsLeft += o.WordsLeft
	p.Files += o.Files
	p.Bare += o.Bare
}

// Past estimates the progress of a translation t, which is p now, at a time when its
// statistics were past: against the template of today, since the templates of the past are
// not kept.
func (p Progress) Past(t *Translation, past *Stats) Progress {
	was := Progress{Total: past.Total.Units, Translated: max(0, past.Translated.Units-t.Against.ChangedTranslated), Fuzzy: past.Fuzzy.Units}
	if p.Missing > 0 { // the file lacked strings then, too
		was.Total = max(was.Total, p.Total)
	}
	return was
}

// Left is the number of strings that are not translated.
func (p Progress) Left() int64 { return max(0, p.Total-p.Translated) }

// WithoutTemplate reports whether none of the translations has a template.
func (p Progress) WithoutTemplate() bool { return p.Files > 0 && p.Bare == p.Files }

// Percent is how much is translated; 0 without strings (docs/compatibility.md#percentages).
func (p Progress) Percent() Tenths { return Percent(p.Translated, p.Total, 0) }

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
	firsts := slices.Sorted(maps.Keys(l.steps))
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
