package catalog

import (
	"strconv"
	"time"
)

// UnitsPerComponent is the number of unit and delta ids of one component: unit id =
// component id · UnitsPerComponent + n.
const UnitsPerComponent = 1 << 28

// Component is one set of translation files in one branch of one repository.
type Component struct {
	// ID is assigned once and never reused.
	ID int64
	// ProjectID is the project's id.
	ProjectID int64
	// Slug is the component's name in URLs, unique in its project.
	Slug string
	// Settings come from the configuration.
	Settings ComponentSettings
	// Repo is the address to pull from, without credentials.
	Repo string
	// Branch is the configured branch; "" follows the remote's HEAD.
	Branch string
	// Tracking is the branch in use; "" before the first pull.
	Tracking string
	// Head is the commit that the units were read from, 40 hexadecimal digits; ""
	// before the first import. A replay moves it while it runs.
	Head string
	// TemplateHead is the commit that the template was read from, if it is elsewhere; "" if
	// it is not, or nothing is there yet.
	TemplateHead string
	// Imported says that the component has reached the branch's head once;
	// before that its translations do not exist yet
	// (docs/compatibility.md#first-import).
	Imported bool
	// Changes is the number of change entries below the component.
	Changes int64
	// Problem is why the last pull failed.
	Problem Failure
	// PushProblem is why the last push of edits failed; zero also if the component takes
	// none.
	PushProblem Failure
	// Locked says that edits are refused for now.
	Locked bool
}

// At is what the units were read from: Head, with TemplateHead after a plus sign if there is
// one. Steps compare and swap it.
func (c *Component) At() string {
	if c.TemplateHead == "" {
		return c.Head
	}
	return c.Head + "+" + c.TemplateHead
}

