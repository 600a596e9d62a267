package wire

import (
	"encoding/json"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
)

// NewTranslation makes the object of a translation of the named component, whose source
// translation is source; within is nil in the list of a component. Its last key, missing, is
// ours: the strings of the template that the file lacks.
func NewTranslation(l Links, language json.RawMessage, t, source *catalog.Translation, project, component string, within json.RawMessage) Object {
	p, st := TranslationPath(project, component, t.Language), &t.Stats
	o := Object{"language", language}
	if within != nil {
		o = append(o, "component", within)
	}
	var change, author *string
	if !t.LastChange.IsZero() {
		change, author = OrNull(ChangeTime(t.LastChange)), OrNull(t.LastAuthor)
	}
	return append(
		o, "language_code", t.FileCode, "id", t.ID, "filename", t.Filename, "revision", t.Revision,
		"web_url", l.Web(Path("projects", project, component, t.Language)), "share_url", l.Web(Path("engage", project, t.Language)),
		"translate_url", l.Web(TranslatePath(project, component, t.Language)), "url", l.API(p), "is_template", false, "is_source", t.IsSource,
		"total", st.Total.Units, "total_words", st.Total.Words, "translated", st.Translated.Units, "translated_words", st.Translated.Words,
		"translated_percent", shareDone(st.Translated.Units, st.Total.Units), "fuzzy", st.Fuzzy.Units, "fuzzy_words", st.Fuzzy.Words,
		"fuzzy_percent", share(st.Fuzzy.Units, st.Total.Units), "failing_checks", st.Failing.Units, "failing_checks_words", st.Failing.Words,
		"failing_checks_percent", share(st.Failing.Units, st.Total.Units), "have_suggestion", st.Suggestions, "have_comment", st.Comments,
		"last_change", change, "last_author", author, "repository_url", l.API(p+"repository/"), "file_url", l.API(p+"file/"),
		"statistics_url", l.API(p+"statistics/"), "changes_list_url", l.API(p+"changes/"), "units_list_url", l.API(p+"units/"),
		"missing", catalog.NewProgress(t, source).Missing,
	)
}

// TranslatePath is the path of the page on which Weblate translates.
func TranslatePath(project, component, language string) string {
	return Path("translate", project, component, language)
}

// NewLanguage makes the object of a language. Its plural is the default one
// (docs/compatibility.md#plurals); population, of newer Weblates, is of people, 0 if unknown.
func NewLanguage(l Links, from lang.Language) Object {
	p, plural := Path("api", "languages", from.Code), from.Plural
	return Object{
		"code", from.Code, "name", from.Name,
		"plural",
		Object{"id", plural.ID, "source", plural.Source, "number", plural.Number, "formula", plural.Formula, "type", plural.Type},
		"aliases", append([]string{}, from.Aliases...), "direction", from.Direction, "web_url", l.Web(Path("languages", from.Code)),
		"url", l.API(p), "statistics_url", l.API(p + "statistics/"), "population", from.Population,
	}
}
