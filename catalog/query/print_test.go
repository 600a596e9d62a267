package query

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// printed is a query with the same meaning: "" for All; for None it is a label, which no
// unit has.
func printed(e Expr) string {
	switch e := e.(type) {
	case Const:
		if e {
			return ""
		}
		return `label:""`
	case And:
		return joined(e, " AND ")
	case Or:
		return joined(e, " OR ")
	case Not:
		return "NOT " + inner(e.X)
	case Text:
		value := Quote(e.Match.Pattern)
		switch {
		case e.Match.Kind == Regexp:
			value = `r"` + strings.ReplaceAll(e.Match.Pattern, `"`, `\"`) + `"`
		case e.Match.Kind == Exact && e.Column != "":
			value = "=" + value
		}
		return strings.TrimPrefix(string(e.Column)+":"+value, ":")
	case Filled:
		return "has:" + string(e.Column)
	case Plural:
		return "has:plural"
	case Pending:
		return "is:pending"
	case Failing:
		if e.Check == "" {
			return "has:check"
		}
		return "check:" + Quote(e.Check)
	case Number:
		return string(e.Field) + ":" + numbers(e)
	case Time:
		return string(e.Event) + ":" + times(e)
	case Author:
		return "changed_by:" + Quote(e.Username)
	case Action:
		return "change_action:" + strconv.Itoa(int(e.Action))
	case Scope:
		return string(e.Level) + ":" + Quote(e.Value)
	}
	return fmt.Sprintf("%#v", e)
}

func joined(list []Expr, word string) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = inner(e)
	}
	return strings.Join(parts, word)
}

// inner adds parentheses to an operand that needs them. All has no text of its
// own, but is never an operand after parsing.
func inner(e Expr) string {
	switch e := e.(type) {
	case And, Or, Not:
		return "(" + printed(e) + ")"
	case Const:
		if e {
			return "state:>=0"
		}
	}
	return printed(e)
}

func numbers(n Number) string {
	if len(n.Spans) > 1 || n.Field == ID && len(n.Spans) == 1 && n.Spans[0].Lo == n.Spans[0].Hi {
		ids := make([]string, len(n.Spans))
		for i, s := range n.Spans {
			ids[i] = strconv.FormatInt(s.Lo, 10)
		}
		return strings.Join(ids, ",")
	}
	s := n.Spans[0]
	lo, hi := strconv.FormatInt(s.Lo, 10), strconv.FormatInt(s.Hi, 10)
	switch {
	case s.Lo == s.Hi:
		return "=" + lo
	case s.Hi == maxNumber:
		return ">=" + lo
	case s.Lo == minNumber:
		return "<=" + hi
	}
	return "[" + lo + " to " + hi + "]"
}

func times(t Time) string {
	const instant = "2006-01-02T15:04:05.000000Z"
	from, to := t.From.UTC().Format(instant), t.To.UTC().Format(instant)
	switch {
	case t.To.IsZero():
		return ">=" + from
	case t.From.IsZero():
		return "<" + to
	}
	return "[" + from + " to " + t.To.Add(-time.Microsecond).UTC().Format(instant) + "]"
}
