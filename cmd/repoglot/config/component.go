package config

import (
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// placeholder is the place of a discovered component in a slug, name, filemask and
// new_base.
const placeholder = "{component}"

// Component is a set of translation files in a branch of a repository; with
// `{component}` in `slug` and `filemask`, one set per match.
type Component struct {
	// Slug is the component's name in URLs: letters, digits, `-` and `_` of
	// ASCII, at most 100. With `{component}` in it, one component is made per
	// match of `{component}` in `filemask`; every run of other characters in
	// the match becomes `-`, and `-2`, `-3`… is added where two would be equal.
	// The slug of a match stays when `filemask` changes.
	Slug string `yaml:"slug" required:"true"`
	// Name is the component's name for people. Empty: the slug, or the match
	// of `{component}` unchanged.
	Name string `yaml:"name"`
	// Repo is the repository: any git address (`https://`, `ssh://`, `git://`,
	// `file://`, `user@host:path`) or a local path. Components of the same
	// repository and branch share one local mirror.
	Repo Address `yaml:"repo" required:"true"`
	// Branch is the branch to read. Empty: the remote's HEAD.
	Branch string `yaml:"branch"`
	// Filemask names the translation files: `*` is the language code and
	// matches anything except `/` (of several `*` the longest match is the code);
	// `{component}` is the component and matches across `/`.
	Filemask string `yaml:"filemask" required:"true"`
	// Language is the language code of the files of a `filemask` without `*`.
	Language string `yaml:"language"`
	// NewBase is the path of the template file (POT) in the repository; its
	// entries are the source strings. It may hold `{component}`, the whole match, and
	// `{component_name}`, the match's last part: the `applet` of `apps/applet`.
	NewBase string `yaml:"new_base"`
	// SourceLanguage is the code of the language of the source strings.
	SourceLanguage string `yaml:"source_language"`
	// LanguageRegex must match the language code of a file, or the file is
	// left out. The default keeps out codes with a dot, such as `cs.cp1250`.
	// The syntax is Go's (RE2), without look-around.
	LanguageRegex string `yaml:"language_regex"`
	// License is the SPDX identifier of the translations' licence.
	License string `yaml:"license"`
	// CheckFlags is a comma-separated list of check flags
	// ([checks.md](checks.md)), such as `ignore-end-stop, c-format`. After a
	// change the strings are checked again.
	CheckFlags string `yaml:"check_flags"`
	// IsGlossary says that the component is a glossary: its strings are not
	// checked; they are the terms of the check `check_glossary`, which runs on
	// strings of the project with the flag `check-glossary` (of the entry, or in
	// their component's `check_flags`). Terms are the translated strings of a
	// language: if several have the same source, any of them is right; a term with
	// the flag `forbidden` must not be used, and one with `read-only` stays
	// untranslated. At most 20,000 terms or half a megabyte are used. A private
	// glossary is used for private components only.
	IsGlossary bool `yaml:"is_glossary"`
	// Access says which clients see the component, `public` or `private`. Empty:
	// as the project says.
	Access catalog.Access `yaml:"access" oneof:"public private"`
	// History is how much of the repository's past becomes change entries:
	// `full`, `none` (start at the head), `{since: 2024-01-01}` or `{commits:
	// 200}`, which counts all commits of the branch, those that touch no PO file
	// too. It affects only the first import: a component that is already imported
	// keeps its entries. Every later pull is recorded commit by commit.
	History History `yaml:"history"`
	// Suggestions names branches of the same repository whose texts are shown as
	// suggestions, `{branches: "l10n/*"}`.
	Suggestions Suggestions `yaml:"suggestions"`
	// WebhookSecretEnv names the environment variable with the secret of
	// webhooks; it wins over the project's. See docs/webhooks.md.
	WebhookSecretEnv string `yaml:"webhook_secret_env"`

	// WebhookSecret is the value of that variable, or of the project's; "" if no
	// variable is named or it is not set. It is never printed.
	WebhookSecret Secret `yaml:"-"`
	// WebhookSecured says that a variable is named, here or in the project.
	WebhookSecured bool `yaml:"-"`

	// PushMode permits to edit strings, for clients with a token of scope `write`, and
	// says where edits go: to the branch that is read (`direct`), to a branch of this
	// server's own, which it overwrites (`branch`), or to that and a request to merge
	// it (`request`). Empty: nothing can be edited. See docs/editing.md.
	PushMode catalog.PushMode `yaml:"push_mode" oneof:"direct branch request"`
	// RequestPer says which edits of a `push_branch` share a request of `push_mode:
	// request`: those of a `component`, of a `language`, of an `author`, or all of the
	// `repository`. Empty: `repository` with `push_branch`, which all but `component` need,
	// else `component`. The branches of requests are below `push_branch` then.
	RequestPer catalog.RequestPer `yaml:"request_per" oneof:"component language author repository"`
	// CommitBy says which edits are in one commit: those of an author in a language
	// (`author+language`), of an `author`, of a `language`, or `all`.
	CommitBy string `yaml:"commit_by" oneof:"author+language author language all"`
	// Flush is the age of the oldest edit at which edits are committed and pushed, such
	// as `10m`; `commit_pending_age` wins if it is set.
	Flush time.Duration `yaml:"flush"`
	// FlushMax is the number of edits at which they are pushed at once; 0: no number.
	FlushMax int `yaml:"flush_max"`
	// OnConflict says which text stays if the repository and somebody here changed the
	// same string: that of the `repository`, so that the other becomes a suggestion, or
	// the `edit`.
	OnConflict string `yaml:"on_conflict" oneof:"repository edit"`
	// CommitGate, with `errors`, keeps edits pending that `msgfmt -c` would refuse;
	// with `none` they are committed.
	CommitGate string `yaml:"commit_gate" oneof:"none errors"`
	// PoHeader says whether a commit sets PO-Revision-Date and Last-Translator where a
	// file has them (`revision`), or leaves them (`keep`).
	PoHeader string `yaml:"po_header" oneof:"revision keep"`
	// Signoff adds Signed-off-by, with the author's name and address, to commits.
	Signoff bool `yaml:"signoff"`
	// SigningKeyEnv names the environment variable with the private key that signs
	// commits: one of SSH or an armoured one of OpenPGP, without a passphrase.
	SigningKeyEnv string `yaml:"signing_key_env"`
	// Forge is the service with the requests of `push_mode: request`. With another mode
	// those that were opened before are closed there.
	Forge string `yaml:"forge" oneof:"github gitlab gitea forgejo"`
	// ForgeURL is its address, `https://git.example.org`. Empty: github.com or
	// gitlab.com.
	ForgeURL string `yaml:"forge_url"`
	// ForgeTokenEnv names the environment variable with the token for its API. It must
	// permit to read and write requests of the repository.
	ForgeTokenEnv string `yaml:"forge_token_env"`

	// SigningKey and ForgeToken are the values of these variables; never printed.
	SigningKey Secret `yaml:"-"`
	ForgeToken Secret `yaml:"-"`

	// VCS is the kind of version control: always `git`.
	VCS string `yaml:"vcs"`
	// FileFormat is the format of the files: always `po`.
	FileFormat string `yaml:"file_format"`
	// Template must stay empty: PO files hold source and translation, so there
	// is no monolingual template. A POT belongs in `new_base`.
	Template string `yaml:"template"`
	// Push is the address that edits are pushed to, if it is another one than
	// `repo`: of the same repository, such as its address for ssh. It is served
	// without credentials.
	Push Address `yaml:"push"`
	// PushBranch is the branch that edits are pushed to with `push_mode: branch` or
	// `request`; components with the same one share it, and none that takes edits
	// reads it. Empty: `repoglot/PROJECT/COMPONENT`.
	PushBranch string `yaml:"push_branch"`
	// EditTemplate is served unchanged.
	EditTemplate bool `yaml:"edit_template"`
	// Intermediate is served unchanged.
	Intermediate string `yaml:"intermediate"`
	// Agreement is served unchanged.
	Agreement string `yaml:"agreement"`
	// NewLang says what a client may do about a missing language; it is served
	// unchanged.
	NewLang string `yaml:"new_lang" oneof:"contact url add none"`
	// LanguageCodeStyle is served unchanged.
	LanguageCodeStyle string `yaml:"language_code_style"`
	// Priority is served unchanged; not negative.
	Priority int `yaml:"priority"`
	// EnforcedChecks is served unchanged.
	EnforcedChecks []string `yaml:"enforced_checks"`
	// Restricted is served unchanged.
	Restricted bool `yaml:"restricted"`
	// Repoweb is the template of a file's address in a repository browser,
	// with `{{branch}}` and `{{filename}}`.
	Repoweb string `yaml:"repoweb"`
	// ReportSourceBugs is the e-mail address for bugs in source strings.
	ReportSourceBugs string `yaml:"report_source_bugs"`
	// MergeStyle is served unchanged.
	MergeStyle string `yaml:"merge_style" oneof:"merge rebase merge_noff"`
	// CommitMessage is the template of the messages of commits of edits; line breaks
	// of all message templates are served as CR LF.
	CommitMessage string `yaml:"commit_message"`
	// AddMessage is the template of commits that add a language.
	AddMessage string `yaml:"add_message"`
	// DeleteMessage is the template of commits that remove one.
	DeleteMessage string `yaml:"delete_message"`
	// MergeMessage is a message template.
	MergeMessage string `yaml:"merge_message"`
	// AddonMessage is a message template.
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
	SuggestionAutoaccept int `yaml:"suggestion_autoaccept"`
	// PushOnCommit has the operation commit of clients push, too.
	PushOnCommit bool `yaml:"push_on_commit"`
	// CommitPendingAge is a number of hours, not negative; above 0 it is the age of the
	// oldest edit at which edits are pushed.
	CommitPendingAge int `yaml:"commit_pending_age"`
	// AutoLockError is served unchanged.
	AutoLockError bool `yaml:"auto_lock_error"`
	// VariantRegex is served unchanged.
	VariantRegex string `yaml:"variant_regex"`
	// GlossaryColor is served unchanged.
	GlossaryColor string `yaml:"glossary_color"`
}

// Suggestions selects the branches that suggestions come from.
type Suggestions struct {
	// Branches is a pattern of branch names; `*` matches anything, `/` too.
	// A text that a commit of such a branch added, and that differs from the served
	// one, is a suggestion until the branch is merged or deleted.
	Branches string `yaml:"branches"`
	// Limit is the number of branches that are read, the first ones by name, 1 to
	// 1000; the log says how many are left out.
	Limit int `yaml:"limit"`
}

// DefaultComponent returns a component with the default settings and without slug,
// repo and filemask (docs/compatibility.md#defaults).
func DefaultComponent() Component {
	return Component{
		History:                     History{Mode: HistoryFull},
		Suggestions:                 Suggestions{Limit: 20},
		CommitBy:                    "author+language",
		Flush:                       10 * time.Minute,
		FlushMax:                    500,
		OnConflict:                  "repository",
		CommitGate:                  "none",
		PoHeader:                    "revision",
		SourceLanguage:              "en",
		LanguageRegex:               "^[^.]+$",
		VCS:                         "git",
		FileFormat:                  "po",
		EditTemplate:                true,
		NewLang:                     "add",
		Priority:                    100,
		MergeStyle:                  "merge",
		CommitMessage:               commitMessage,
		AddMessage:                  addMessage,
		DeleteMessage:               deleteMessage,
		MergeMessage:                mergeMessage,
		AddonMessage:                addonMessage,
		PullMessage:                 pullMessage,
		AllowTranslationPropagation: true,
		EnableSuggestions:           true,
		AutoLockError:               true,
		GlossaryColor:               "silver",
	}
}

// Discovers reports whether one component is made per match of `{component}`.
func (c *Component) Discovers() bool { return strings.Contains(c.Slug, placeholder) }

// Settings returns the settings as the catalog stores them: Push without
// credentials, message templates with CR LF line breaks
// (docs/compatibility.md#message-templates).
func (c *Component) Settings() catalog.ComponentSettings {
	limit := 0
	if c.Suggestions.Branches != "" {
		limit = c.Suggestions.Limit
	}
	return catalog.ComponentSettings{
		SuggestionBranches:          c.Suggestions.Branches,
		SuggestionLimit:             limit,
		Name:                        c.Name,
		VCS:                         c.VCS,
		Push:                        c.Push.String(),
		PushBranch:                  c.PushBranch,
		Filemask:                    c.Filemask,
		Language:                    c.Language,
		Template:                    c.Template,
		EditTemplate:                c.EditTemplate,
		Intermediate:                c.Intermediate,
		NewBase:                     c.NewBase,
		FileFormat:                  c.FileFormat,
		License:                     c.License,
		Agreement:                   c.Agreement,
		NewLang:                     c.NewLang,
		LanguageCodeStyle:           c.LanguageCodeStyle,
		SourceLanguage:              c.SourceLanguage,
		LanguageRegex:               c.LanguageRegex,
		CheckFlags:                  c.CheckFlags,
		Priority:                    c.Priority,
		EnforcedChecks:              c.EnforcedChecks,
		Restricted:                  c.Restricted,
		Repoweb:                     c.Repoweb,
		ReportSourceBugs:            c.ReportSourceBugs,
		MergeStyle:                  c.MergeStyle,
		CommitMessage:               crlf(c.CommitMessage),
		AddMessage:                  crlf(c.AddMessage),
		DeleteMessage:               crlf(c.DeleteMessage),
		MergeMessage:                crlf(c.MergeMessage),
		AddonMessage:                crlf(c.AddonMessage),
		PullMessage:                 crlf(c.PullMessage),
		AllowTranslationPropagation: c.AllowTranslationPropagation,
		ManageUnits:                 c.ManageUnits,
		EnableSuggestions:           c.EnableSuggestions,
		SuggestionVoting:            c.SuggestionVoting,
		SuggestionAutoaccept:        c.SuggestionAutoaccept,
		PushOnCommit:                c.PushOnCommit,
		CommitPendingAge:            c.CommitPendingAge,
		AutoLockError:               c.AutoLockError,
		VariantRegex:                c.VariantRegex,
		IsGlossary:                  c.IsGlossary,
		GlossaryColor:               c.GlossaryColor,
		Access:                      c.Access,
		History:                     c.History.catalog(),
		Edits:                       c.edits(),
	}
}

// edits returns how the component takes edits.
func (c *Component) edits() catalog.Edits {
	if c.PushMode == "" {
		return catalog.Edits{}
	}
	return catalog.Edits{
		Mode: c.PushMode, RequestPer: c.RequestPer, CommitBy: c.CommitBy, Flush: c.Flush, FlushMax: c.FlushMax, Overrule: c.OnConflict == "edit",
		Gate: c.CommitGate == "errors", KeepHeader: c.PoHeader == "keep", SignOff: c.Signoff,
	}
}

// The default message templates of a component: our own texts with Weblate's
// placeholders (docs/compatibility.md#message-templates).
const (
	commitMessage = "{{ component_name }}: translate into {{ language_name }}\n" +
		"\n" +
		"{{ stats.translated }} of {{ stats.all }} strings are translated ({{ stats.translated_percent }}%).\n" +
		"\n" +
		"{{ project_name }}/{{ component_name }} on {{ site_title }}\n" +
		"{{ url }}"
	addMessage = "{{ component_name }}: start the translation into {{ language_name }}\n" +
		"\n" +
		"{{ project_name }}/{{ component_name }} on {{ site_title }}\n" +
		"{{ url }}"
	deleteMessage = "{{ component_name }}: drop the translation into {{ language_name }}\n" +
		"\n" +
		"{{ project_name }}/{{ component_name }} on {{ site_title }}\n" +
		"{{ url }}"
	mergeMessage = "Merge {{ component_remote_branch }} into {{ project_name }}/{{ component_name }} on {{ site_title }}"
	addonMessage = "{{ component_name }}: update the translation files\n" +
		"\n" +
		"Done by {{ addon_name }} on {{ site_title }}.\n" +
		"{{ url }}"
	pullMessage = "{{ project_name }}/{{ component_name }}: news from {{ site_title }}\n" +
		"\n" +
		"The translations come from {{ url }}.\n" +
		"{% if component_linked_childs %}\n" +
		"They hold these components too:\n" +
		"{% for linked in component_linked_childs %}\n" +
		"* {{ linked.project_name }}/{{ linked.name }}: {{ linked.url }}{% endfor %}\n" +
		"{% endif %}\n" +
		"How far they are: {{ widget_url }}"
)

// crlf replaces line breaks by CR LF. It keeps those at the end.
func crlf(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}
