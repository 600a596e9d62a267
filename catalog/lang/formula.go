package lang

import (
	"errors"
	"fmt"
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
type Formula struct {
	root *node
}

// node is one operation of a formula. The leaves are 'n' and '0' (the constant
// value). '?' uses all three operands, '!' only a.
type node struct {
	op      byte
	value   int64
	a, b, c *node
}

// The operators of two characters, as one byte each.
const (
	opOr  = 'o'
	opAnd = 'a'
	opEq  = '='
	opNe  = 'x'
	opLe  = 'l'
	opGe  = 'g'
)

// Compile parses a plural expression: C syntax over the variable n with
// decimal numbers, ?: || && == != < > <= >= + - * / % ! and parentheses. One ';' may
// follow. An error wraps [ErrFormula] and names the byte.
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
// True is 1 and false is 0. Division rounds down, as in Weblate (it matters for
// negative n only).
func (f *Formula) Eval(n int) int {
	v, ok := f.root.eval(int64(n))
	if !ok {
		return Undefined
	}
	return int(v)
}

// eval returns false for a division by zero. It does not evaluate operands that C
// does not evaluate.
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

// compute returns the result of one binary operation.
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

// truth returns C's value of a comparison.
func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
