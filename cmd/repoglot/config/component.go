package config

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource/filemask"
)

// placeholder is the place of a discovered component in a slug, name, filemask and new_base.
const placeholder = "{component}"

// Component is a set of translation files in a branch of a repository; with
// `{component}` in `slug` and `filemask`, one set per match.
type Component struct {
	// Slug is the component's name in URLs: letters, digits, `-` and `_` of ASCII, at most
	// 100. With `{component}` in it, one component is made per match of `{component}` in
	// `filemask`; every run of other characters in the match becomes `-`, and `-2`, `-3`…
	// is added where two would be equal. The slug of a match stays when `filemask` changes.
	Slug string `yaml:"slug" required:"true"`
	// Repo is the repository: any git address (`https://`, `ssh://`, `git://`,
	// `file://`, `user@host:path`) or a local path. Components of the same
	// repository and branch share one local mirror.
	Repo Address `yaml:"repo" required:"true"`
	// Branch is the branch to read. Empty: the remote's HEAD.
	Branch string `yaml:"branch"`
	// The fields of catalog.ComponentSettings but for those that differ here.
	catalog.ComponentSettings
	// TemplateRepo is the repository that `new_base` is read from. Empty: `repo`. It is
	// pulled like any other; while it is away, its last state stays.
	TemplateRepo Address `yaml:"template_repo"`
	// Suggestions names branches of the same repository whose texts are shown as
	// suggestions, `{branches: "l10n/*"}`.
	Suggestions Suggestions `yaml:"suggestions"`
	// WebhookSecretEnv names the environment variable with the secret of
	// webhooks; it wins over the project's. See docs/webhooks.md.
	WebhookSecretEnv string `yaml:"webhook_secret_env" env:"HOOK_SECRET"`

	// WebhookSecret is the value of that variable, or of the project's; "" if no
	// variable is named or it is not set. It is never printed.
	WebhookSecret Secret `yaml:"-"`
	// WebhookSecured says that a variable is named, here or in the project.
	WebhookSecured bool `yaml:"-"`

	// Push is the address that edits are pushed to, if it is another one than `repo`: of
	// the same repository, such as its address for ssh. It is served without credentials.
	Push Address `yaml:"push"`
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
	Flush time.Duration `yaml:"flush" range:"0s 8760h"`
	// FlushMax is the number of edits at which they are pushed at once; 0: no number.
	FlushMax int `yaml:"flush_max" range:"0"`
	// OnConflict says which text stays if the repository and somebody here changed the
	// same string: that of the `repository`, so that the other becomes a suggestion, or
	// the `edit`.
	OnConflict string `yaml:"on_conflict" oneof:"repository edit"`
	// With `errors` it keeps edits pending that `msgfmt -c` would refuse;
	// with `none` they are committed.
	CommitGate string `yaml:"commit_gate" oneof:"none errors"`
	// PoHeader says whether a commit sets PO-Revision-Date and Last-Translator where a
	// file has them (`revision`), or leaves them (`keep`).
	PoHeader string `yaml:"po_header" oneof:"revision keep"`
	// Msgmerge, with `commit`, updates files when `new_base` has changed; with `none` not. See
	// docs/editing.md.
	Msgmerge string `yaml:"msgmerge" oneof:"none commit"`
	// MsgmergeOptions are options of msgmerge: `previous`, `no_fuzzy_matching`, `no_location`,
	// `no_wrap`.
	MsgmergeOptions []string `yaml:"msgmerge_options"`
	// MsgmergeAfter is how long the template must stay as it is before that, such as `1h`.
	MsgmergeAfter time.Duration `yaml:"msgmerge_after" range:"0s 8760h"`
	// MsgmergeWhen says whether `strings` must have come, gone or been reworded, or `any` change
	// will do.
	MsgmergeWhen string `yaml:"msgmerge_when" oneof:"strings any"`
	// Signoff adds Signed-off-by, with the author's name and address, to commits.
	Signoff bool `yaml:"signoff"`
	// SigningKeyEnv names the environment variable with the private key that signs
	// commits: one of SSH or an armoured one of OpenPGP, without a passphrase.
	SigningKeyEnv string `yaml:"signing_key_env" env:"SIGNING_KEY"`
	// Forge is the service with the requests of `push_mode: request`. With another mode
	// those that were opened before are closed there.
	Forge string `yaml:"forge" oneof:"github gitlab gitea forgejo"`
	// ForgeURL is its address, `https://git.example.org`. Empty: github.com or gitlab.com.
	ForgeURL string `yaml:"forge_url"`
	// ForgeTokenEnv names the environment variable with the token for its API. It must
	// permit to read and write requests of the repository.
	ForgeTokenEnv string `yaml:"forge_token_env" env:"FORGE_TOKEN"`

	// Translators, with `push`, lets an account of a `sign_in` provider that is the forge edit
	// what it may push to there: the forge is asked with `forge_token_env`, once an hour.
	Translators string `yaml:"translators" oneof:"push"`

	// SigningKey and ForgeToken are the values of these variables; never printed.
	SigningKey Secret `yaml:"-"`
	ForgeToken Secret `yaml:"-"`
}

