package wire

import (
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// total adds the number of strings, words and characters of all.
func (o Object) total(prefix string, n *catalog.Count) Object {
	return append(o, prefix+"total", n.Units, prefix+"total_words", n.Words, prefix+"total_chars", n.Chars)
}

// counted adds what some of all are, and their percentages.
func (o Object) counted(key string, n, of *catalog.Count) Object {
	return append(o, key, n.Units, key+"_percent", share(n.Units, of.Units), key+"_words", n.Words,
		key+"_words_percent", share(n.Words, of.Words), key+"_chars", n.Chars, key+"_chars_percent", share(n.Chars, of.Chars))
}

// progress adds what is translated and what needs editing.
func (o Object) progress(prefix string, st *catalog.Stats) Object {
	n, of := &st.Translated, &st.Total
	key := prefix + "translated"
	o = append(o, key, n.Units, key+"_words", n.Words, key+"_percent", shareDone(n.Units, of.Units),
		key+"_words_percent", shareDone(n.Words, of.Words), key+"_chars", n.Chars, key+"_chars_percent", shareDone(n.Chars, of.Chars))
	return o.counted(prefix+"fuzzy", &st.Fuzzy, of)
}

// NewStatistics makes the counts that all statistics share (docs/compatibility.md#statistics).
// last is zero if there was no change; recent is the number of recent changes. Nothing is
// approved: PO files have no such state (docs/compatibility.md#states).
func NewStatistics(st *catalog.Stats, last time.Time, recent int64) Object {
	o := Object{}.total("", &st.Total)
	o = append(o, "last_change", TimeOrNull(last, ChangeTime), "recent_changes", recent).progress("", st)
	o = append(o, "failing", st.Failing.Units, "failing_percent", share(st.Failing.Units, st.Total.Units))
	o = o.counted("approved", &catalog.Count{}, &st.Total).counted("readonly", &st.ReadOnly, &st.Total)
	return append(o, "suggestions", st.Suggestions, "comments", st.Comments)
}

// Unique adds the counts of a project in which a string that is in several components counts
// once for each language; ours.
func (o Object) Unique(st *catalog.Stats) Object {
	return o.total("unique_", &st.Total).progress("unique_", st)
}

// NewStatisticsPoint makes the statistics at the end of an interval; ours. Its keys are those
// of statistics that have a history.
func NewStatisticsPoint(p *catalog.Point) Object {
	o := Object{"first_day", p.First.Format(time.DateOnly), "last_day", p.Last.Format(time.DateOnly)}.total("", &p.Stats.Total)
	return o.progress("", &p.Stats).counted("readonly", &p.Stats.ReadOnly, &p.Stats.Total)
}

// MatrixCell is one component of a project in one language, counted as pages for people
// do: what the file lacks is not translated. Ours.
type MatrixCell struct {
	Component         string   `json:"component"`
	Language          string   `json:"language"`
	Total             int64    `json:"total"`
	Translated        int64    `json:"translated"`
	TranslatedPercent Percent  `json:"translated_percent"`
	Fuzzy             int64    `json:"fuzzy"`
	Failing           int64    `json:"failing"`
	Missing           int64    `json:"missing"`
	WordsLeft         int64    `json:"words_left"`
	Change30Days      *Percent `json:"translated_percent_30_days_ago"`
	LastChange        *string  `json:"last_change"`
	LastAuthor        *string  `json:"last_author"`
	URL               string   `json:"url"`
	WebURL            string   `json:"web_url"`
}

// NewMatrixCell makes a cell. source is the source translation, past are the statistics
// 30 days ago, or nil.
func NewMatrixCell(l Links, t *catalog.Translation, project, component string, source *catalog.Translation, past *catalog.Stats) MatrixCell {
	p := catalog.NewProgress(t, source)
	c := MatrixCell{
		Component: component, Language: t.Language, Total: p.Total, Translated: p.Translated,
		TranslatedPercent: Percent(p.Percent()), Fuzzy: p.Fuzzy, Failing: t.Stats.Failing.Units,
		Missing: p.Missing, WordsLeft: p.WordsLeft,
		LastChange: TimeOrNull(t.LastChange, UnitTime), LastAuthor: OrNull(t.LastAuthor),
		URL: l.API(TranslationPath(project, component, t.Language)), WebURL: l.Web(Path("projects", project, component, t.Language)),
	}
	if past != nil {
		was := p.Past(t, past)
		before := Percent(was.Percent())
		c.Change30Days = &before
	}
	return c
}

// Contributor is an author with the number of entries in a time; ours.
type Contributor struct {
	Username string  `json:"username"`
	FullName string  `json:"full_name"`
	Language *string `json:"language"`
	Updated  int64   `json:"updated"`
	Added    int64   `json:"added"`
	Removed  int64   `json:"removed"`
	First    string  `json:"first"`
	Last     string  `json:"last"`
	URL      string  `json:"url"`
}

// Credit is an author in a list of credits. The address is empty: repositories' mail
// addresses are not shown.
type Credit struct {
	Email       string `json:"email"`
	FullName    string `json:"full_name"`
	ChangeCount int64  `json:"change_count"`
}

// CheckSum is a quality check with the number of strings that fail it; ours.
type CheckSum struct {
	Check       string `json:"check"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Units       int64  `json:"units"`
	UnitsURL    string `json:"units_url"`
}
