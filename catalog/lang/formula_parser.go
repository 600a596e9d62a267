package lang

import (
	"fmt"
	"strconv"
	"strings"
)

// formulaParser is a recursive descent parser for [Compile].
type formulaParser struct {
	text  string
	pos   int // next byte of text
	depth int // nesting of ternary and unary, bounded by maxFormulaDepth
}

// operator is the text of a binary operation.
type operator struct {
	text string
	op   byte
}

// binaryLevel returns the operators of a level of precedence, 0 for the weakest, with
// longer texts before their prefixes. It returns false above the last level.
func binaryLevel(level int) ([]operator, bool) {
	switch level {
	case 0:
		return []operator{{"||", opOr}}, true
	case 1:
		return []operator{{"&&", opAnd}}, true
	case 2:
		return []operator{{"==", opEq}, {"!=", opNe}}, true
	case 3:
		return []operator{{"<=", opLe}, {">=", opGe}, {"<", '<'}, {">", '>'}}, true
	case 4:
		return []operator{{"+", '+'}, {"-", '-'}}, true
	case 5:
		return []operator{{"*", '*'}, {"/", '/'}, {"%", '%'}}, true
	}
	return nil, false
}

// ternary parses a whole expression: test ? then : else, right to left.
func (p *formulaParser) ternary() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	test, err := p.binary(0)
	if err != nil || !p.accept("?") {
		return test, err
	}
	then, err := p.ternary()
	if err != nil {
		return nil, err
	}
	if !p.accept(":") {
		return nil, p.fail()
	}
	otherwise, err := p.ternary()
	if err != nil {
		return nil, err
	}
	return &node{op: '?', a: test, b: then, c: otherwise}, nil
}

// binary parses the operations of one level and above, left to right.
func (p *formulaParser) binary(level int) (*node, error) {
	operators, ok := binaryLevel(level)
	if !ok {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	for err == nil {
		op, found := p.operator(operators)
		if !found {
			return left, nil
		}
		var right *node
		right, err = p.binary(level + 1)
		left = &node{op: op, a: left, b: right}
	}
	return nil, err
}

// unary parses negation, parentheses, n and numbers.
func (p *formulaParser) unary() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	switch {
	case p.accept("!"):
		x, err := p.unary()
		if err != nil {
			return nil, err
		}
		return &node{op: '!', a: x}, nil
	case p.accept("("):
		x, err := p.ternary()
		if err != nil {
			return nil, err
		}
		if !p.accept(")") {
			return nil, p.fail()
		}
		return x, nil
	case p.accept("n"):
		return &node{op: 'n'}, nil
	}
	return p.number()
}

// number parses a decimal constant of at most 31 bits, as in gettext.
func (p *formulaParser) number() (*node, error) {
	start := p.pos
	for p.pos < len(p.text) && '0' <= p.text[p.pos] && p.text[p.pos] <= '9' {
		p.pos++
	}
	v, err := strconv.ParseInt(p.text[start:p.pos], 10, 32)
	if err != nil {
		p.pos = start
		return nil, p.fail()
	}
	return &node{op: '0', value: v}, nil
}

// operator reads one of the operators, if it is next.
func (p *formulaParser) operator(operators []operator) (byte, bool) {
	for _, o := range operators {
		if p.accept(o.text) {
			return o.op, true
		}
	}
	return 0, false
}

// accept skips blanks and reads token if it is next.
func (p *formulaParser) accept(token string) bool {
	p.skip()
	if !strings.HasPrefix(p.text[p.pos:], token) {
		return false
	}
	p.pos += len(token)
	return true
}

// skip passes over blanks.
func (p *formulaParser) skip() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// enter counts one level of nesting.
func (p *formulaParser) enter() error {
	if p.depth++; p.depth > maxFormulaDepth {
		return fmt.Errorf("%w: nested deeper than %d", ErrFormula, maxFormulaDepth)
	}
	return nil
}

// leave ends a level of nesting.
func (p *formulaParser) leave() { p.depth-- }

// fail returns an error that names the position.
func (p *formulaParser) fail() error {
	if p.pos >= len(p.text) {
		return fmt.Errorf("%w: %q ends too early", ErrFormula, p.text)
	}
	return fmt.Errorf("%w: %q at byte %d of %q", ErrFormula, p.text[p.pos:p.pos+1], p.pos, p.text)
}
