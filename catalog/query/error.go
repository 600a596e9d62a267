package query

import (
	"fmt"
	"unicode/utf8"
)

// Error is a syntax error of a query.
type Error struct {
	// Column is its position, in characters from 1.
	Column int
	// Text says what is wrong, without a full stop.
	Text string
}

// Error returns the text that clients see.
func (e *Error) Error() string {
	return fmt.Sprintf("Could not parse query string: %s at column %d", e.Text, e.Column)
}

func (p *parser) failf(pos int, format string, args ...any) *Error {
	return &Error{Column: utf8.RuneCountInString(p.text[:pos]) + 1, Text: fmt.Sprintf(format, args...)}
}

// quote quotes a part of the query in a message, shortened if it is long.
func quote(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return "'" + s + "'"
}
