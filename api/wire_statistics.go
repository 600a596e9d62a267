package api

import (
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

// statisticsObject is what all statistics have in common, in the key order of
// facts §6.
type statisticsObject struct {
	Total                  int64   `json:"total"`
	TotalWords             int64   `json:"total_words"`
	TotalChars             int64   `json:"total_chars"`
	LastChange             *string `json:"last_change"`
	RecentChanges          int64   `json:"recent_changes"`
	Translated             int64   `json:"translated"`
	TranslatedWords        int64   `json:"translated_words"`
	TranslatedPercent      percent `json:"translated_percent"`
	TranslatedWordsPercent percent `json:"translated_words_percent"`
	TranslatedChars        int64   `json:"translated_chars"`
	TranslatedCharsPercent percent `json:"translated_chars_percent"`
	Fuzzy                  int64   `json:"fuzzy"`
	FuzzyPercent           percent `json:"fuzzy_percent"`
	FuzzyWords             int64   `json:"fuzzy_words"`
	FuzzyWordsPercent      percent `json:"fuzzy_words_percent"`
	FuzzyChars             int64   `json:"fuzzy_chars"`
	FuzzyCharsPercent      percent `json:"fuzzy_chars_percent"`
	Failing                int64   `json:"failing"`
	FailingPercent         percent `json:"failing_percent"`
	// Approved and the five below it are 0: PO files cannot say it (decision 10).
	Approved             int64   `json:"approved"`
	ApprovedPercent      percent `json:"approved_percent"`
	ApprovedWords        int64   `json:"approved_words"`
	ApprovedWordsPercent percent `json:"approved_words_percent"`
	ApprovedChars        int64   `json:"approved_chars"`
	ApprovedCharsPercent percent `json:"approved_chars_percent"`
	Readonly             int64   `json:"readonly"`
	ReadonlyPercent      percent `json:"readonly_percent"`
	ReadonlyWords        int64   `json:"readonly_words"`
	ReadonlyWordsPercent percent `json:"readonly_words_percent"`
	ReadonlyChars        int64   `json:"readonly_chars"`
	ReadonlyCharsPercent percent `json:"readonly_chars_percent"`
	Suggestions          int64   `json:"suggestions"`
	Comments             int64   `json:"comments"`
}

// translationStatistics are those of one translation. What stands behind
// TranslateURL is of 4.x, which clients of that time read (clients).
type translationStatistics struct {
	statisticsObject
	Code         string  `json:"code"`
	Name         string  `json:"name"`
	URL          string  `json:"url"`
	TranslateURL string  `json:"translate_url"`
	Component    string  `json:"component"`
	Project      string  `json:"project"`
	URLTranslate string  `json:"url_translate"`
	LastAuthor   *string `json:"last_author"`
}

// projectLanguageStatistics are those of one language of a project.
type projectLanguageStatistics struct {
	statisticsObject
	Code         string `json:"code"`
	Name         string `json:"name"`
	URL          string `json:"url"`
	TranslateURL string `json:"translate_url"`
	URLTranslate string `json:"url_translate"`
}

// projectStatistics are those of a project.
type projectStatistics struct {
	statisticsObject
	Name         string `json:"name"`
	URL          string `json:"url"`
	TranslateURL string `json:"translate_url"`
	URLTranslate string `json:"url_translate"`
	uniqueStatistics
}

// uniqueStatistics count strings that several components of a project have once
// for each language; ours.
type uniqueStatistics struct {
	Total                  int64   `json:"unique_total"`
	TotalWords             int64   `json:"unique_total_words"`
	TotalChars             int64   `json:"unique_total_chars"`
	Translated             int64   `json:"unique_translated"`
	TranslatedPercent      percent `json:"unique_translated_percent"`
	TranslatedWords        int64   `json:"unique_translated_words"`
	TranslatedWordsPercent percent `json:"unique_translated_words_percent"`
	TranslatedChars        int64   `json:"unique_translated_chars"`
	TranslatedCharsPercent percent `json:"unique_translated_chars_percent"`
	Fuzzy                  int64   `json:"unique_fuzzy"`
	FuzzyPercent           percent `json:"unique_fuzzy_percent"`
	FuzzyWords             int64   `json:"unique_fuzzy_words"`
	FuzzyWordsPercent      percent `json:"unique_fuzzy_words_percent"`
	FuzzyChars             int64   `json:"unique_fuzzy_chars"`
	FuzzyCharsPercent      percent `json:"unique_fuzzy_chars_percent"`
}

func newUniqueStatistics(st *catalog.Stats) uniqueStatistics {
	units, words, chars := st.Total.Units, st.Total.Words, st.Total.Chars
	return uniqueStatistics{
		Total: units, TotalWords: words, TotalChars: chars,
		Translated: st.Translated.Units, TranslatedPercent: shareDone(st.Translated.Units, units),
		TranslatedWords: st.Translated.Words, TranslatedWordsPercent: shareDone(st.Translated.Words, words),
		TranslatedChars: st.Translated.Chars, TranslatedCharsPercent: shareDone(st.Translated.Chars, chars),
		Fuzzy: st.Fuzzy.Units, FuzzyPercent: share(st.Fuzzy.Units, units),
		FuzzyWords: st.Fuzzy.Words, FuzzyWordsPercent: share(st.Fuzzy.Words, words),
		FuzzyChars: st.Fuzzy.Chars, FuzzyCharsPercent: share(st.Fuzzy.Chars, chars),
	}
}

// languageStatistics are those of a language on the whole server.
type languageStatistics struct {
	statisticsObject
	Name string `json:"name"`
	URL  string `json:"url"`
}

func newStatistics(st *catalog.Stats, last time.Time, recent int64) statisticsObject {
	units, words, chars := st.Total.Units, st.Total.Words, st.Total.Chars
	o := statisticsObject{
		Total: units, TotalWords: words, TotalChars: chars, RecentChanges: recent,
		Translated: st.Translated.Units, TranslatedPercent: shareDone(st.Translated.Units, units),
		TranslatedWords: st.Translated.Words, TranslatedWordsPercent: shareDone(st.Translated.Words, words),
		TranslatedChars: st.Translated.Chars, TranslatedCharsPercent: shareDone(st.Translated.Chars, chars),
		Fuzzy: st.Fuzzy.Units, FuzzyPercent: share(st.Fuzzy.Units, units),
		FuzzyWords: st.Fuzzy.Words, FuzzyWordsPercent: share(st.Fuzzy.Words, words),
		FuzzyChars: st.Fuzzy.Chars, FuzzyCharsPercent: share(st.Fuzzy.Chars, chars),
		Failing: st.Failing.Units, FailingPercent: share(st.Failing.Units, units),
		Readonly: st.ReadOnly.Units, ReadonlyPercent: share(st.ReadOnly.Units, units),
		ReadonlyWords: st.ReadOnly.Words, ReadonlyWordsPercent: share(st.ReadOnly.Words, words),
		ReadonlyChars: st.ReadOnly.Chars, ReadonlyCharsPercent: share(st.ReadOnly.Chars, chars),
		Suggestions: st.Suggestions, Comments: st.Comments,
	}
	if !last.IsZero() {
		o.LastChange = orNull(changeTime(last))
	}
	return o
}

func (s *Server) newTranslationStatistics(l links, t *catalog.Translation, project, component string) translationStatistics {
	translate := l.web(translatePath(project, component, t.Language))
	return translationStatistics{
		statisticsObject: newStatistics(&t.Stats, t.LastChange, t.RecentChanges),
		Code:             t.Language, Name: s.language(t.Language).Name,
		URL: l.web(path("projects", project, component, t.Language)), TranslateURL: translate,
		Component: component, Project: project, URLTranslate: translate,
		LastAuthor: orNull(t.LastAuthor),
	}
}

func newProjectLanguageStatistics(l links, sum *store.Sum, project, name string) projectLanguageStatistics {
	translate := l.web(translatePath(project, "-", sum.Language))
	return projectLanguageStatistics{
		statisticsObject: newStatistics(&sum.Stats, sum.LastChange, sum.RecentChanges),
		Code:             sum.Language, Name: name,
		URL: l.web(path("projects", project, "-", sum.Language)), TranslateURL: translate, URLTranslate: translate,
	}
}

func newProjectStatistics(l links, sum *store.Sum, unique *catalog.Stats, project *catalog.Project) projectStatistics {
	translate := l.web(path("translate", project.Slug))
	return projectStatistics{
		statisticsObject: newStatistics(&sum.Stats, sum.LastChange, sum.RecentChanges),
		Name:             orSlug(project.Settings.Name, project.Slug),
		URL:              l.web(path("projects", project.Slug)), TranslateURL: translate, URLTranslate: translate,
		uniqueStatistics: newUniqueStatistics(unique),
	}
}

// newServerStatistics are those of all that is served; ours, in the form of a
// language's.
func newServerStatistics(l links, sum *store.Sum) languageStatistics {
	return languageStatistics{
		statisticsObject: newStatistics(&sum.Stats, sum.LastChange, sum.RecentChanges),
		Name:             siteTitle, URL: l.web("/"),
	}
}

func newLanguageStatistics(l links, sum *store.Sum, language *lang.Language) languageStatistics {
	return languageStatistics{
		statisticsObject: newStatistics(&sum.Stats, sum.LastChange, sum.RecentChanges),
		Name:             language.Name, URL: l.web(path("languages", language.Code)),
	}
}