// Suggestions selects the branches that suggestions come from.
type Suggestions struct {
	// Branches is a pattern of branch names; `*` matches anything, `/` too.
	// A text that a commit of such a branch added, and that differs from the served
	// one, is a suggestion until the branch is merged or deleted.
	Branches string `yaml:"branches"`
	// Limit is the number of branches that are read, the first ones by name, 1 to
	// 1000; the log says how many are left out.
	Limit int `yaml:"limit" range:"1 1000"`
}

// DefaultComponent returns a component with the default settings and without slug,
// repo and filemask (docs/configuration.md).
func DefaultComponent() Component {
	return Component{
		ComponentSettings: catalog.ComponentSettings{
			History:                     catalog.History{Full: true},
			SourceLanguage:              "en",
			LanguageRegex:               filemask.DefaultLanguageRegex,
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
		},
		Suggestions: Suggestions{Limit: 20},
		CommitBy:    "author+language",
		Flush:       10 * time.Minute,
		FlushMax:    500,
		OnConflict:  "repository",
		CommitGate:  "none",
		PoHeader:    "revision",

		Msgmerge: "none", MsgmergeWhen: "strings",
	}
}

// Discovers reports whether one component is made per match of `{component}`.
func (c *Component) Discovers() bool { return strings.Contains(c.Slug, placeholder) }

// Settings returns the settings as the catalog stores them: Push without credentials, message
// templates with CR LF line breaks (docs/compatibility.md#message-templates).
func (c *Component) Settings() catalog.ComponentSettings {
	s := c.ComponentSettings
	s.Push, s.TemplateRepo, s.Edits = c.Push.String(), c.TemplateRepo.String(), c.edits()
	if s.SuggestionBranches = c.Suggestions.Branches; s.SuggestionBranches != "" {
		s.SuggestionLimit = c.Suggestions.Limit
	}
	for _, message := range []*string{&s.CommitMessage, &s.AddMessage, &s.DeleteMessage, &s.MergeMessage, &s.AddonMessage, &s.PullMessage} {
		*message = strings.ReplaceAll(strings.ReplaceAll(*message, "\r\n", "\n"), "\n", "\r\n")
	}
	return s
}

func (c *Component) edits() catalog.Edits {
	if c.PushMode == "" {
		return catalog.Edits{}
	}
	has := func(option string) bool { return slices.Contains(c.MsgmergeOptions, option) }
	var update catalog.Update
	if c.Msgmerge == "commit" {
		update = catalog.Update{
			On: true, Previous: has("previous"), NoFuzzyMatching: has("no_fuzzy_matching"), NoLocation: has("no_location"), NoWrap: has("no_wrap"),
			After: c.MsgmergeAfter, Any: c.MsgmergeWhen == "any",
		}
	}
	return catalog.Edits{
		Update: update,
		Mode:   c.PushMode, RequestPer: c.RequestPer, CommitBy: c.CommitBy, Flush: c.Flush, FlushMax: c.FlushMax, Overrule: c.OnConflict == "edit",
		Gate: c.CommitGate == "errors", KeepHeader: c.PoHeader == "keep", SignOff: c.Signoff,
	}
}

// The default message templates of a component: our own texts with Weblate's
// placeholders (docs/compatibility.md#message-templates).
var (
	//go:embed messages/commit.txt
	commitMessage string
	//go:embed messages/add.txt
	addMessage string
	//go:embed messages/delete.txt
	deleteMessage string
	//go:embed messages/merge.txt
	mergeMessage string
	//go:embed messages/addon.txt
	addonMessage string
	//go:embed messages/pull.txt
	pullMessage string
)
