package wire

import (
	"cmp"

	"github.com/repoglot/repoglot/catalog"
)

// NewProject makes the object of a project.
func NewProject(l Links, from *catalog.Project) Object {
	p, set := ProjectPath(from.Slug), &from.Settings
	return Object{
		"name", NameOrSlug(set.Name, from.Slug), "slug", from.Slug, "id", from.ID, "web", set.Web,
		"web_url", l.Web(Path("projects", from.Slug)), "url", l.API(p), "components_list_url", l.API(p + "components/"),
		"repository_url", l.API(p + "repository/"), "statistics_url", l.API(p + "statistics/"),
		"changes_list_url", l.API(p + "changes/"), "languages_url", l.API(p + "languages/"),
		"translation_review", set.TranslationReview, "source_review", set.SourceReview, "set_language_team", set.SetLanguageTeam,
		"enable_hooks", set.EnableHooks, "instructions", set.Instructions, "language_aliases", set.LanguageAliases,
	}
}

// NameOrSlug is the name, or the slug if the name is empty.
func NameOrSlug(name, slug string) string { return cmp.Or(name, slug) }

// User is a git author (docs/compatibility.md#users).
type User struct {
	Username string `json:"username"`
	FullName string `json:"full_name"`
	// URL, DateJoined (the time of the first commit), StatisticsURL and IsBot
	// (the configuration names a program) are ours.
	URL           string  `json:"url"`
	DateJoined    *string `json:"date_joined"` // null: no commit has a date that can be read
	StatisticsURL string  `json:"statistics_url"`
	IsBot         bool    `json:"is_bot"`
}

// UserStatistics are the statistics of a git author over the served
// translations, without source languages.
type UserStatistics struct {
	// Translated is the number of strings that the author changed, by commits (change
	// entries 59) and by edits here (2, 5, 7, 37).
	Translated int64 `json:"translated"`
	// Suggested is the number of suggestions that the author made here (entries 4).
	Suggested int64 `json:"suggested"`
	// Uploaded is the number of strings that the author's commits added (change
	// entries 31).
	Uploaded  int64 `json:"uploaded"`
	Commented int64 `json:"commented"`
	// Languages is the number of languages of those strings.
	Languages int `json:"languages"`
}
