package catalog

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"strconv"
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
	ActionPush              Action = 18 // a request to merge edits was opened
	ActionFailedMerge       Action = 22 // a pull failed
	ActionParseError        Action = 24 // a file cannot be parsed
	ActionRemoveTranslation Action = 25 // a language file disappeared
	ActionSuggestionDelete  Action = 26 // a suggestion was rejected
	ActionNewUnit           Action = 31 // a string appeared
	ActionMarkedEdit        Action = 37 // a string was marked as needing editing, through the API
	ActionFailedPush        Action = 28 // a push of edits failed
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
	ActionPush:              "Pushed changes",
	ActionFailedMerge:       "Failed merge on repository",
	ActionParseError:        "Parse error",
	ActionRemoveTranslation: "Removed translation",
	ActionNewUnit:           "New string added",
	ActionFailedPush:        "Failed push on repository",
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
	// it has EventPreviousSource, and EventConflict where an edit ended so; for other strings it
	// is nil.
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

// EventConflict is the key of Change.Event for an entry by which an edit ended in a conflict.
const EventConflict = "edit_conflict"

// EventRequest and EventURL are the keys of Change.Event for the number of a request to merge
// that was opened, and for its page.
const (
	EventRequest = "request"
	EventURL     = "url"
)

// ActionsOf returns the actions that somebody wants to be told who names them: by number, by
// Weblate's name, or together. conflicts are the entries with EventConflict.
func ActionsOf(event string) (actions []Action, conflicts, known bool) {
	switch event {
	case "component_error":
		return []Action{ActionFailedMerge, ActionParseError, ActionFailedPush}, false, true
	case "request_opened":
		return []Action{ActionPush}, false, true
	case EventConflict:
		return nil, true, true
	}
	for a, name := range actionNames {
		if strings.EqualFold(name, event) || strconv.Itoa(int(a)) == event {
			return []Action{a}, false, true
		}
	}
	return nil, false, false
}

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
	lines = Each(lines, func(line *string) string { return strings.TrimSpace(*line) })
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

// Known has the fields of a stored unit that Diff needs.
type Known struct {
	// ID is the unit's id.
	ID int64
	// Identity is the unit's identity.
	Identity Identity
	// Text and Meta are the stored unit's fingerprints, by Hasher.Text and
	// Hasher.Meta.
	Text, Meta int64
	// Removed marks a unit that the file did not have before.
	Removed bool
}

// Seen has the fields of a unit just read that Diff needs.
type Seen struct {
	// Identity is the unit's identity.
	Identity Identity
	// Text and Meta are its fingerprints, by Hasher.Text and Hasher.Meta.
	Text, Meta int64
}

// Pair is a stored unit and the unit just read with the same identity, as indices
// into the two arguments of Diff.
type Pair struct{ Known, Seen int }

// Delta is the difference between the stored and the read units of a
// translation. Every unit that was read is in exactly one of Added, Returned,
// Updated, Touched and Same, in the order of the file.
type Delta struct {
	// Added are the indices of units that have not been stored before.
	Added []int
	// Returned are units that were removed and are in the file again.
	Returned []Pair
	// Updated are units whose target or state changed.
	Updated []Pair
	// Touched are units with the same target and state of which another field
	// changed, such as note or flags. They are stored and make no change entry.
	Touched []Pair
	// Same are units that did not change, except perhaps their position.
	Same []Pair
	// Removed are the indices of live stored units that the file no longer has,
	// in the order of the stored units.
	Removed []int
}

// Diff compares the stored units of a translation, including removed ones, with the
// units just read from its file. Identities must be unique within each argument: the
// caller keeps the first one of repeated entries.
func Diff(known []Known, seen []Seen) Delta {
	d := Delta{Same: make([]Pair, 0, min(len(known), len(seen)))}
	index := knownIndex{known: known}
	found := make([]bool, len(known))
	for i := range seen {
		k, ok := index.find(seen[i].Identity)
		if !ok {
			d.Added = append(d.Added, i)
			continue
		}
		found[k] = true
		d.classify(Pair{Known: k, Seen: i}, &known[k], &seen[i])
	}
	for i := range known {
		if !found[i] && !known[i].Removed {
			d.Removed = append(d.Removed, i)
		}
	}
	return d
}

// knownIndex finds stored units. Files are usually in the order of the ids, so the
// unit after the last one found is tried first; the table is made when that fails.
type knownIndex struct {
	known []Known
	next  int
	table []int32 // open addressing; index+1, or 0
	mix   uint64  // odd and random, so that no file can be made whose strings share a slot
	shift int
}

func (x *knownIndex) find(id Identity) (int, bool) {
	if x.next < len(x.known) && x.known[x.next].Identity == id {
		x.next++
		return x.next - 1, true
	}
	if len(x.known) == 0 {
		return 0, false
	}
	if x.table == nil {
		x.build()
	}
	for slot := x.slot(id); x.table[slot] != 0; slot = x.after(slot) {
		if k := int(x.table[slot] - 1); x.known[k].Identity == id {
			x.next = k + 1
			return k, true
		}
	}
	return 0, false
}

func (x *knownIndex) build() {
	size := bits.Len(uint(len(x.known))) + 1
	x.table, x.mix, x.shift = make([]int32, 1<<size), rand.Uint64()|1, 64-size
	for i := range x.known {
		slot := x.slot(x.known[i].Identity)
		for x.table[slot] != 0 {
			slot = x.after(slot)
		}
		x.table[slot] = int32(i + 1)
	}
}

func (x *knownIndex) slot(id Identity) uint64  { return uint64(id.Key) * x.mix >> x.shift }
func (x *knownIndex) after(slot uint64) uint64 { return (slot + 1) & uint64(len(x.table)-1) }

// classify adds a pair to the list for its difference.
func (d *Delta) classify(p Pair, known *Known, seen *Seen) {
	switch {
	case known.Removed:
		d.Returned = append(d.Returned, p)
	case known.Text != seen.Text:
		d.Updated = append(d.Updated, p)
	case known.Meta != seen.Meta:
		d.Touched = append(d.Touched, p)
	default:
		d.Same = append(d.Same, p)
	}
}
