package wire

import (
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// Statistics are the counts that all statistics share
// (docs/compatibility.md#statistics).
type Statistics struct {
	Total         int64   `json:"total"`
	TotalWords    int64   `json:"total_words"`
	TotalChars    int64   `json:"total_chars"`
	LastChange    *string `json:"last_change"`
	RecentChanges int64   `json:"recent_changes"`
	progress
	Failing        int64   `json:"failing"`
	FailingPercent Percent `json:"failing_percent"`
	// Approved and the next five are 0: PO files have no such state
	// (docs/compatibility.md#states).
	Approved             int64   `json:"approved"`
	ApprovedPercent      Percent `json:"approved_percent"`
	ApprovedWords        int64   `json:"approved_words"`
	ApprovedWordsPercent Percent `json:"approved_words_percent"`
	ApprovedChars        int64   `json:"approved_chars"`
	ApprovedCharsPercent Percent `json:"approved_chars_percent"`
	readOnly
	Suggestions int64 `json:"suggestions"`
	Comments    int64 `json:"comments"`
}

type progress struct {
	Translated             int64   `json:"translated"`
	TranslatedWords        int64   `json:"translated_words"`
	TranslatedPercent      Percent `json:"translated_percent"`
	TranslatedWordsPercent Percent `json:"translated_words_percent"`
	TranslatedChars        int64   `json:"translated_chars"`
	TranslatedCharsPercent Percent `json:"translated_chars_percent"`
	Fuzzy                  int64   `json:"fuzzy"`
	FuzzyPercent           Percent `json:"fuzzy_percent"`
	FuzzyWords             int64   `json:"fuzzy_words"`
	FuzzyWordsPercent      Percent `json:"fuzzy_words_percent"`
	FuzzyChars             int64   `json:"fuzzy_chars"`
	FuzzyCharsPercent      Percent `json:"fuzzy_chars_percent"`
}

func newProgress(st *catalog.Stats) progress {
	units, words, chars := st.Total.Units, st.Total.Words, st.Total.Chars
	return progress{
		Translated: st.Translated.Units, TranslatedPercent: shareDone(st.Translated.Units, units),
		TranslatedWords: st.Translated.Words, TranslatedWordsPercent: shareDone(st.Translated.Words, words),
		TranslatedChars: st.Translated.Chars, TranslatedCharsPercent: shareDone(st.Translated.Chars, chars),
		Fuzzy: st.Fuzzy.Units, FuzzyPercent: share(st.Fuzzy.Units, units),
		FuzzyWords: st.Fuzzy.Words, FuzzyWordsPercent: share(st.Fuzzy.Words, words),
		FuzzyChars: st.Fuzzy.Chars, FuzzyCharsPercent: share(st.Fuzzy.Chars, chars),
	}
}

type readOnly struct {
	Readonly             int64   `json:"readonly"`
	ReadonlyPercent      Percent `json:"readonly_percent"`
	ReadonlyWords        int64   `json:"readonly_words"`
	ReadonlyWordsPercent Percent `json:"readonly_words_percent"`
	ReadonlyChars        int64   `json:"readonly_chars"`
	ReadonlyCharsPercent Percent `json:"readonly_chars_percent"`
}

func newReadOnly(st *catalog.Stats) readOnly {
	units, words, chars := st.Total.Units, st.Total.Words, st.Total.Chars
	return readOnly{
		Readonly: st.ReadOnly.Units, ReadonlyPercent: share(st.ReadOnly.Units, units),
		ReadonlyWords: st.ReadOnly.Words, ReadonlyWordsPercent: share(st.ReadOnly.Words, words),
		ReadonlyChars: st.ReadOnly.Chars, ReadonlyCharsPercent: share(st.ReadOnly.Chars, chars),
	}
}

// TranslationStatistics are the statistics of one translation. The keys after
// TranslateURL are of Weblate 4.x, whose clients read them.
type TranslationStatistics struct {
	Statistics
	Code         string  `json:"code"`
	Name         string  `json:"name"`
	URL          string  `json:"url"`
	TranslateURL string  `json:"translate_url"`
	Component    string  `json:"component"`
	Project      string  `json:"project"`
	URLTranslate string  `json:"url_translate"`
	LastAuthor   *string `json:"last_author"`
	// Missing is ours: the strings of the template that the file lacks.
	Missing int64 `json:"missing"`
}

// SumStatistics are the statistics of a project, of one language of it, or of a language.
type SumStatistics struct {
	Statistics
	Code         string `json:"code,omitempty"` // of a project's language
	Name         string `json:"name"`
	URL          string `json:"url"`
	TranslateURL string `json:"translate_url,omitempty"` // not of a language
	URLTranslate string `json:"url_translate,omitempty"`
	// Missing is ours: the strings of the templates that the files lack.
	Missing           int64 `json:"missing"`
	*UniqueStatistics       // of a project
}

// UniqueStatistics count a string that is in several components of a project
// once for each language; ours.
type UniqueStatistics struct {
	Total      int64 `json:"unique_total"`
	TotalWords int64 `json:"unique_total_words"`
	TotalChars int64 `json:"unique_total_chars"`
	uniqueProgress
}

// uniqueProgress is a progress with other keys.
type uniqueProgress struct {
	Translated             int64   `json:"unique_translated"`
	TranslatedWords        int64   `json:"unique_translated_words"`
	TranslatedPercent      Percent `json:"unique_translated_percent"`
	TranslatedWordsPercent Percent `json:"unique_translated_words_percent"`
	TranslatedChars        int64   `json:"unique_translated_chars"`
	TranslatedCharsPercent Percent `json:"unique_translated_chars_percent"`
	Fuzzy                  int64   `json:"unique_fuzzy"`
	FuzzyPercent           Percent `json:"unique_fuzzy_percent"`
	FuzzyWords             int64   `json:"unique_fuzzy_words"`
	FuzzyWordsPercent      Percent `json:"unique_fuzzy_words_percent"`
	FuzzyChars             int64   `json:"unique_fuzzy_chars"`
	FuzzyCharsPercent      Percent `json:"unique_fuzzy_chars_percent"`
}

// NewUniqueStatistics makes the counts of what is counted once.
func NewUniqueStatistics(st *catalog.Stats) *UniqueStatistics {
	return &UniqueStatistics{st.Total.Units, st.Total.Words, st.Total.Chars, uniqueProgress(newProgress(st))}
}

// NewStatistics makes the counts that all statistics share. last is zero if there
// was no change; recent is the number of recent changes.
func NewStatistics(st *catalog.Stats, last time.Time, recent int64) Statistics {
	units, words, chars := st.Total.Units, st.Total.Words, st.Total.Chars
	return Statistics{
		Total: units, TotalWords: words, TotalChars: chars, RecentChanges: recent,
		progress: newProgress(st), readOnly: newReadOnly(st),
		Failing: st.Failing.Units, FailingPercent: share(st.Failing.Units, units),
		Suggestions: st.Suggestions, Comments: st.Comments, LastChange: TimeOrNull(last, ChangeTime),
	}
}

// StatisticsPoint is the statistics at the end of an interval; ours. Its keys
// are those keys of Statistics that have a history.
type StatisticsPoint struct {
	First      string `json:"first_day"`
	Last       string `json:"last_day"`
	Total      int64  `json:"total"`
	TotalWords int64  `json:"total_words"`
	TotalChars int64  `json:"total_chars"`
	progress
	readOnly
}

// NewStatisticsPoint makes the object of a point in time.
func NewStatisticsPoint(p *catalog.Point) StatisticsPoint {
	total := &p.Stats.Total
	return StatisticsPoint{
		First: p.First.Format(time.DateOnly), Last: p.Last.Format(time.DateOnly),
		Total: total.Units, TotalWords: total.Words, TotalChars: total.Chars,
		progress: newProgress(&p.Stats), readOnly: newReadOnly(&p.Stats),
	}
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
