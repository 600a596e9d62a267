package wire

import (
	"cmp"
	_ "embed" // spdx.txt
	"regexp"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// Component is a component.
type Component struct {
	Name                        string    `json:"name"`
	Slug                        string    `json:"slug"`
	ID                          int64     `json:"id"`
	SourceLanguage              *Language `json:"source_language"`
	Project                     *Project  `json:"project,omitempty"` // left out in the list of a project
	VCS                         string    `json:"vcs"`
	Repo                        string    `json:"repo"`
	GitExport                   string    `json:"git_export"` // "" if repositories cannot be cloned from here
	Branch                      string    `json:"branch"`
	PushBranch                  string    `json:"push_branch"`
	Filemask                    string    `json:"filemask"`
	Template                    string    `json:"template"`
	EditTemplate                bool      `json:"edit_template"`
	Intermediate                string    `json:"intermediate"`
	NewBase                     string    `json:"new_base"`
	FileFormat                  string    `json:"file_format"`
	License                     string    `json:"license"`
	LicenseURL                  *string   `json:"license_url"`
	Agreement                   string    `json:"agreement"`
	WebURL                      string    `json:"web_url"`
	URL                         string    `json:"url"`
	RepositoryURL               string    `json:"repository_url"`
	TranslationsURL             string    `json:"translations_url"`
	StatisticsURL               string    `json:"statistics_url"`
	LockURL                     string    `json:"lock_url"`
	LinksURL                    string    `json:"links_url"`
	ChangesListURL              string    `json:"changes_list_url"`
	TaskURL                     *string   `json:"task_url"`
	NewLang                     string    `json:"new_lang"`
	LanguageCodeStyle           string    `json:"language_code_style"`
	Push                        string    `json:"push"`
	CheckFlags                  string    `json:"check_flags"`
	Priority                    int       `json:"priority"`
	EnforcedChecks              []string  `json:"enforced_checks"`
	Restricted                  bool      `json:"restricted"`
	Repoweb                     string    `json:"repoweb"`
	ReportSourceBugs            string    `json:"report_source_bugs"`
	MergeStyle                  string    `json:"merge_style"`
	CommitMessage               string    `json:"commit_message"`
	AddMessage                  string    `json:"add_message"`
	DeleteMessage               string    `json:"delete_message"`
	MergeMessage                string    `json:"merge_message"`
	AddonMessage                string    `json:"addon_message"`
	PullMessage                 string    `json:"pull_message"`
	AllowTranslationPropagation bool      `json:"allow_translation_propagation"`
	ManageUnits                 bool      `json:"manage_units"`
	EnableSuggestions           bool      `json:"enable_suggestions"`
	SuggestionVoting            bool      `json:"suggestion_voting"`
	PushOnCommit                bool      `json:"push_on_commit"`
	AutoLockError               bool      `json:"auto_lock_error"`
	IsGlossary                  bool      `json:"is_glossary"`
	SuggestionAutoaccept        int       `json:"suggestion_autoaccept"`
	CommitPendingAge            int       `json:"commit_pending_age"`
	LanguageRegex               string    `json:"language_regex"`
	VariantRegex                string    `json:"variant_regex"`
	Addons                      []string  `json:"addons"`
	GlossaryColor               string    `json:"glossary_color"`
	// Category is of newer Weblates, and always null: wlc 2 asks for each component again
	// that lacks it, wherever one appears.
	Category *string `json:"category"`
	Locked   bool    `json:"locked"` // of newer Weblates, too
}

// NewComponent fills everything except source_language, project and task_url.
func NewComponent(l Links, from *catalog.Component, project string) *Component {
	p := ComponentPath(project, from.Slug)
	set := &from.Settings
	c := &Component{
		Name: NameOrSlug(set.Name, from.Slug), Slug: from.Slug, ID: from.ID,
		VCS: set.VCS, Repo: repourl.Public(from.Repo), Push: repourl.Public(set.Push),
		GitExport: l.Web(Path("git", project, from.Slug)),
		Branch:    branchOf(from), PushBranch: set.PushBranch,
		Filemask: set.Filemask, Template: set.Template, EditTemplate: set.EditTemplate,
		Intermediate: set.Intermediate, NewBase: set.NewBase, FileFormat: set.FileFormat,
		License: set.License, LicenseURL: licenseURL(set.License), Agreement: set.Agreement,
		WebURL: l.Web(Path("projects", project, from.Slug)), URL: l.API(p),
		RepositoryURL: l.API(p + "repository/"), TranslationsURL: l.API(p + "translations/"),
		StatisticsURL: l.API(p + "statistics/"), LockURL: l.API(p + "lock/"),
		LinksURL: l.API(p + "links/"), ChangesListURL: l.API(p + "changes/"),
		NewLang: set.NewLang, LanguageCodeStyle: set.LanguageCodeStyle,
		CheckFlags: set.CheckFlags, Priority: set.Priority,
		EnforcedChecks: set.EnforcedChecks, Restricted: set.Restricted,
		Repoweb: set.Repoweb, ReportSourceBugs: set.ReportSourceBugs, MergeStyle: set.MergeStyle,
		CommitMessage: crlf(set.CommitMessage), AddMessage: crlf(set.AddMessage), DeleteMessage: crlf(set.DeleteMessage),
		MergeMessage: crlf(set.MergeMessage), AddonMessage: crlf(set.AddonMessage), PullMessage: crlf(set.PullMessage),
		AllowTranslationPropagation: set.AllowTranslationPropagation,
		ManageUnits:                 set.ManageUnits,
		EnableSuggestions:           set.EnableSuggestions, SuggestionVoting: set.SuggestionVoting,
		PushOnCommit: set.PushOnCommit, AutoLockError: set.AutoLockError, IsGlossary: set.IsGlossary,
		SuggestionAutoaccept: set.SuggestionAutoaccept, CommitPendingAge: set.CommitPendingAge,
		LanguageRegex: set.LanguageRegex, VariantRegex: set.VariantRegex,
		Addons: addonURLs(l, from), GlossaryColor: set.GlossaryColor, Locked: from.Locked,
	}
	if c.EnforcedChecks == nil {
		c.EnforcedChecks = []string{}
	}
	return c
}

// branchOf is the branch in use; before the first pull, the configured one.
func branchOf(c *catalog.Component) string { return cmp.Or(c.Tracking, c.Branch) }

// crlf gives message templates the line breaks that Weblate gives them
// (docs/compatibility.md#message-templates).
func crlf(s string) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// Lock says whether a component refuses translations.
type Lock struct {
	Locked bool `json:"locked"`
}

// Incomings are the requests of others that no longer merge.
type Incomings struct {
	Results []Incoming `json:"results"`
	Problem string     `json:"problem"`
	Detail  string     `json:"detail"`
}

// Incoming is one of them.
type Incoming struct {
	Number    int    `json:"number"`
	Title     string `json:"title"`
	WebURL    string `json:"web_url"`
	Head      string `json:"head"`
	Into      string `json:"into"`
	Strings   int64  `json:"strings"`
	Conflicts int64  `json:"conflicts"`
	Problem   string `json:"problem"`
	Detail    string `json:"detail"`
	Editable  bool   `json:"editable"`
	Mergeable bool   `json:"mergeable"`
	Wished    bool   `json:"wished"`
}

// NewIncomings makes the answer.
func NewIncomings(l *catalog.Incomings) *Incomings {
	made := &Incomings{Results: make([]Incoming, len(l.List)), Problem: l.Problem, Detail: l.Failed}
	for i := range l.List {
		r := &l.List[i]
		made.Results[i] = Incoming{
			Number: r.Number, Title: r.Title, WebURL: r.URL, Head: r.Head, Into: r.Into, Strings: r.Strings, Conflicts: r.Conflicts,
			Problem: r.Problem, Detail: r.Failed, Editable: r.Editable, Mergeable: r.Mergeable(), Wished: r.Wished != nil,
		}
	}
	return made
}

// spdx holds the licence identifiers of the SPDX licence list, deprecated
// ones included, one per line in byte order.
//
//go:embed spdx.txt
var spdx string

// licenseURL returns the SPDX page of a licence; null for "", "proprietary" and
// any other name that is not in the SPDX list.
func licenseURL(id string) *string {
	if id == "" || !strings.HasPrefix(spdx, id+"\n") && !strings.Contains(spdx, "\n"+id+"\n") {
		return nil
	}
	return OrNull("https://spdx.org/licenses/" + id + ".html")
}

// addonDiscovery is the add-on that finds components
// (docs/compatibility.md#addons).
const addonDiscovery = "weblate.discovery.discovery"

// Addon is an add-on.
type Addon struct {
	Component     string              `json:"component"`
	Name          string              `json:"name"`
	ID            int64               `json:"id"`
	Configuration discoveryDefinition `json:"configuration"`
	URL           string              `json:"url"`
}

// discoveryDefinition is the configuration of a discovery, with the names of
// Weblate's form.
type discoveryDefinition struct {
	// Match is the filemask as a regular expression with the groups component
	// and language.
	Match            string `json:"match"`
	FileFormat       string `json:"file_format"`
	NameTemplate     string `json:"name_template"`
	BaseFileTemplate string `json:"base_file_template"`
	NewBaseTemplate  string `json:"new_base_template"`
	LanguageRegex    string `json:"language_regex"`
	// CopyAddons and Remove are false: a component whose files are gone stays.
	CopyAddons bool `json:"copy_addons"`
	Remove     bool `json:"remove"`
	// Filemask and Slug are ours: the patterns as written in the configuration.
	Filemask string `json:"filemask"`
	Slug     string `json:"slug"`
}

// addonURLs lists the add-ons of a component: one if a discovery made it.
func addonURLs(l Links, c *catalog.Component) []string {
	if !c.Settings.Discovery.Found() {
		return []string{}
	}
	return []string{l.addon(c.ID)}
}

// NewAddon makes the add-on of a component that a discovery made. A component
// has at most one, so the add-on has the component's id.
func NewAddon(l Links, c *catalog.Component, project string) Addon {
	d := &c.Settings.Discovery
	return Addon{
		Component: l.API(ComponentPath(project, c.Slug)), Name: addonDiscovery, ID: c.ID, URL: l.addon(c.ID),
		Configuration: discoveryDefinition{
			Match: matchOf(d.Filemask), FileFormat: c.Settings.FileFormat, NameTemplate: templateOf(d.Name),
			NewBaseTemplate: templateOf(d.NewBase), LanguageRegex: c.Settings.LanguageRegex,
			Filemask: d.Filemask, Slug: d.Slug,
		},
	}
}

const componentMark = "{component}"

// matchOf writes a filemask as a regular expression. The first * is the
// language; no * matches a slash.
func matchOf(filemask string) string {
	s := regexp.QuoteMeta(filemask)
	s = strings.Replace(s, `\*`, `(?P<language>[^/]*)`, 1)
	s = strings.ReplaceAll(s, `\*`, `[^/]*`)
	mark := regexp.QuoteMeta(componentMark)
	s = strings.Replace(s, mark, `(?P<component>.+)`, 1)
	return "^" + strings.ReplaceAll(s, mark, `(?P=component)`) + "$"
}

// templateOf writes a pattern in the syntax of Weblate's templates.
func templateOf(pattern string) string {
	return strings.NewReplacer(componentMark, "{{ component }}", "{component_name}", "{{ component|basename }}").Replace(pattern)
}

// ProjectRepository is the state of a project's repositories
// (docs/compatibility.md#repository-status).
type ProjectRepository struct {
	NeedsCommit bool   `json:"needs_commit"`
	NeedsMerge  bool   `json:"needs_merge"`
	NeedsPush   bool   `json:"needs_push"`
	URL         string `json:"url"`
}

// Repository is the state of the repository of a component or a translation.
type Repository struct {
	ProjectRepository
	RemoteCommit  *Commit `json:"remote_commit"`
	WeblateCommit *Commit `json:"weblate_commit"`
	Status        string  `json:"status"`
	MergeFailure  *string `json:"merge_failure"`
}

// Commit is a commit. E-mail addresses are always empty, so author and commit
// are names only.
type Commit struct {
	Revision      string  `json:"revision"`
	ShortRevision string  `json:"shortrevision"`
	Author        string  `json:"author"`
	AuthorName    string  `json:"author_name"`
	AuthorEmail   string  `json:"author_email"`
	AuthorDate    *string `json:"authordate"`
	Commit        string  `json:"commit"`
	CommitName    string  `json:"commit_name"`
	CommitEmail   string  `json:"commit_email"`
	CommitDate    *string `json:"commitdate"`
	Message       string  `json:"message"`
	Summary       string  `json:"summary"`
}

// NeedsMerge reports whether the remote has commits whose strings are not
// served: before the first import, and while a component waits to be read
// again. It knows nothing of commits after the last pull.
func NeedsMerge(c *catalog.Component) bool { return !c.Imported || c.Head == "" }

// NewRepository makes the state of the repository of a component. commit is nil if
// none is known; path is the resource that the repository belongs to, and failure what the
// client may see of one.
func NewRepository(l Links, c *catalog.Component, commit *catalog.Commit, path, failure string) Repository {
	o := Repository{
		ProjectRepository: ProjectRepository{NeedsMerge: NeedsMerge(c), URL: l.API(path + "repository/")},
		RemoteCommit:      newCommit(commit),
		Status:            statusOf(c),
		MergeFailure:      OrNull(failure),
	}
	o.WeblateCommit = o.RemoteCommit // what is served is what was fetched last
	return o
}

// statusOf is worded like git status in a repository without changes of its
// own.
func statusOf(c *catalog.Component) string {
	branch := cmp.Or(branchOf(c), "HEAD")
	state := "Your branch is up to date with 'origin/" + branch + "'."
	switch {
	case c.Problem.Failed():
		state = "The last pull from 'origin/" + branch + "' failed."
	case c.PushProblem.Failed():
		state = "The last push of edits failed."
	case NeedsMerge(c):
		state = "No commits of 'origin/" + branch + "' are imported yet."
	}
	return "On branch " + branch + "\n" + state + "\n\nnothing to commit, working tree clean\n"
}

func newCommit(c *catalog.Commit) *Commit {
	if c == nil {
		return nil
	}
	return &Commit{
		Revision: c.Hash, ShortRevision: c.Hash[:min(7, len(c.Hash))],
		Author: c.Author, AuthorName: c.Author, AuthorDate: TimeOrNull(c.AuthorTime, UnitTime),
		Commit: c.Committer, CommitName: c.Committer, CommitDate: TimeOrNull(c.CommitTime, UnitTime),
		Message: c.Message, Summary: c.Summary(),
	}
}
