package query

import (
	"fmt"
	"unicode/utf8"
)

// Error says what is wrong with a query.
type Error struct {
	// Column is where, in characters from 1.
	Column int
	// Text is what, without a final stop.
	Text string
}

// Error is the text that clients see (decision 29).
func (e *Error) Error() string {
	return fmt.Sprintf("Could not parse query string: %s at column %d", e.Text, e.Column)
}

func (p *parser) failf(pos int, format string, args ...any) *Error {
	return &Error{Column: utf8.RuneCountInString(p.text[:pos]) + 1, Text: fmt.Sprintf(format, args...)}
}

// quote shows a part of the query in a message, the beginning of a long one.
func quote(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return "'" + s + "'"
}
