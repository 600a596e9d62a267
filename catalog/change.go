package catalog

import (
	"cmp"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// Action is the kind of a change entry (docs/compatibility.md#change-entries).
type Action int16

// The actions that repoglot records.
const (
	ActionChange            Action = 2  // a string was translated anew, through the API
	ActionSuggestion        Action = 4  // a text became a suggestion
	ActionNew               Action = 5  // an untranslated string was translated, through the API
	ActionAccept            Action = 7  // a suggestion was accepted
	ActionLock              Action = 14 // edits are refused from now on
	ActionUnlock            Action = 15 // edits are taken again
	ActionFailedMerge       Action = 22 // a pull failed
	ActionParseError        Action = 24 // a file cannot be parsed
	ActionRemoveTranslation Action = 25 // a language file disappeared
	ActionSuggestionDelete  Action = 26 // a suggestion was rejected
	ActionNewUnit           Action = 31 // a string appeared
	ActionMarkedEdit        Action = 37 // a string was marked as needing editing, through the API
	ActionAddedLanguage     Action = 48 // a language file appeared
	ActionCreateComponent   Action = 51 // the component was created
	ActionHook              Action = 53 // a webhook asked for a pull
	ActionStringRepoUpdate  Action = 59 // target or state changed
	ActionStringRemove      Action = 63 // a string disappeared
)

// actionNames are the names of Weblate 4.x.
var actionNames = map[Action]string{
	ActionChange:            "Translation changed",
	ActionSuggestion:        "Suggestion added",
	ActionAccept:            "Suggestion accepted",
	ActionSuggestionDelete:  "Suggestion removed",
	ActionNew:               "New translation",
	ActionMarkedEdit:        "Marked for edit",
	ActionLock:              "Component locked",
	ActionUnlock:            "Component unlocked",
	ActionFailedMerge:       "Failed merge on repository",
	ActionParseError:        "Parse error",
	ActionRemoveTranslation: "Removed translation",
	ActionNewUnit:           "New string added",
	ActionAddedLanguage:     "Added new language",
	ActionCreateComponent:   "Created component",
	ActionHook:              "Received repository notification",
	ActionStringRepoUpdate:  "String updated in the repository",
	ActionStringRemove:      "Removed string",
}

// Name returns the action_name of Weblate 4.x, or "" for an action that repoglot
// never records.
func (a Action) Name() string { return actionNames[a] }

// Recorded reports whether repoglot ever makes entries of this action.
func (a Action) Recorded() bool { return a.Name() != "" }

// Known reports whether Weblate has the action: clients may filter by it, recorded
// or not.
func (a Action) Known() bool { return 0 <= a && a <= 104 && (a < 10 || a > 12) }

// Edits reports whether the entry is about an edit through the API.
func (a Action) Edits() bool {
	return a == ActionChange || a == ActionNew || a == ActionAccept || a == ActionMarkedEdit
}

// OfString reports whether the entry is about a string. Others are about the component
// (docs/compatibility.md#component-events).
func (a Action) OfString() bool {
	return a.Edits() || a.Suggests() || a == ActionNewUnit || a == ActionStringRepoUpdate || a == ActionStringRemove
}

// Suggests reports whether the entry is about a suggestion: it changes no text, and is no
// change of its translation (docs/compatibility.md#last-change).
func (a Action) Suggests() bool { return a == ActionSuggestion || a == ActionSuggestionDelete }

// Credited reports whether the entry names its author as user: edits, suggestions, locks
// and entries of added and removed strings and files do, updates in the repository do not.
func (a Action) Credited() bool {
	switch a {
	case ActionLock, ActionUnlock, ActionRemoveTranslation, ActionNewUnit, ActionAddedLanguage, ActionStringRemove:
		return true
	}
	return a.Edits() || a.Suggests()
}

// Change is one entry of the change list (docs/compatibility.md#change-entries).
type Change struct {
	// ID ascends without gaps over the whole server.
	ID int64
	// Action is the kind of change.
	Action Action
	// UnitID is the unit; 0 for an entry about a component or a file.
	UnitID int64
	// Project and Component are the slugs, and Language is the language code, of
	// the changed object; Language is "" for an entry about a component.
	Project, Component, Language string
	// TranslationRemoved says that the file of the translation has been removed
	// since: its URL answers 404.
	TranslationRemoved bool
	// Timestamp is the time of the change (docs/compatibility.md#history).
	Timestamp time.Time
	// Username is the API name of the git author, "" without one.
	Username string
	// AuthorName is the author's full name.
	AuthorName string
	// Target is the text after the change, forms joined; for a removed string
	// the removed text.
	Target string
	// Old is the text before.
	Old string
	// State and OldState are the states after and before, StateAbsent where the
	// unit did not exist.
	State, OldState State
	// Source and Context are the source and context of the unit.
	Source, Context string
	// Commit is the commit that made the change, "" without one; CommitTime is
	// its committer time.
	Commit     string
	CommitTime time.Time
	// CoAuthors are the names of the commit's Co-authored-by trailers.
	CoAuthors []string
	// Event has the details of an entry about a component or a file: file, line,
	// message, language. For an entry about a string that replaced a removed one
	// it has EventPreviousSource; for other strings it is nil.
	Event map[string]string
}

// CompareNewest orders changes by time, the newest first, and then by id: a replay stores
// one component after the other, so ids alone are not in the order of time.
func CompareNewest(a, b Change) int {
	return cmp.Or(b.Timestamp.Compare(a.Timestamp), cmp.Compare(b.ID, a.ID))
}

// EventPreviousSource is the key of Change.Event for the source of the removed string
// that a new one replaced.
const EventPreviousSource = "previous_source"

// StateAbsent is the State of a string before it was added and after it was removed.
const StateAbsent State = -1

// Commit is a commit as people see it. It has no e-mail address
// (docs/compatibility.md#repository-status).
type Commit struct {
	// Hash is the commit's id, 40 hexadecimal digits.
	Hash string
	// Author wrote the change, Committer made the commit; either may be empty.
	Author, Committer string
	// AuthorTime and CommitTime are the times of both, zero if the commit has none.
	AuthorTime, CommitTime time.Time
	// Message is the whole message, without blanks at the ends of its lines.
	Message string
}

// maxCommitMessage is the length to which a message is cut, in bytes.
const maxCommitMessage = 16 << 10

// NewCommit removes e-mail addresses from the texts of a commit and cuts its message
// to 16 KiB.
func NewCommit(c Commit) Commit {
	c.Author, c.Committer = withoutAddresses(c.Author), withoutAddresses(c.Committer)
	lines := strings.Split(withoutAddresses(cut(c.Message, maxCommitMessage)), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	c.Message = strings.Trim(strings.Join(lines, "\n"), "\n")
	return c
}

// Summary is the first line of the message.
func (c *Commit) Summary() string {
	line, _, _ := strings.Cut(c.Message, "\n")
	return line
}

// cut shortens s to at most n bytes without breaking a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// PersonName is the name under which a person is shown: without an e-mail address, which
// some have as their name. What is left of an address alone is the part before its "@".
func PersonName(name string) string {
	if !strings.Contains(name, "@") {
		return name
	}
	if shown := strings.TrimSpace(withoutAddresses(name)); shown != "" {
		return shown
	}
	before, _, _ := strings.Cut(strings.TrimLeft(name, " <"), "@")
	return before
}

// ValidEmail reports whether a text is an e-mail address that headers and commits can have.
func ValidEmail(s string) bool {
	return len(s) <= 254 && regexp.MustCompile(`^[^\s@<>()\[\],;:"\\[:cntrl:]]+@[\pL\pN-]+(\.[\pL\pN-]+)*$`).MatchString(s)
}

// withoutAddresses removes e-mail addresses in angle brackets, as in trailers, and
// shortens all others to the name before the at sign.
func withoutAddresses(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	s = regexp.MustCompile(`[ \t]*<[^<>\s]*@[^<>\s]*>`).ReplaceAllString(s, "")
	return regexp.MustCompile(`([\pL\pN._%+'-]+)@[\pL\pN-]+(\.[\pL\pN-]+)+`).ReplaceAllString(s, "$1")
}