// ComponentSettings are the fields of a component that the configuration sets. The
// defaults are in docs/configuration.md.
type ComponentSettings struct {
	// Name is the component's name for people. Empty: the slug, or the match
	// of `{component}` unchanged.
	Name string `yaml:"name"`
	// VCS is the kind of version control: always `git`.
	VCS string `yaml:"vcs"`
	// Push is the address that edits are pushed to, without credentials; "": Repo.
	Push string
	// PushBranch is the branch that edits are pushed to with `push_mode: branch` or
	// `request`; components with the same one share it, and none that takes edits
	// reads it. Empty: `repoglot/PROJECT/COMPONENT`.
	PushBranch string `yaml:"push_branch"`
	// Filemask names the translation files: `*` is the language code and
	// matches anything except `/` (of several `*` the longest match is the code);
	// `{component}` is the component and matches across `/`.
	Filemask string `yaml:"filemask" required:"true"`
	// Language is the language code of the files of a `filemask` without `*`.
	Language string `yaml:"language"`
	// Template must stay empty: PO files hold source and translation, so there
	// is no monolingual template. A POT belongs in `new_base`.
	Template string `yaml:"template"`
	// EditTemplate is served unchanged.
	EditTemplate bool `yaml:"edit_template"`
	// Intermediate is served unchanged.
	Intermediate string `yaml:"intermediate"`
	// NewBase is the path of the template file (POT) in the repository; its
	// entries are the source strings. It may hold `{component}`, the whole match, and
	// `{component_name}`, the match's last part: the `applet` of `apps/applet`.
	NewBase string `yaml:"new_base"`
	// TemplateRepo is the repository of the template, without credentials; "": Repo.
	TemplateRepo string `json:",omitempty"`
	// TemplateBranch is the branch that `new_base` is read from. Empty: the HEAD of
	// `template_repo`, or `branch`.
	TemplateBranch string `json:",omitempty" yaml:"template_branch"`
	// FileFormat is the format of the files: always `po`.
	FileFormat string `yaml:"file_format"`
	// License is the SPDX identifier of the translations' licence.
	License string `yaml:"license"`
	// Agreement is served unchanged.
	Agreement string `yaml:"agreement"`
	// NewLang says what a client may do about a missing language; it is served
	// unchanged.
	NewLang string `yaml:"new_lang" oneof:"contact url add none"`
	// LanguageCodeStyle is served unchanged.
	LanguageCodeStyle string `yaml:"language_code_style"`
	// SourceLanguage is the code of the language of the source strings.
	SourceLanguage string `yaml:"source_language"`
	// LanguageRegex must match the language code of a file, or the file is
	// left out. The default keeps out codes with a dot, such as `cs.cp1250`.
	// The syntax is Go's (RE2), without look-around.
	LanguageRegex string `yaml:"language_regex"`
	// CheckFlags is a comma-separated list of check flags
	// ([checks.md](checks.md)), such as `ignore-end-stop, c-format`. After a
	// change the strings are checked again.
	CheckFlags string `yaml:"check_flags"`
	// Priority is served unchanged; not negative.
	Priority int `yaml:"priority" range:"0"`
	// EnforcedChecks is served unchanged.
	EnforcedChecks []string `yaml:"enforced_checks"`
	// Restricted is served unchanged.
	Restricted bool `yaml:"restricted"`
	// Repoweb is the template of a file's address in a repository browser,
	// with `{{branch}}` and `{{filename}}`. Code of a `template_repo` on the same forge is
	// linked there.
	Repoweb string `yaml:"repoweb"`
	// ReportSourceBugs is the e-mail address for bugs in source strings.
	ReportSourceBugs string `yaml:"report_source_bugs"`
	// MergeStyle is served unchanged.
	MergeStyle string `yaml:"merge_style" oneof:"merge rebase merge_noff"`
	// CommitMessage is the template of the messages of commits of edits.
	CommitMessage string `yaml:"commit_message"`
	// AddMessage is the template of commits that add a language.
	AddMessage string `yaml:"add_message"`
	// DeleteMessage is the template of commits that remove one.
	DeleteMessage string `yaml:"delete_message"`
	// MergeMessage is a message template.
	MergeMessage string `yaml:"merge_message"`
	// AddonMessage is the template of commits of `msgmerge`.
	AddonMessage string `yaml:"addon_message"`
	// PullMessage is the template of title and text of requests.
	PullMessage string `yaml:"pull_message"`
	// AllowTranslationPropagation says that the component's strings are compared with
	// those of the project's other components by the check `inconsistent`.
	AllowTranslationPropagation bool `yaml:"allow_translation_propagation"`
	// ManageUnits is served unchanged.
	ManageUnits bool `yaml:"manage_units"`
	// EnableSuggestions lets clients suggest texts where edits are taken. Those of branches
	// are served anyway.
	EnableSuggestions bool `yaml:"enable_suggestions"`
	// SuggestionVoting is served unchanged.
	SuggestionVoting bool `yaml:"suggestion_voting"`
	// SuggestionAutoaccept is served unchanged; not negative.
	SuggestionAutoaccept int `yaml:"suggestion_autoaccept" range:"0"`
	// PushOnCommit has the operation commit of clients push, too.
	PushOnCommit bool `yaml:"push_on_commit"`
	// CommitPendingAge is a number of hours, not negative; above 0 it is the age of the
	// oldest edit at which edits are pushed.
	CommitPendingAge int `yaml:"commit_pending_age" range:"0"`
	// AutoLockError is served unchanged.
	AutoLockError bool `yaml:"auto_lock_error"`
	// VariantRegex is served unchanged.
	VariantRegex string `yaml:"variant_regex"`
	// IsGlossary says that the component is a glossary: its strings are not
	// checked; they are the terms of the check `check_glossary`, which runs on
	// strings of the project with the flag `check-glossary`. Terms are the translated strings of a
	// language: if several have the same source, any of them is right; a term with
	// the flag `forbidden` must not be used, and one with `read-only` stays
	// untranslated. At most 20,000 terms or half a megabyte are used. A private
	// glossary is used for private components only.
	IsGlossary bool `yaml:"is_glossary"`
	// GlossaryColor is served unchanged.
	GlossaryColor string `yaml:"glossary_color"`
	// Access says which clients see the component, `public` or `private`. Empty:
	// as the project says.
	Access Access `yaml:"access" oneof:"public private"`
	// SuggestionBranches selects the branches whose texts are suggestions (a
	// remote.BranchPattern); SuggestionLimit is their greatest number.
	SuggestionBranches string `json:",omitempty"`
	SuggestionLimit    int    `json:",omitempty"`
	// History is how much of the repository's past becomes change entries:
	// `full`, `none` (start at the head), `{since: 2024-01-01}` or `{commits:
	// 200}`, which counts all commits of the branch, those that touch no PO file
	// too. It affects only the first import: a component that is already imported
	// keeps its entries. Every later pull is recorded commit by commit.
	History   History   `json:"History,omitzero" yaml:"history"`
	Discovery Discovery `json:"Discovery,omitzero"` // zero: the configuration names it itself
	Edits     Edits     `json:"Edits,omitzero"`     // zero: strings cannot be edited
}

