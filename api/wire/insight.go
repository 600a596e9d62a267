package wire

import "github.com/repoglot/repoglot/catalog"

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
		LastChange: timeOrNull(t.LastChange), LastAuthor: OrNull(t.LastAuthor),
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
