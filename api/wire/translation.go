package wire

import (
	"bytes"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
)

// Translation is a translation.
type Translation struct {
	Language             *Language  `json:"language"`
	Component            *Component `json:"component,omitempty"` // left out in the list of a component
	LanguageCode         string     `json:"language_code"`
	ID                   int64      `json:"id"`
	Filename             string     `json:"filename"`
	Revision             string     `json:"revision"`
	WebURL               string     `json:"web_url"`
	ShareURL             string     `json:"share_url"`
	TranslateURL         string     `json:"translate_url"`
	URL                  string     `json:"url"`
	IsTemplate           bool       `json:"is_template"`
	IsSource             bool       `json:"is_source"`
	Total                int64      `json:"total"`
	TotalWords           int64      `json:"total_words"`
	Translated           int64      `json:"translated"`
	TranslatedWords      int64      `json:"translated_words"`
	TranslatedPercent    Percent    `json:"translated_percent"`
	Fuzzy                int64      `json:"fuzzy"`
	FuzzyWords           int64      `json:"fuzzy_words"`
	FuzzyPercent         Percent    `json:"fuzzy_percent"`
	FailingChecks        int64      `json:"failing_checks"`
	FailingChecksWords   int64      `json:"failing_checks_words"`
	FailingChecksPercent Percent    `json:"failing_checks_percent"`
	HaveSuggestion       int64      `json:"have_suggestion"`
	HaveComment          int64      `json:"have_comment"`
	LastChange           *string    `json:"last_change"`
	LastAuthor           *string    `json:"last_author"`
	RepositoryURL        string     `json:"repository_url"`
	FileURL              string     `json:"file_url"`
	StatisticsURL        string     `json:"statistics_url"`
	ChangesListURL       string     `json:"changes_list_url"`
	UnitsListURL         string     `json:"units_list_url"`
	// Missing is ours: the strings of the template that the file lacks.
	Missing int64 `json:"missing"`
}

// NewTranslation makes the object of a translation of the named component, whose source
// translation is source; within is nil in the list of a component.
func NewTranslation(l Links, language *Language, t, source *catalog.Translation, project, component string, within *Component) *Translation {
	p := TranslationPath(project, component, t.Language)
	st := &t.Stats
	o := &Translation{
		Language: language, Component: within,
		LanguageCode: t.FileCode, ID: t.ID, Filename: t.Filename, Revision: t.Revision,
		WebURL:       l.Web(Path("projects", project, component, t.Language)),
		ShareURL:     l.Web(Path("engage", project, t.Language)),
		TranslateURL: l.Web(TranslatePath(project, component, t.Language)),
		URL:          l.API(p),
		IsSource:     t.IsSource,
		Total:        st.Total.Units, TotalWords: st.Total.Words,
		Translated: st.Translated.Units, TranslatedWords: st.Translated.Words,
		TranslatedPercent: shareDone(st.Translated.Units, st.Total.Units),
		Fuzzy:             st.Fuzzy.Units, FuzzyWords: st.Fuzzy.Words,
		FuzzyPercent:  share(st.Fuzzy.Units, st.Total.Units),
		FailingChecks: st.Failing.Units, FailingChecksWords: st.Failing.Words,
		FailingChecksPercent: share(st.Failing.Units, st.Total.Units),
		HaveSuggestion:       st.Suggestions, HaveComment: st.Comments,
		RepositoryURL: l.API(p + "repository/"), FileURL: l.API(p + "file/"),
		StatisticsURL: l.API(p + "statistics/"), ChangesListURL: l.API(p + "changes/"),
		UnitsListURL: l.API(p + "units/"), Missing: catalog.NewProgress(t, source).Missing,
	}
	if !t.LastChange.IsZero() {
		o.LastChange = OrNull(ChangeTime(t.LastChange))
		o.LastAuthor = OrNull(t.LastAuthor)
	}
	return o
}

// TranslatePath is the path of the page on which Weblate translates.
func TranslatePath(project, component, language string) string {
	return Path("translate", project, component, language)
}

// NewTranslationPage makes a page of translations. Languages and components that they share
// are encoded once: a component has most of a translation's JSON.
func NewTranslationPage(translations []*Translation) ListWriter {
	const noLanguage = `{"language":null`
	languages, components := map[*Language][]byte{}, map[*Component][]byte{}
	return ListWriter{len(translations), func(b []byte, i int) []byte {
		own := *translations[i]
		language, component := own.Language, own.Component
		own.Language, own.Component = nil, nil
		b = append(append(b, `{"language":`...), encodedOnce(languages, language)...)
		if component != nil {
			b = append(append(b, `,"component":`...), encodedOnce(components, component)...)
		}
		return append(b, bytes.TrimPrefix(encoded(&own), []byte(noLanguage))...)
	}}
}

func encodedOnce[T any](known map[*T][]byte, object *T) []byte {
	text, ok := known[object]
	if !ok {
		text = encoded(object)
		known[object] = text
	}
	return text
}

// encoded is JSON for an object that has nothing that JSON cannot express.
func encoded(object any) []byte {
	text, err := JSON(object, 0)
	if err != nil {
		panic(err)
	}
	return text
}

// Language is a language.
type Language struct {
	Code          string   `json:"code"`
	Name          string   `json:"name"`
	Plural        Plural   `json:"plural"`
	Aliases       []string `json:"aliases"`
	Direction     string   `json:"direction"`
	WebURL        string   `json:"web_url"`
	URL           string   `json:"url"`
	StatisticsURL string   `json:"statistics_url"`
	// Population is of newer Weblates: the number of people who speak it; 0: unknown.
	Population int `json:"population"`
}

// Plural is the default plural of a language (docs/compatibility.md#plurals).
type Plural struct {
	ID      int    `json:"id"`
	Source  int    `json:"source"`
	Number  int    `json:"number"`
	Formula string `json:"formula"`
	Type    int    `json:"type"`
}

// NewLanguage makes the object of a language.
func NewLanguage(l Links, from lang.Language) *Language {
	p := Path("api", "languages", from.Code)
	aliases := from.Aliases
	if aliases == nil {
		aliases = []string{}
	}
	return &Language{
		Code:          from.Code,
		Name:          from.Name,
		Plural:        Plural(from.Plural),
		Aliases:       aliases,
		Direction:     from.Direction,
		WebURL:        l.Web(Path("languages", from.Code)),
		URL:           l.API(p),
		StatisticsURL: l.API(p + "statistics/"),
		Population:    from.Population,
	}
}
