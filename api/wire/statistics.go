package wire

import (
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// total adds the number of strings, words and characters of all.
func (o Object) total(n *catalog.Count) Object {
	return append(o, "total", n.Units, "total_words", n.Words, "total_chars", n.Chars)
}

// counted adds what some of all are, and their percentages.
func (o Object) counted(key string, n, of *catalog.Count) Object {
	return append(o, key, n.Units, key+"_percent", share(n.Units, of.Units), key+"_words", n.Words,
		key+"_words_percent", share(n.Words, of.Words), key+"_chars", n.Chars, key+"_chars_percent", share(n.Chars, of.Chars))
}

// progress adds what is translated and what needs editing.
func (o Object) progress(st *catalog.Stats) Object {
	n, of := &st.Translated, &st.Total
	o = append(o, "translated", n.Units, "translated_words", n.Words, "translated_percent", shareDone(n.Units, of.Units),
		"translated_words_percent", shareDone(n.Words, of.Words), "translated_chars", n.Chars, "translated_chars_percent", shareDone(n.Chars, of.Chars))
	return o.counted("fuzzy", &st.Fuzzy, of)
}

// NewStatistics makes the counts that all statistics share (docs/compatibility.md#statistics).
// last is zero if there was no change; recent is the number of recent changes. Nothing is
// approved: PO files have no such state (docs/compatibility.md#states).
func NewStatistics(st *catalog.Stats, last time.Time, recent int64) Object {
	o := Object{}.total(&st.Total)
	o = append(o, "last_change", TimeOrNull(last, ChangeTime), "recent_changes", recent).progress(st)
	o = append(o, "failing", st.Failing.Units, "failing_percent", share(st.Failing.Units, st.Total.Units))
	o = o.counted("approved", &catalog.Count{}, &st.Total).counted("readonly", &st.ReadOnly, &st.Total)
	return append(o, "suggestions", st.Suggestions, "comments", st.Comments)
}

// NewStatisticsPoint makes the statistics at the end of an interval; ours. Its keys are those
// of statistics that have a history.
func NewStatisticsPoint(p *catalog.Point) Object {
	o := Object{"first_day", p.First.Format(time.DateOnly), "last_day", p.Last.Format(time.DateOnly)}.total(&p.Stats.Total)
	return o.progress(&p.Stats).counted("readonly", &p.Stats.ReadOnly, &p.Stats.Total)
}

// NewMatrixCell makes one component of a project in one language, counted as pages for people
// do: what the file lacks is not translated; ours. source is the source translation, past are the
// statistics 30 days ago, or nil.
func NewMatrixCell(l Links, t *catalog.Translation, project, component string, source *catalog.Translation, past *catalog.Stats) Object {
	p := catalog.NewProgress(t, source)
	var before *Percent
	if past != nil {
		was := Percent(p.Past(t, past).Percent())
		before = &was
	}
	return Object{
		"component", component, "language", t.Language, "total", p.Total, "translated", p.Translated, "translated_percent", Percent(p.Percent()),
		"fuzzy", p.Fuzzy, "failing", t.Stats.Failing.Units, "missing", p.Missing, "words_left", p.WordsLeft,
		"translated_percent_30_days_ago", before, "last_change", TimeOrNull(t.LastChange, UnitTime), "last_author", OrNull(t.LastAuthor),
		"url", l.API(TranslationPath(project, component, t.Language)), "web_url", l.Web(Path("projects", project, component, t.Language)),
	}
}

// Credit is an author in a list of credits. The address is empty: repositories' are not shown.
type Credit struct {
	Email       string `json:"email"`
	FullName    string `json:"full_name"`
	ChangeCount int64  `json:"change_count"`
}
