package api

import "github.com/repoglot/repoglot/catalog"

// projectObject is the project object of the specification, in its order.
type projectObject struct {
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

func newProject(l links, from *catalog.Project) *projectObject {
	p := projectPath(from.Slug)
	set := &from.Settings
	return &projectObject{
		Name:              orSlug(set.Name, from.Slug),
		Slug:              from.Slug,
		ID:                from.ID,
		Web:               set.Web,
		WebURL:            l.web(path("projects", from.Slug)),
		URL:               l.api(p),
		ComponentsListURL: l.api(p + "components/"),
		RepositoryURL:     l.api(p + "repository/"),
		StatisticsURL:     l.api(p + "statistics/"),
		ChangesListURL:    l.api(p + "changes/"),
		LanguagesURL:      l.api(p + "languages/"),
		TranslationReview: set.TranslationReview,
		SourceReview:      set.SourceReview,
		SetLanguageTeam:   set.SetLanguageTeam,
		EnableHooks:       set.EnableHooks,
		Instructions:      set.Instructions,
		LanguageAliases:   set.LanguageAliases,
	}
}

// orSlug is the default of a name (decision 33).
func orSlug(name, slug string) string {
	if name == "" {
		return slug
	}
	return name
}
