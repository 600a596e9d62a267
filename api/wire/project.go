package wire

import (
	"cmp"

	"github.com/repoglot/repoglot/catalog"
)

// Project is a project.
type Project struct {
	Name              string `json:"name"`
	Slug              string `json:"slug"`
	ID                int64  `json:"id"`
	Web               string `json:"web"`
	WebURL            string `json:"web_url"`
	URL               string `json:"url"`
	ComponentsListURL string `json:"components_list_url"`
	RepositoryURL     string `json:"repository_url"`
	StatisticsURL     string `json:"statistics_url"`
	ChangesListURL    string `json:"changes_list_url"`
	LanguagesURL      string `json:"languages_url"`
	TranslationReview bool   `json:"translation_review"`
	SourceReview      bool   `json:"source_review"`
	SetLanguageTeam   bool   `json:"set_language_team"`
	EnableHooks       bool   `json:"enable_hooks"`
	Instructions      string `json:"instructions"`
	LanguageAliases   string `json:"language_aliases"`
}

// NewProject makes the object of a project.
func NewProject(l Links, from *catalog.Project) *Project {
	p := ProjectPath(from.Slug)
	set := &from.Settings
	return &Project{
		Name:              NameOrSlug(set.Name, from.Slug),
		Slug:              from.Slug,
		ID:                from.ID,
		Web:               set.Web,
		WebURL:            l.Web(Path("projects", from.Slug)),
		URL:               l.API(p),
		ComponentsListURL: l.API(p + "components/"),
		RepositoryURL:     l.API(p + "repository/"),
		StatisticsURL:     l.API(p + "statistics/"),
		ChangesListURL:    l.API(p + "changes/"),
		LanguagesURL:      l.API(p + "languages/"),
		TranslationReview: set.TranslationReview,
		SourceReview:      set.SourceReview,
		SetLanguageTeam:   set.SetLanguageTeam,
		EnableHooks:       set.EnableHooks,
		Instructions:      set.Instructions,
		LanguageAliases:   set.LanguageAliases,
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
