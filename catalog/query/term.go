package query

import (
	"cmp"
	_ "embed" // of actions.txt
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
)

// term parses a field with its value, or a plain value.
func (p *parser) term(t *token) (Expr, error) {
	switch t.field {
	case "":
		return p.textTerm(t, "")
	case "source", "target", "context", "note", "location", "flags", "comment", "suggestion":
		return p.textTerm(t, Column(t.field))
	case "key":
		return p.textTerm(t, Context)
	case "state", "source_state", "priority", "position", "id":
		return p.numberTerm(t)
	case "added", "changed", "change_time", "last_changed", "source_changed":
		return p.timeTerm(t)
	case "is", "has", "pending", "labels_count":
		return p.flagTerm(t)
	case "check", "changed_by", "change_action", "language", "source_language", "project", "component", "path":
		return p.nameTerm(t)
	case "label", "screenshot", "dismissed_check", "resolved_comment", "explanation",
		"suggestion_author", "comment_author", "source_comment":
		_, err := p.textTerm(t, "") // a regular expression must still be valid
		return None, err
	}
	return nil, p.failf(t.pos, "Unsupported field: %s", t.field)
}

// textTerm parses a comparison of texts. The operators < and > are part of the
// text.
func (p *parser) textTerm(t *token, column Column) (Expr, error) {
	m := Match{Pattern: t.value.text}
	switch {
	case t.value.regexp:
		m.Kind = Regexp
		size, err := checks.ExpressionSize(m.Pattern)
		if err != nil {
			return nil, p.failf(t.valuePos, "Invalid regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		if p.sizes += size; p.sizes > MaxRegexp {
			return nil, p.failf(t.valuePos, "The regular expressions are too complex")
		}
		return Text{column, m}, nil
	case t.value.ranged:
		m.Pattern = t.value.written
	}
	switch t.op {
	case ":=":
		m.Kind = Exact
	case ":<", ":<=", ":>", ":>=":
		m.Pattern = t.op[1:] + t.value.written
	}
	return Text{column, m}, nil
}

const (
	minNumber = -1 << 63
	maxNumber = 1<<63 - 1
)

// numberTerm parses a comparison of a number: one number, a range, or a list of
// ids.
func (p *parser) numberTerm(t *token) (Expr, error) {
	n := Number{Field: NumericField(t.field)}
	if n.Field == ID && t.op == ":" && strings.Contains(t.value.text, ",") && !t.value.regexp && !t.value.ranged {
		for part := range strings.SplitSeq(t.value.text, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			id, err := p.number(t, part)
			if err != nil {
				return nil, err
			}
			n.Spans = append(n.Spans, Span{id, id})
		}
		if len(n.Spans) > MaxList {
			return nil, p.failf(t.valuePos, "More than %d ids", MaxList)
		}
		if len(n.Spans) > 0 {
			return n, nil
		}
	}
	lo, err := p.number(t, t.value.text)
	if err != nil {
		return nil, err
	}
	hi := lo
	if t.value.ranged {
		if t.op != ":" && t.op != ":=" {
			return nil, p.failf(t.valuePos, "A range cannot be compared")
		}
		if hi, err = p.number(t, t.value.end); err != nil {
			return nil, err
		}
	}
	span, ok := compared(t.op, lo, hi)
	if !ok {
		return None, nil
	}
	n.Spans = []Span{span}
	return n, nil
}

// compared is the range that an operator selects; ok is false if it is empty.
func compared(op string, lo, hi int64) (s Span, ok bool) {
	switch op {
	case ":<":
		return Span{minNumber, lo - 1}, lo != minNumber
	case ":<=":
		return Span{minNumber, lo}, true
	case ":>":
		return Span{lo + 1, maxNumber}, lo != maxNumber
	case ":>=":
		return Span{lo, maxNumber}, true
	}
	return Span{lo, hi}, lo <= hi
}

func (p *parser) number(t *token, text string) (int64, error) {
	if t.value.regexp {
		return 0, p.failf(t.valuePos, "%s takes no regular expression", t.field)
	}
	if field := NumericField(t.field); field == State || field == SourceState {
		if state, ok := states[strings.ToLower(text)]; ok {
			return int64(state), nil
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, p.failf(t.valuePos, "Unsupported %s: %s", t.field, quote(text))
	}
	return n, nil
}

// states are the states by their names in lower case.
var states = map[string]catalog.State{
	"empty": catalog.StateEmpty, "untranslated": catalog.StateEmpty,
	"needs-editing": catalog.StateFuzzy, "fuzzy": catalog.StateFuzzy,
	"translated": catalog.StateTranslated, "approved": catalog.StateApproved,
	"read-only": catalog.StateReadOnly, "readonly": catalog.StateReadOnly,
}

// flagTerm parses fields whose answer is yes or no.
func (p *parser) flagTerm(t *token) (Expr, error) {
	name := strings.ReplaceAll(strings.ToLower(t.value.text), "_", "-")
	if t.value.regexp || t.value.ranged || t.op != ":" && t.op != ":=" && t.field != "labels_count" {
		return nil, p.failf(t.valuePos, "%s takes a word", t.field)
	}
	switch t.field {
	case "is":
		return p.isTerm(t, name)
	case "has":
		return p.hasTerm(t, name)
	case "pending":
		switch name {
		case "yes", "true", "on", "1":
			return Pending{}, nil
		case "no", "false", "off", "0":
			return Not{X: Pending{}}, nil
		}
		return nil, p.failf(t.valuePos, "Unsupported %s: %s", t.field, quote(t.value.text))
	}
	n, err := p.number(t, t.value.text) // labels_count: always 0
	span, ok := compared(t.op, n, n)
	return Const(ok && span.Lo <= 0 && 0 <= span.Hi), err
}

func (p *parser) isTerm(t *token, name string) (Expr, error) {
	switch name {
	case "translated":
		return Number{State, []Span{{int64(catalog.StateTranslated), maxNumber}}}, nil
	case "untranslated":
		return Number{State, []Span{{minNumber, int64(catalog.StateTranslated) - 1}}}, nil
	case "pending":
		return Pending{}, nil
	case "automatically-translated":
		return None, nil
	}
	if state, ok := states[name]; ok && name != "empty" {
		return Number{State, []Span{{int64(state), int64(state)}}}, nil
	}
	return nil, p.failf(t.valuePos, "Unsupported is lookup: %s", quote(t.value.text))
}

func (p *parser) hasTerm(t *token, name string) (Expr, error) {
	switch name {
	case "plural":
		return Plural{}, nil
	case "note", "context", "location", "comment", "suggestion":
		return Filled{Column(name)}, nil
	case "translation":
		return Number{State, []Span{{int64(catalog.StateTranslated), maxNumber}}}, nil
	case "check", "failing-check":
		return Failing{}, nil
	case "explanation", "resolved-comment", "dismissed-check", "ignored-check",
		"variant", "shaping", "label", "screenshot", "flags", "glossary", "source-comment":
		return None, nil
	}
	return nil, p.failf(t.valuePos, "Unsupported has lookup: %s", quote(t.value.text))
}

// failing is the term of a check by its name, as in the API or as in flags. An
// unknown check fails nowhere.
func failing(name string) Expr {
	dashed := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }
	for _, c := range checks.All() {
		if dashed(c.Name) == dashed(name) {
			return Failing{c.Name}
		}
	}
	return None
}

// nameTerm parses the name of a check, a scope, an author or an action.
func (p *parser) nameTerm(t *token) (Expr, error) {
	if t.value.regexp || t.value.ranged || t.op != ":" && t.op != ":=" {
		return nil, p.failf(t.valuePos, "%s takes a name", t.field)
	}
	name := t.value.text
	switch t.field {
	case "check":
		return failing(name), nil
	case "changed_by":
		return Author{name}, nil
	case "change_action":
		action, ok := actionOf(name)
		if !ok {
			return nil, p.failf(t.valuePos, "Unsupported %s: %s", t.field, quote(name))
		}
		return Action{action}, nil
	case "path":
		name = strings.Trim(name, "/")
	}
	return Scope{Level(t.field), cmp.Or(name, "-/-")}, nil
}

// actionNames are the actions of Weblate (docs/compatibility.md#change-entries):
// the number, then its names in lower case with dashes, the oldest first.
//
//go:embed actions.txt
var actionNames string

// newUnitRepo is the action that newer versions of Weblate use for ActionNewUnit.
const newUnitRepo = 71

// actionOf finds an action by its number, its name or its dashed name.
func actionOf(name string) (catalog.Action, bool) {
	if n, err := strconv.ParseInt(name, 10, 16); err == nil {
		return catalog.Action(n), catalog.Action(n).Known()
	}
	dashed := strings.ReplaceAll(strings.ToLower(name), " ", "-")
	for line := range strings.Lines(actionNames) {
		number, names, _ := strings.Cut(strings.TrimSpace(line), " ")
		for known := range strings.FieldsSeq(names) {
			if known != dashed {
				continue
			}
			n, err := strconv.ParseInt(number, 10, 16)
			if n == newUnitRepo {
				n = int64(catalog.ActionNewUnit)
			}
			return catalog.Action(n), err == nil
		}
	}
	return 0, false
}

// events are the fields with a time.
var events = []Event{Added, Changed, ChangeTime, LastChanged, SourceChanged}

// timeTerm parses a comparison with a time. A year, a month or a day means all of
// it.
func (p *parser) timeTerm(t *token) (Expr, error) {
	if t.value.regexp {
		return nil, p.failf(t.valuePos, "%s takes no regular expression", t.field)
	}
	from, to, ok := p.period(t.value.text)
	if ok && t.value.ranged {
		ok = t.op == ":" || t.op == ":="
		var end bool
		_, to, end = p.period(t.value.end)
		ok = ok && end
	}
	if !ok {
		return nil, p.failf(t.valuePos, "Invalid timestamp: %s", quote(t.value.written))
	}
	e := Time{Event: Event(t.field)}
	switch t.op {
	case ":<", ":<=": // the zero time would be no bound
		if t.op == ":<" && from.IsZero() || to.IsZero() {
			return None, nil
		}
	}
	switch t.op {
	case ":<":
		e.To = from
	case ":<=":
		e.To = to
	case ":>":
		e.From = to
	case ":>=":
		e.From = from
	default:
		if e.From, e.To = from, to; !from.Before(to) {
			return None, nil
		}
	}
	return e, nil
}

// daysAgo are the days that are named by how long ago they were.
var daysAgo = regexp.MustCompile(`^(an?|\d{1,6}) (day|week|month|year)s? ago$`)

// named is the day of UTC that a text names as today, yesterday or "3 days ago".
func (p *parser) named(s string) (day time.Time, ok bool) {
	s = strings.ToLower(strings.Join(strings.Fields(s), " "))
	switch s {
	case "today":
		s = "0 days ago"
	case "yesterday":
		s = "1 day ago"
	}
	m := daysAgo.FindStringSubmatch(s)
	if m == nil {
		return day, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		n = 1
	}
	y, month, d := p.now.UTC().Date()
	switch m[2] {
	case "day":
		d -= n
	case "week":
		d -= 7 * n
	case "month":
		month -= time.Month(n)
	case "year":
		y -= n
	}
	day = time.Date(y, month, d, 0, 0, 0, 0, time.UTC)
	return day, day.Year() > 0
}

// precisions are how times are written, and the end of the period that each names.
var precisions = []struct {
	layout string
	end    func(from time.Time) time.Time
}{
	{"2006", func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }},
	{"2006-1", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }},
	{"2006-1-2", func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }},
	{"2006-1-2T15:4", func(t time.Time) time.Time { return t.Add(time.Minute) }},
	{"2006-1-2T15:4:5", func(t time.Time) time.Time { return t.Add(time.Second) }},
}

// period is the range of times with the precision of the text. A time without a
// zone is UTC.
func (p *parser) period(s string) (from, to time.Time, ok bool) {
	if day, ok := p.named(s); ok {
		return day, day.AddDate(0, 0, 1), true
	}
	s = strings.ToUpper(strings.TrimSpace(s))
	if date, clock, spaced := strings.Cut(s, " "); spaced && !strings.Contains(date, "T") {
		s = date + "T" + clock
	}
	s = strings.Join(strings.Fields(s), "") // before the zone
	for _, precision := range precisions {
		zones := []string{""}
		if strings.Contains(precision.layout, ":") {
			zones = []string{"", "Z07:00", "Z0700", "Z07"}
		}
		for _, zone := range zones {
			from, err := time.Parse(precision.layout+zone, s)
			if err != nil || from.Year() < 1 || from.Year() > 9998 {
				continue
			}
			if strings.ContainsAny(s, ".,") {
				from = from.Truncate(time.Microsecond)
				return from.UTC(), from.Add(time.Microsecond).UTC(), true
			}
			return from.UTC(), precision.end(from).UTC(), true
		}
	}
	return from, to, false
}
