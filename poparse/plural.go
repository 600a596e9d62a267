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
	var none PluralForms
	rest, _ := afterAssign(f.Field("Plural-Forms"), "nplurals")
	digits, rest, _ := strings.Cut(rest, ";")
	n, err := strconv.Atoi(strings.TrimSpace(digits))
	if err != nil || n < 1 || n > maxPlurals {
		return none, false
	}
	rest, ok := afterAssign(rest, "plural")
	expr, _, _ := strings.Cut(rest, ";")
	expr = strings.TrimSpace(expr)
	if !ok || len(expr) > maxExpression || !validExpression(expr) {
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
// Precedence does not matter for that.
func validExpression(s string) bool {
	var open []byte // what is not closed yet: '(' and '?'
	closes := func(with byte) bool {
		last := len(open) - 1
		if last < 0 || open[last] != with {
			return false
		}
		open = open[:last]
		return true
	}
	operand := true // one must follow
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ' ', c == '\t', operand && c == '!':
		case operand && c == 'n':
			operand = false
		case operand && isDigit(c):
			for i+1 < len(s) && isDigit(s[i+1]) {
				i++
			}
			operand = false
		case (operand && c == '(' || !operand && c == '?') && len(open) < maxNesting:
			open = append(open, c)
			operand = true
		case !operand && c == ')':
			if !closes('(') {
				return false
			}
		case !operand && c == ':':
			if operand = closes('?'); !operand {
				return false
			}
		case !operand:
			n := operatorLen(s[i:])
			if n == 0 {
				return false
			}
			i += n - 1
			operand = true
		default:
			return false
		}
	}
	return !operand && len(open) == 0
}

// operatorLen returns the length of the operator of two operands that s begins with.
func operatorLen(s string) int {
	for _, operator := range []string{"&&", "||", "==", "!=", "<=", ">="} {
		if strings.HasPrefix(s, operator) {
			return 2
		}
	}
	return min(1, strings.IndexByte("<>+-*/%", s[0])+1)
}
