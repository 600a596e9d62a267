package catalog

// Access says who may see a project or a component.
type Access string

// The kinds of access. The empty Access means "as the project says", and for
// a project public.
const (
	AccessPublic  Access = "public"
	AccessPrivate Access = "private"
)

// Project is a group of components.
type Project struct {
	// ID is assigned once and never reused.
	ID int64
	// Slug is the project's name in URLs, unique.
	Slug string
	// Settings come from the configuration.
	Settings ProjectSettings
	// Changes is the number of change entries below the project.
	Changes int64
}

// ProjectSettings are the fields of a project that the configuration sets. The
// defaults are in docs/configuration.md.
type ProjectSettings struct {
	// Name is the project's name for people. Empty: the slug.
	Name string `yaml:"name"`
	// Web is the address of the project's own site.
	Web string `yaml:"web"`
	// Instructions for translators: an address or a text.
	Instructions string `yaml:"instructions"`
	// LanguageAliases is a comma-separated list of `from:to` language codes.
	LanguageAliases string `yaml:"language_aliases"`
	// TranslationReview is served unchanged.
	TranslationReview bool `yaml:"translation_review"`
	// SourceReview is served unchanged.
	SourceReview bool `yaml:"source_review"`
	// SetLanguageTeam is served unchanged.
	SetLanguageTeam bool `yaml:"set_language_team"`
	// EnableHooks says that webhooks may pull the project's components.
	EnableHooks bool `yaml:"enable_hooks"`
	// Access says which clients see the project: all (`public`), or only those with
	// a token (`private`: the API answers 404 to others).
	Access Access `yaml:"access" oneof:"public private"`
}

// Private reports whether the project is hidden from anonymous clients.
func (p *Project) Private() bool { return p.Settings.Access == AccessPrivate }

// Private reports whether a component of a project is hidden from anonymous
// clients: its own access wins over the project's.
func (s *ComponentSettings) Private(p *Project) bool {
	if s.Access != "" {
		return s.Access == AccessPrivate
	}
	return p.Private()
}
