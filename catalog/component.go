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

// ComponentSettings are the fields of a component that the configuration sets. A
// field without a comment means what Weblate's field of that name means. The
// defaults are in docs/compatibility.md#defaults.
type ComponentSettings struct {
	Name                        string // default: the slug
	VCS                         string // always "git"
	Push                        string
	PushBranch                  string
	Filemask                    string // * matches the language code
	Language                    string // language of a mask without *; "" otherwise
	Template                    string // always "": PO is bilingual
	EditTemplate                bool
	Intermediate                string
	NewBase                     string // path of the POT, or ""
	FileFormat                  string // always "po"
	License                     string // SPDX id, or ""
	Agreement                   string
	NewLang                     string
	LanguageCodeStyle           string
	SourceLanguage              string // code, default "en"
	LanguageRegex               string
	CheckFlags                  string
	Priority                    int
	EnforcedChecks              []string
	Restricted                  bool
	Repoweb                     string
	ReportSourceBugs            string
	MergeStyle                  string
	CommitMessage               string
	AddMessage                  string
	DeleteMessage               string
	MergeMessage                string
	AddonMessage                string
	PullMessage                 string
	AllowTranslationPropagation bool
	ManageUnits                 bool
	EnableSuggestions           bool
	SuggestionVoting            bool
	SuggestionAutoaccept        int
	PushOnCommit                bool
	CommitPendingAge            int
	AutoLockError               bool
	VariantRegex                string
	IsGlossary                  bool
	GlossaryColor               string
	Access                      Access // "": as the project
	// SuggestionBranches selects the branches whose texts are suggestions (a
	// remote.BranchPattern); SuggestionLimit is their greatest number.
	SuggestionBranches string    `json:",omitempty"`
	SuggestionLimit    int       `json:",omitempty"`
	History            History   `json:"History,omitzero"`   // of the first import
	Discovery          Discovery `json:"Discovery,omitzero"` // zero: the configuration names it itself
	Edits              Edits     `json:"Edits,omitzero"`     // zero: strings cannot be edited
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
func (e *Edits) Taken() bool { return e.Mode != "" }

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
	key := h.Meta(s.Filemask, s.Language, s.NewBase, s.SourceLanguage, s.LanguageRegex, s.CheckFlags)
	return strconv.FormatUint(uint64(key), 16)
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
