package query

import (
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// Expr is an expression: Const, And, Or, Not or a term (Text, Filled, Number,
// Time, Author, Action, Place). Its String is a query that means the same.
type Expr interface{ String() string }

// Const is true of every unit, or of none.
type Const bool

// The constant expressions. None is what a repository cannot hold:
// suggestions, comments, labels, screenshots, explanations.
const (
	All  Const = true
	None Const = false
)

// And holds where all of its parts hold.
type And []Expr

// Or holds where one of its parts holds.
type Or []Expr

// Not holds where X does not.
type Not struct {
	// X is never nil.
	X Expr
}

// Column is a text of a unit.
type Column string

// The columns.
const (
	Source   Column = "source"
	Target   Column = "target"
	Context  Column = "context"
	Notes    Column = "note"
	Location Column = "location"
	Flags    Column = "flags"
	// Comment is what catalog.OwnComment leaves of the translator comments.
	Comment Column = "comment"
	// Suggestion is each of the texts suggested for a unit.
	Suggestion Column = "suggestion"
)

// Text compares texts.
type Text struct {
	// Column is the text; "" stands for source, target or context.
	Column Column
	// Match is what the text has to be like.
	Match Match
}

// Filled holds where a text is not empty.
type Filled struct {
	// Column is never "".
	Column Column
}

// Plural holds for strings with plural forms.
type Plural struct{}

// Failing holds for units with a failing quality check.
type Failing struct {
	// Check is the name in the API, "" for any.
	Check string
}

// Span is a range of numbers, both ends included.
type Span struct{ Lo, Hi int64 }

// Figure is a number of a unit.
type Figure string

// The figures.
const (
	ID          Figure = "id"
	Position    Figure = "position"
	Priority    Figure = "priority"
	State       Figure = "state"
	SourceState Figure = "source_state"
)

// Number holds where a figure lies in one of the spans.
type Number struct {
	// Figure is what is compared.
	Figure Figure
	// Spans are the ranges, at least one.
	Spans []Span
}

// Event is a time of a unit.
type Event string

// The events.
const (
	// Added is when the string appeared.
	Added Event = "added"
	// Changed is every change of what the string says: an update, or an
	// appearance with a text.
	Changed Event = "changed"
	// ChangeTime is every entry in the history.
	ChangeTime Event = "change_time"
	// LastChanged is the newest entry in the history, else Added.
	LastChanged Event = "last_changed"
	// SourceChanged is LastChanged of the source string.
	SourceChanged Event = "source_changed"
)

// Time holds where an event, one of them if there are several, came in
// [From, To).
type Time struct {
	// Event is what happened.
	Event Event
	// From and To are whole microseconds; zero is no bound.
	From, To time.Time
}

// Author holds for strings with a Changed event by a git author.
type Author struct {
	// Username is the API name of the author, in any case.
	Username string
}

// Action holds for strings with an entry of this action.
type Action struct{ Action catalog.Action }

// Level is a part of the tree of projects.
type Level string

// The levels.
const (
	Language       Level = "language"
	SourceLanguage Level = "source_language"
	Project        Level = "project"
	Component      Level = "component"
	Path           Level = "path"
)

// Place holds for the units below a place: Value is a language code or a slug
// in any case, of a component also a part of its name, or a path
// project[/component[/language]].
type Place struct {
	// Level is what Value names.
	Level Level
	// Value is never empty.
	Value string
}

// String is "" for All; for None a label, which no unit has.
func (c Const) String() string {
	if c {
		return ""
	}
	return `label:""`
}

func (a And) String() string { return join(a, " AND ") }
func (o Or) String() string  { return join(o, " OR ") }
func (n Not) String() string { return "NOT " + inner(n.X) }

func join(list []Expr, word string) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = inner(e)
	}
	return strings.Join(parts, word)
}

// inner puts an operand into parentheses where it needs them. All, which no
// operand is after parsing, has no text of its own.
func inner(e Expr) string {
	switch e := e.(type) {
	case And, Or, Not:
		return "(" + e.String() + ")"
	case Const:
		if e {
			return "state:>=0"
		}
	}
	return e.String()
}

func (t Text) String() string {
	if t.Column == "" {
		return t.Match.String()
	}
	if t.Match.Kind == Exact {
		return string(t.Column) + ":=" + t.Match.String()
	}
	return string(t.Column) + ":" + t.Match.String()
}

func (f Filled) String() string {
	return "has:" + string(f.Column)
}

func (Plural) String() string { return "has:plural" }

func (f Failing) String() string {
	if f.Check == "" {
		return "has:check"
	}
	return "check:" + Quote(f.Check)
}

func (n Number) String() string {
	if len(n.Spans) > 1 || n.Figure == ID && len(n.Spans) == 1 && n.Spans[0].Lo == n.Spans[0].Hi {
		ids := make([]string, len(n.Spans))
		for i, s := range n.Spans {
			ids[i] = strconv.FormatInt(s.Lo, 10)
		}
		return string(n.Figure) + ":" + strings.Join(ids, ",")
	}
	s := n.Spans[0]
	lo, hi := strconv.FormatInt(s.Lo, 10), strconv.FormatInt(s.Hi, 10)
	switch {
	case s.Lo == s.Hi:
		return string(n.Figure) + ":=" + lo
	case s.Hi == maxNumber:
		return string(n.Figure) + ":>=" + lo
	case s.Lo == minNumber:
		return string(n.Figure) + ":<=" + hi
	}
	return string(n.Figure) + ":[" + lo + " to " + hi + "]"
}

const instant = "2006-01-02T15:04:05.000000Z"

func (t Time) String() string {
	switch {
	case t.To.IsZero():
		return string(t.Event) + ":>=" + t.From.UTC().Format(instant)
	case t.From.IsZero():
		return string(t.Event) + ":<" + t.To.UTC().Format(instant)
	}
	return string(t.Event) + ":[" + t.From.UTC().Format(instant) + " to " + t.To.Add(-time.Microsecond).UTC().Format(instant) + "]"
}

func (a Author) String() string { return "changed_by:" + Quote(a.Username) }

func (a Action) String() string { return "change_action:" + strconv.Itoa(int(a.Action)) }

func (p Place) String() string { return string(p.Level) + ":" + Quote(p.Value) }
