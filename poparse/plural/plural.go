// Package plural evaluates the plural expressions of PO headers.
package plural

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrFormula is in every error of [Compile]: the text is not a plural expression of
// the gettext manual, section "Additional functions for plural forms".
var ErrFormula = errors.New("not a plural expression")

// Bounds on a formula, against hostile headers. The longest formula of the table
// has 488 bytes, the deepest one 6 levels.
const (
	maxFormulaLen   = 4096
	maxFormulaDepth = 128
)

// Undefined is what [Formula.Eval] returns where the formula divides by zero.
const Undefined = -1 << 31

// Formula is a compiled plural expression. It is immutable and safe for concurrent
// use; make it with [Compile].
//
// We do not use gotext's package plurals: it splits at the first operator without
// regard to nesting, returns another form than C for Breton (n = 13), knows neither
// arithmetic nor '!', and panics on `n%0`. A test compares it with this package on
// all other formulas of the table.
type Formula struct{ value value }

// value is the value of an expression for n. It returns false for a division by zero.
type value func(n int64) (int64, bool)

// Compile parses a plural expression: C syntax over the variable n with
// decimal numbers, ?: || && == != < > <= >= + - * / % ! and parentheses. One ';' may
// follow. An error wraps [ErrFormula] and names the byte.
func Compile(formula string) (*Formula, error) {
	if len(formula) > maxFormulaLen {
		return nil, fmt.Errorf("%w: %d bytes long, at most %d are read", ErrFormula, len(formula), maxFormulaLen)
	}
	p := &formulaParser{text: formula}
	v := p.ternary()
	p.accept(";")
	if p.skip(); p.err == nil && p.pos < len(p.text) {
		p.fail()
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Formula{v}, nil
}

// Eval returns the form that the formula chooses for n, or [Undefined].
// True is 1 and false is 0. Division rounds down, as in Weblate (it matters for
// negative n only).
func (f *Formula) Eval(n int) int {
	v, ok := f.value(int64(n))
	if !ok {
		return Undefined
	}
	return int(v)
}

// operator is a binary operation.
type operator struct {
	text  string
	level int // of precedence
	of    func(a, b int64) (int64, bool)
}

// operators are all, with longer texts before their prefixes.
var operators = []operator{
	{"||", 0, func(a, b int64) (int64, bool) { return truth(a != 0 || b != 0), true }},
	{"&&", 1, func(a, b int64) (int64, bool) { return truth(a != 0 && b != 0), true }},
	{"==", 2, func(a, b int64) (int64, bool) { return truth(a == b), true }},
	{"!=", 2, func(a, b int64) (int64, bool) { return truth(a != b), true }},
	{"<=", 3, func(a, b int64) (int64, bool) { return truth(a <= b), true }},
	{">=", 3, func(a, b int64) (int64, bool) { return truth(a >= b), true }},
	{"<", 3, func(a, b int64) (int64, bool) { return truth(a < b), true }},
	{">", 3, func(a, b int64) (int64, bool) { return truth(a > b), true }},
	{"+", 4, func(a, b int64) (int64, bool) { return a + b, true }},
	{"-", 4, func(a, b int64) (int64, bool) { return a - b, true }},
	{"*", 5, func(a, b int64) (int64, bool) { return a * b, true }},
	{"/", 5, func(a, b int64) (int64, bool) { q, _, ok := divide(a, b); return q, ok }},
	{"%", 5, func(a, b int64) (int64, bool) { _, rest, ok := divide(a, b); return rest, ok }},
}

// divide rounds down; ok is false for a division by zero.
func divide(a, b int64) (quotient, rest int64, ok bool) {
	if b == 0 {
		return 0, 0, false
	}
	quotient, rest = a/b, a%b
	if rest != 0 && (rest < 0) != (b < 0) {
		quotient, rest = quotient-1, rest+b
	}
	return quotient, rest, true
}

// truth returns C's value of a comparison.
func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// formulaParser is a recursive descent parser for [Compile]. After its first error it
// reads nothing more.
type formulaParser struct {
	text  string
	pos   int // next byte of text
	depth int // nesting of ternary and unary, bounded by maxFormulaDepth
	err   error
}

// ternary parses a whole expression: test ? then : else, right to left.
func (p *formulaParser) ternary() value {
	p.enter()
	defer p.leave()
	test := p.binary(0)
	if !p.accept("?") {
		return test
	}
	then := p.ternary()
	p.expect(":")
	otherwise := p.ternary()
	return func(n int64) (int64, bool) {
		switch t, ok := test(n); {
		case !ok:
			return 0, false
		case t != 0:
			return then(n)
		}
		return otherwise(n)
	}
}

// binary parses the operations of one level and above, left to right. Their right sides
// are not evaluated where C does not evaluate them.
func (p *formulaParser) binary(level int) value {
	left := p.unary()
	for {
		p.skip()
		at := slices.IndexFunc(operators, func(o operator) bool { return o.level >= level && strings.HasPrefix(p.text[p.pos:], o.text) })
		if at < 0 || p.err != nil {
			return left
		}
		o := &operators[at]
		p.pos += len(o.text)
		a, b := left, p.binary(o.level+1)
		isOr, isAnd := o.text == "||", o.text == "&&"
		left = func(n int64) (int64, bool) {
			x, ok := a(n)
			if !ok || isOr && x != 0 || isAnd && x == 0 {
				return truth(x != 0), ok
			}
			y, ok := b(n)
			if !ok {
				return 0, false
			}
			return o.of(x, y)
		}
	}
}

// unary parses negation, parentheses, n and numbers: decimal, of at most 31 bits, as in
// gettext.
func (p *formulaParser) unary() value {
	p.enter()
	defer p.leave()
	switch {
	case p.accept("!"):
		x := p.unary()
		return func(n int64) (int64, bool) {
			v, ok := x(n)
			return truth(v == 0), ok
		}
	case p.accept("("):
		x := p.ternary()
		p.expect(")")
		return x
	case p.accept("n"):
		return func(n int64) (int64, bool) { return n, true }
	}
	rest := p.text[p.pos:]
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	v, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		p.fail()
	}
	p.pos += len(digits)
	return func(int64) (int64, bool) { return v, true }
}

// accept skips blanks and reads token if it is next.
func (p *formulaParser) accept(token string) bool {
	p.skip()
	found := p.err == nil && strings.HasPrefix(p.text[p.pos:], token)
	if found {
		p.pos += len(token)
	}
	return found
}

// expect reads token, which must be next.
func (p *formulaParser) expect(token string) {
	if !p.accept(token) {
		p.fail()
	}
}

// skip passes over blanks.
func (p *formulaParser) skip() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// enter counts one level of nesting, until leave.
func (p *formulaParser) enter() {
	if p.depth++; p.depth > maxFormulaDepth && p.err == nil {
		p.err = fmt.Errorf("%w: nested deeper than %d", ErrFormula, maxFormulaDepth)
	}
}

func (p *formulaParser) leave() { p.depth-- }

// fail notes an error that names the position, unless there was one before.
func (p *formulaParser) fail() {
	switch {
	case p.err != nil:
	case p.pos >= len(p.text):
		p.err = fmt.Errorf("%w: %q ends too early", ErrFormula, p.text)
	default:
		p.err = fmt.Errorf("%w: %q at byte %d of %q", ErrFormula, p.text[p.pos:p.pos+1], p.pos, p.text)
	}
}
