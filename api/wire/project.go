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
