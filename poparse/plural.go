package poparse

import (
	"strconv"
	"strings"
)

// PluralForms is the header field Plural-Forms (gettext manual, section "Additional
// functions for plural forms").
type PluralForms struct {
	// Number is nplurals, from 1 to 32.
	Number int
	// Expression is the C expression in n after "plural=", without the semicolon
	// and the blanks around it. Its syntax is valid; it may still divide by zero
	// or give an index of Number or more.
	Expression string
}

const (
	// maxPlurals bounds the cost of msgstr[4000000000]; no language has more
	// than six forms.
	maxPlurals = 32
	// maxExpression and maxNesting bound a hostile plural expression. The
	// longest in use (Arabic, Cornish) have about 200 characters and five levels.
	maxExpression = 2000
	maxNesting    = 50
)

// PluralForms returns the number of plural forms and the expression of the header.
// It returns false if the field is missing, invalid, or still has the placeholders
// INTEGER and EXPRESSION of a POT.
func (f *File) PluralForms() (PluralForms, bool) {
	return parsePluralForms(f.Field("Plural-Forms"))
}

func parsePluralForms(field string) (PluralForms, bool) {
	var none PluralForms
	rest, ok := afterAssign(field, "nplurals")
	if !ok {
		return none, false
	}
	digits, expr, ok := strings.Cut(rest, ";")
	if !ok {
		return none, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(digits))
	if err != nil || n < 1 || n > maxPlurals {
		return none, false
	}
	expr, ok = afterAssign(expr, "plural")
	if !ok {
		return none, false
	}
	expr, _, _ = strings.Cut(expr, ";")
	expr = strings.TrimSpace(expr)
	if !validExpression(expr) {
		return none, false
	}
	return PluralForms{Number: n, Expression: expr}, true
}

// afterAssign returns what follows "key =" in s.
func afterAssign(s, key string) (string, bool) {
	i := strings.Index(s, key)
	if i < 0 {
		return "", false
	}
	s = strings.TrimLeft(s[i+len(key):], " \t")
	if !strings.HasPrefix(s, "=") || strings.HasPrefix(s, "==") {
		return "", false
	}
	return s[1:], true
}

// validExpression checks the syntax of a plural expression: C's conditional,
// logical, comparing and arithmetic operators over n and decimal numbers.
func validExpression(s string) bool {
	if s == "" || len(s) > maxExpression {
		return false
	}
	e := expression{s: s}
	return e.conditional(0) && e.peek() == 0
}

type expression struct {
	s string
	i int
}

func (e *expression) peek() byte {
	for e.i < len(e.s) && (e.s[e.i] == ' ' || e.s[e.i] == '\t') {
		e.i++
	}
	if e.i == len(e.s) {
		return 0
	}
	return e.s[e.i]
}

func (e *expression) conditional(depth int) bool {
	if depth > maxNesting || !e.binary(depth) {
		return false
	}
	if e.peek() != '?' {
		return true
	}
	e.i++
	if !e.conditional(depth+1) || e.peek() != ':' {
		return false
	}
	e.i++
	return e.conditional(depth + 1)
}

// binary accepts operands joined by operators; precedence does not matter for
// validity.
func (e *expression) binary(depth int) bool {
	for {
		if !e.operand(depth) {
			return false
		}
		if !e.operator() {
			return true
		}
	}
}

func (e *expression) operator() bool {
	c := e.peek()
	next := byte(0)
	if e.i+1 < len(e.s) {
		next = e.s[e.i+1]
	}
	switch {
	case c == '&' && next == '&', c == '|' && next == '|',
		next == '=' && (c == '=' || c == '!' || c == '<' || c == '>'):
		e.i += 2
	case c == '<', c == '>', c == '+', c == '-', c == '*', c == '/', c == '%':
		e.i++
	default:
		return false
	}
	return true
}

func (e *expression) operand(depth int) bool {
	c := e.peek()
	for c == '!' {
		e.i++
		c = e.peek()
	}
	switch {
	case c == 'n':
		e.i++
		return true
	case c == '(':
		e.i++
		if !e.conditional(depth+1) || e.peek() != ')' {
			return false
		}
		e.i++
		return true
	case c >= '0' && c <= '9':
		for e.i < len(e.s) && e.s[e.i] >= '0' && e.s[e.i] <= '9' {
			e.i++
		}
		return true
	}
	return false
}

// isPlaceholder reports whether the field has the placeholders of a POT.
func isPlaceholder(field string) bool {
	return strings.Contains(field, "INTEGER") || strings.Contains(field, "EXPRESSION")
}
