package query

import (
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// Expr is an expression: Const, And, Or, Not or a term (Text, Filled, Plural,
// Failing, Number, Time, Author, Action, Scope).
type Expr any

// Has reports whether an expression has a term for which is holds.
func Has(e Expr, is func(term Expr) bool) bool {
	some := func(x Expr) bool { return Has(x, is) }
	switch e := e.(type) {
	case And:
		return slices.ContainsFunc(e, some)
	case Or:
		return slices.ContainsFunc(e, some)
	case Not:
		return some(e.X)
	}
	return is(e)
}

// Const matches all units, or no units.
type Const bool

// The constant expressions. None means something that a repository cannot
// hold: labels, screenshots, explanations.
const (
	All  Const = true
	None Const = false
)

// And matches units that all of its parts match.
type And []Expr

// Or matches units that any of its parts matches.
type Or []Expr

// Not matches units that X does not match.
type Not struct {
	// X is never nil.
	X Expr
}

// Column is a text field of a unit.
type Column string

// The columns.
const (
	Source   Column = "source"
	Target   Column = "target"
	Context  Column = "context"
	Notes    Column = "note"
	Location Column = "location"
	Flags    Column = "flags"
	// Comment is the translator comment without what the template has
	// (catalog.OwnComment).
	Comment Column = "comment"
	// Suggestion is any text suggested for the unit.
	Suggestion Column = "suggestion"
)

// Text compares a text.
type Text struct {
	// Column is the text; "" means source, target or context.
	Column Column
	// Match is the comparison.
	Match Match
}

// Filled matches units with a text that is not empty.
type Filled struct {
	// Column is never "".
	Column Column
}

// Plural matches strings with plural forms.
type Plural struct{}

// Pending matches units with an edit that the repository does not have yet.
type Pending struct{}

// Failing matches units that fail a quality check.
type Failing struct {
	// Check is the name of the check in the API; "" means any.
	Check string
}

// Span is a range of numbers, including both ends.
type Span struct{ Lo, Hi int64 }

// NumericField is a numeric field of a unit.
type NumericField string

// The numeric fields.
const (
	ID          NumericField = "id"
	Position    NumericField = "position"
	Priority    NumericField = "priority"
	State       NumericField = "state"
	SourceState NumericField = "source_state"
)

// Number matches units with a field in one of the spans.
type Number struct {
	// Field is the field to compare.
	Field NumericField
	// Spans has at least one range.
	Spans []Span
}

// Event is a kind of event in the history of a unit.
type Event string

// The events.
const (
	// Added is the appearance of the string.
	Added Event = "added"
	// Changed is any change of the text: an update, or an appearance with a text.
	Changed Event = "changed"
	// ChangeTime is any entry in the history.
	ChangeTime Event = "change_time"
	// LastChanged is the newest entry in the history, or Added without entries.
	LastChanged Event = "last_changed"
	// SourceChanged is LastChanged of the source string.
	SourceChanged Event = "source_changed"
)

// Time matches units with an event in [From, To).
type Time struct {
	// Event is the kind of event.
	Event Event
	// From and To are whole microseconds; a zero bound is open.
	From, To time.Time
}

// Author matches strings with a Changed event by a git author.
type Author struct {
	// Username is the API name of the author, in any case.
	Username string
}

// Action matches strings with an entry of this action.
type Action struct{ Action catalog.Action }

// Level is a level of the tree of projects.
type Level string

// The levels.
const (
	Language       Level = "language"
	SourceLanguage Level = "source_language"
	Project        Level = "project"
	Component      Level = "component"
	Path           Level = "path"
)

// Scope matches the units of a part of the tree. Value is a language code or a
// slug, in any case; for components also a part of the name; or a path
// project[/component[/language]].
type Scope struct {
	// Level is the kind of Value.
	Level Level
	// Value is never empty.
	Value string
}
