package catalog

import "time"

// Action is the kind of a change entry (weblate-facts §4).
type Action int16

// The actions that repoglot records (decisions 16 and 21).
const (
	ActionFailedMerge       Action = 22 // a pull failed
	ActionParseError        Action = 24 // a file cannot be parsed
	ActionRemoveTranslation Action = 25 // a language file disappeared
	ActionNewUnit           Action = 31 // a string appeared
	ActionAddedLanguage     Action = 48 // a language file appeared
	ActionCreateComponent   Action = 51 // the component was created
	ActionHook              Action = 53 // a webhook asked for a pull
	ActionStringRepoUpdate  Action = 59 // target or state changed
	ActionStringRemove      Action = 63 // a string disappeared
)

// Name returns the action_name of the specification's era (weblate-facts §4,
// column 4.x), or "" for an action that repoglot never records.
func (a Action) Name() string {
	switch a {
	case ActionFailedMerge:
		return "Failed merge on repository"
	case ActionParseError:
		return "Parse error"
	case ActionRemoveTranslation:
		return "Removed translation"
	case ActionNewUnit:
		return "New string added"
	case ActionAddedLanguage:
		return "Added new language"
	case ActionCreateComponent:
		return "Created component"
	case ActionHook:
		return "Received repository notification"
	case ActionStringRepoUpdate:
		return "String updated in the repository"
	case ActionStringRemove:
		return "Removed string"
	}
	return ""
}

// Recorded reports whether repoglot ever makes entries of this action.
func (a Action) Recorded() bool { return a.Name() != "" }

// Known reports whether the action is in Weblate's table (weblate-facts §4):
// what a client may filter by, recorded or not.
func (a Action) Known() bool { return 0 <= a && a <= 104 && (a < 10 || a > 12) }

// Credited reports whether the entry names its author as user: what appears
// and disappears does, an update in the repository does not (decision 16).
func (a Action) Credited() bool { return a == ActionNewUnit || a == ActionStringRemove }

// Change is one entry of the change list (read-interface, Change entry;
// decisions 16, 17 and 21).
type Change struct {
	// ID is dense and ascending over the whole server.
	ID int64
	// Action is the kind of change.
	Action Action
	// UnitID is the unit; 0 for an entry about a component or a file.
	UnitID int64
	// Project, Component and Language are the slugs and the language code of
	// where it happened; Language is "" for an entry about a component.
	Project, Component, Language string
	// TranslationRemoved says that the file of the translation is gone now: its URL
	// answers 404 (decision 23).
	TranslationRemoved bool
	// Timestamp is when: decision 19.
	Timestamp time.Time
	// Username is the API name of the git author, "" if there is none.
	Username string
	// AuthorName is the author's full name.
	AuthorName string
	// Target is the text after the change, forms joined; for a removed string
	// the removed text.
	Target string
	// Old is the text before.
	Old string
	// State and OldState are the states after and before; -1 where the unit is
	// not there.
	State, OldState State
	// Source and Context are those of the unit.
	Source, Context string
	// Commit is the commit of origin, "" if there is none; CommitTime its
	// committer time.
	Commit     string
	CommitTime time.Time
	// CoAuthors are the names of the commit's Co-authored-by trailers.
	CoAuthors []string
	// Event holds what an entry about a component or a file tells: file, line,
	// message, language. Of an entry about a string it holds previous_source, if
	// that string took the place of a removed one, else it is nil.
	Event map[string]string
}

// EventPreviousSource is the key of Change.Event of an entry about a string.
const EventPreviousSource = "previous_source"

// StateAbsent is the State of a string that is not there, before it was added
// or after it was removed (weblate-facts §4, details).
const StateAbsent State = -1
