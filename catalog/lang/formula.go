package lang

import (
	"errors"
	"fmt"
)

// ErrFormula is the sentinel of every error of [Compile]: the text is no
// plural expression of the gettext manual, section "Plural forms".
var ErrFormula = errors.New("not a plural expression")

// Bounds on a formula, against hostile headers. The longest one of the
// table has 488 bytes and parentheses 6 deep.
const (
	maxFormulaLen   = 4096
	maxFormulaDepth = 128
)

// Undefined is what [Formula.Eval] returns where the formula divides by zero.
const Undefined = -1 << 31

// Formula is a compiled plural expression. It is immutable and safe for
// concurrent use; make it with [Compile].
//
// It is our own evaluator and not gotext's plurals package because that one
// splits at the first operator without regard to nesting: it gives another
// form than C for Breton (n = 13), knows neither arithmetic nor '!', and
// panics on `n%0`. A test holds it as a second opinion on all other formulas
// of the table.
type Formula struct {
	root *node
}

// node is one operation of a formula. Leaves are 'n' and '0' (the constant
// value); '?' uses all three operands, '!' only a.
type node struct {
	op      byte
	value   int64
	a, b, c *node
}

// Two-character operators, as one byte each.
const (
	opOr  = 'o'
	opAnd = 'a'
	opEq  = '='
	opNe  = 'x'
	opLe  = 'l'
	opGe  = 'g'
)

// Compile parses a plural expression: C syntax over the variable n with
// decimal numbers, ?: || && == != < > <= >= + - * / % ! and parentheses
// (gettext manual, "Plural forms"). One ';' may follow. An error wraps
// [ErrFormula] and names the byte.
func Compile(formula string) (*Formula, error) {
	if len(formula) > maxFormulaLen {
		return nil, fmt.Errorf("%w: %d bytes long, at most %d are read", ErrFormula, len(formula), maxFormulaLen)
	}
	p := &formulaParser{text: formula}
	root, err := p.ternary()
	if err != nil {
		return nil, err
	}
	p.accept(";")
	if p.skip(); p.pos < len(p.text) {
		return nil, p.fail()
	}
	return &Formula{root: root}, nil
}

// Eval returns the form that the formula chooses for n, or [Undefined].
// Truth is 1 and 0. Division rounds down, as the service's own evaluator does
// (it matters for negative n only).
func (f *Formula) Eval(n int) int {
	v, ok := f.root.eval(int64(n))
	if !ok {
		return Undefined
	}
	return int(v)
}

// eval is false where a division by zero is met. Operands that C would not
// evaluate are not evaluated.
func (x *node) eval(n int64) (int64, bool) {
	switch x.op {
	case 'n':
		return n, true
	case '0':
		return x.value, true
	}
	a, ok := x.a.eval(n)
	if !ok {
		return 0, false
	}
	switch x.op {
	case '!':
		return truth(a == 0), true
	case '?':
		if a != 0 {
			return x.b.eval(n)
		}
		return x.c.eval(n)
	case opOr, opAnd:
		if (a != 0) == (x.op == opOr) {
			return truth(a != 0), true
		}
	}
	b, ok := x.b.eval(n)
	if !ok {
		return 0, false
	}
	return compute(x.op, a, b)
}

// compute does one two-sided operation.
func compute(op byte, a, b int64) (int64, bool) {
	switch op {
	case opOr, opAnd:
		return truth(b != 0), true
	case opEq:
		return truth(a == b), true
	case opNe:
		return truth(a != b), true
	case opLe:
		return truth(a <= b), true
	case opGe:
		return truth(a >= b), true
	case '<':
		return truth(a < b), true
	case '>':
		return truth(a > b), true
	case '+':
		return a + b, true
	case '-':
		return a - b, true
	case '*':
		return a * b, true
	}
	if b == 0 {
		return 0, false
	}
	quotient, rest := a/b, a%b
	if rest != 0 && (rest < 0) != (b < 0) {
		quotient, rest = quotient-1, rest+b
	}
	if op == '/' {
		return quotient, true
	}
	return rest, true
}

// truth is C's value of a comparison.
func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