// Edits says whether the strings of a component can be edited, and where edits go. The
// zero value permits none.
type Edits struct {
	// Mode is push_mode: PushDirect, PushBranch or PushRequest; "": no edits are taken.
	Mode PushMode `json:"mode"`
	// RequestPer is request_per: which edits share a request of PushRequest; "":
	// PerRepository with a push_branch, else PerComponent.
	RequestPer RequestPer `json:"request_per,omitempty"`
	// CommitBy is commit_by: which edits are in one commit.
	CommitBy string `json:"commit_by,omitempty"`
	// Flush is the age of the oldest edit at which commits are made, FlushMax the number
	// of edits at which they are made at once.
	Flush    time.Duration `json:"flush,omitempty"`
	FlushMax int           `json:"flush_max,omitempty"`
	// Overrule is on_conflict: edit. An edit is written over another text of the
	// repository.
	Overrule bool `json:"overrule,omitempty"`
	// Gate is commit_gate: errors. Strings that msgfmt -c would refuse stay pending.
	Gate bool `json:"gate,omitempty"`
	// KeepHeader is po_header: keep. PO-Revision-Date and Last-Translator stay.
	KeepHeader bool `json:"keep_header,omitempty"`
	// SignOff adds Signed-off-by.
	SignOff bool `json:"signoff,omitempty"`
	// Update says whether files are updated to the template.
	Update Update `json:"update,omitzero"`
}

// Update says how files are updated to the template of their component, as msgmerge does.
type Update struct {
	// On is msgmerge: commit.
	On bool `json:"on,omitempty"`
	// Previous, NoFuzzyMatching, NoLocation and NoWrap are options of msgmerge.
	Previous        bool `json:"previous,omitempty"`
	NoFuzzyMatching bool `json:"no_fuzzy_matching,omitempty"`
	NoLocation      bool `json:"no_location,omitempty"`
	NoWrap          bool `json:"no_wrap,omitempty"`
	// After is msgmerge_after: how long the template must stay as it is.
	After time.Duration `json:"after,omitempty"`
	// Any is msgmerge_when: any. Files are updated also if no string of them changes.
	Any bool `json:"any,omitempty"`
}

// PushMode says where the commits of edits go.
type PushMode string

// The values of push_mode.
const (
	PushDirect  PushMode = "direct"  // to the branch that is read
	PushBranch  PushMode = "branch"  // to a branch of our own
	PushRequest PushMode = "request" // to one, with a request to merge it
)

// RequestPer says which edits share a request.
type RequestPer string

// The values of request_per.
const (
	PerComponent  RequestPer = "component"
	PerLanguage   RequestPer = "language"
	PerAuthor     RequestPer = "author"     // the last one of a string
	PerRepository RequestPer = "repository" // all of a push_branch
)

// Taken reports whether edits are taken.
func (e Edits) Taken() bool { return e.Mode != "" }

// Discovery has the patterns of the configuration that a component was discovered
// with; {component} in them is the part of a path that they matched. The zero value
// is no discovery.
type Discovery struct {
	// Slug, Name, Filemask and NewBase are the patterns.
	Slug, Name, Filemask, NewBase string
}

// Found reports whether there is a discovery.
func (d *Discovery) Found() bool { return d.Slug != "" }

// ReadKey is a fingerprint of the settings that the stored units depend on: if it
// changes, the files of the component are read again.
func (s *ComponentSettings) ReadKey() string {
	var h Hasher
	fields := []string{s.Filemask, s.Language, s.NewBase, s.SourceLanguage, s.LanguageRegex, s.CheckFlags}
	if s.TemplateElsewhere() {
		fields = append(fields, s.TemplateRepo, s.TemplateBranch)
	}
	return strconv.FormatUint(uint64(h.Meta(fields...)), 16)
}

// TemplateElsewhere reports whether the template is of another branch or repository.
func (s *ComponentSettings) TemplateElsewhere() bool {
	return s.NewBase != "" && (s.TemplateRepo != "" || s.TemplateBranch != "")
}

// CheckKey is a fingerprint of the settings that quality checks depend on: if it
// changes, the checks of the whole project run again, as some checks compare
// components.
func (s *ComponentSettings) CheckKey() string {
	var h Hasher
	key := h.Meta(s.Name, s.CheckFlags, s.SourceLanguage, strconv.FormatBool(s.IsGlossary), strconv.FormatBool(s.AllowTranslationPropagation), string(s.Access))
	return strconv.FormatUint(uint64(key), 16)
}

// History says how much of a branch's past a first import replays as change entries
// (docs/compatibility.md#history). With the zero value the import starts at the head.
// It has no effect on a component that has been imported.
type History struct {
	// Full replays the first-parent history from its first commit on, as far as
	// the bounds below allow.
	Full bool `json:"full,omitempty"`
	// Since, if set, bounds the age: replay begins after the newest first-parent
	// commit with an earlier committer time.
	Since time.Time `json:"since,omitzero"`
	// Commits, if positive, bounds the number of first-parent commits.
	Commits int `json:"commits,omitempty"`
}
