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
// defaults are in docs/compatibility.md#defaults.
type ProjectSettings struct {
	Name              string // default: the slug
	Web               string // URL of the project's own site, or ""
	Instructions      string // URL or text, or ""
	LanguageAliases   string // comma list of from:to, or ""
	TranslationReview bool
	SourceReview      bool
	SetLanguageTeam   bool   // default true
	EnableHooks       bool   // default true
	Access            Access // "" is public
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
