package lang

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The sources of a plural rule.
const (
	// SourceDefault is the language's own default.
	SourceDefault = 0
	// SourceGettext is a rule found in the header of a file.
	SourceGettext = 1
)

// MaxForms bounds the number of plural forms of a file's header: each untranslated
// plural entry is padded to that number. Real languages have at most six.
const MaxForms = 32

// Plural is a rule that chooses one of several forms by a number: the field plural of
// the language object. The zero value is no rule.
type Plural struct {
	// ID is positive and below 2^31; no two languages of the table share one. It
	// is derived from the code, so it does not depend on the table.
	ID int
	// Source is [SourceDefault] or [SourceGettext].
	Source int
	// Number is the number of forms, 1 to [MaxForms].
	Number int
	// Formula is the plural expression as written, without a trailing ';'. It
	// chooses a form, counted from 0.
	Formula string
	// Type says which form is which (docs/compatibility.md#plurals).
	Type int
}

// PluralFor returns the plural rule of a file of language l whose header has this
// number of forms and formula: the language's own rule if both have the same number and
// choose the same forms for a sample of numbers (docs/compatibility.md#plurals), else a
// rule with [SourceGettext]. If the header is missing (0, "") or invalid, it is the
// language's own rule.
func PluralFor(l Language, number int, formula string) Plural {
	formula = trimFormula(formula)
	if number < 1 || number > MaxForms {
		return l.Plural
	}
	if number == l.Plural.Number && squeeze(formula) == squeeze(l.Plural.Formula) {
		return l.Plural
	}
	theirs, err := sample(formula)
	if err != nil {
		return l.Plural
	}
	if ours, err := sample(l.Plural.Formula); err == nil && number == l.Plural.Number && ours == theirs {
		return l.Plural
	}
	return Plural{
		ID:      stableID(l.Code, strconv.Itoa(number), formula),
		Source:  SourceGettext,
		Number:  number,
		Formula: formula,
		Type:    knownTypes().typeOf(l.Code, formula),
	}
}

// trimFormula strips blanks and one trailing ';'.
func trimFormula(formula string) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(formula), ";"))
}

// squeeze removes all blanks from a formula.
func squeeze(formula string) string {
	return strings.Join(strings.Fields(formula), "")
}

// stableID returns a positive number below 2^31 that depends only on the parts.
func stableID(parts ...string) int {
	h := fnv.New32a()
	for _, part := range parts {
		_, _ = h.Write([]byte(part))
		_, _ = h.Write([]byte{0})
	}
	return max(1, int(h.Sum32()&(1<<31-1)))
}

// The plural types with a special meaning (docs/compatibility.md#plurals).
const (
	typeArabic  = 3
	typeUnknown = 666
)

// typeTable derives plural.type of a formula. It is immutable.
type typeTable struct {
	byText   map[string]int      // squeeze(formula) → type, except typeArabic
	arabic   map[string]struct{} // squeezed formulas of type 3 in base code ar
	bySample map[string]int      // sample → type of the first known formula with it
}

// knownTypes returns the table of the built-in plural-types.csv, read once. If it is
// unreadable, which New reports, the table is empty.
var knownTypes = sync.OnceValue(func() *typeTable {
	t, err := loadTypes(dataFiles)
	if err != nil {
		return &typeTable{}
	}
	return t
})

// loadTypes reads plural-types.csv: nplurals, formula, type.
func loadTypes(files fs.FS) (*typeTable, error) {
	rows, err := readCSV(files, "plural-types.csv", 3)
	if err != nil {
		return nil, err
	}
	t := &typeTable{
		byText:   map[string]int{},
		arabic:   map[string]struct{}{},
		bySample: map[string]int{},
	}
	for _, row := range rows {
		kind, err := strconv.Atoi(row[2])
		if err != nil {
			return nil, fmt.Errorf("plural-types.csv: %q: bad type %q", row[1], row[2])
		}
		if err := t.add(trimFormula(row[1]), kind); err != nil {
			return nil, fmt.Errorf("plural-types.csv: %w", err)
		}
	}
	return t, nil
}

// add adds one formula.
func (t *typeTable) add(formula string, kind int) error {
	key := squeeze(formula)
	if kind == typeArabic {
		t.arabic[key] = struct{}{}
		return nil
	}
	if old, ok := t.byText[key]; ok && old != kind {
		return fmt.Errorf("%q has the types %d and %d", formula, old, kind)
	}
	t.byText[key] = kind
	results, err := sample(formula)
	if err != nil {
		return err
	}
	if _, ok := t.bySample[results]; !ok && kind != typeUnknown {
		t.bySample[results] = kind
	}
	return nil
}

// typeOf returns the type of a formula in the language of code: the type of a formula
// with the same text; else for Arabic typeArabic; else the type of a formula with the
// same results; else typeUnknown.
func (t *typeTable) typeOf(code, formula string) int {
	key := squeeze(trimFormula(formula))
	isArabic := BaseCode(code) == "ar"
	if _, ok := t.arabic[key]; ok && isArabic {
		return typeArabic
	}
	if kind, ok := t.byText[key]; ok {
		return kind
	}
	if isArabic {
		return typeArabic
	}
	if results, err := sample(formula); err == nil {
		if kind, ok := t.bySample[results]; ok {
			return kind
		}
	}
	return typeUnknown
}

// sample returns the results of a formula for Weblate's sample of numbers, -10 to 199
// and 1000 to 10^7, as a key: two formulas with the same key are the same rule.
func sample(formula string) (string, error) {
	f, err := Compile(formula)
	if err != nil {
		return "", err
	}
	var key []byte
	for n := -10; n < 200; n++ {
		key = binary.AppendVarint(key, int64(f.Eval(n)))
	}
	for n := 1000; n <= 10_000_000; n *= 10 {
		key = binary.AppendVarint(key, int64(f.Eval(n)))
	}
	return string(key), nil
}

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
	text string
	of   func(a, b int64) (int64, bool)
}

// levels are the operators by precedence, the weakest first, with longer texts before
// their prefixes.
var levels = [][]operator{
	{{"||", func(a, b int64) (int64, bool) { return truth(a != 0 || b != 0), true }}},
	{{"&&", func(a, b int64) (int64, bool) { return truth(a != 0 && b != 0), true }}},
	{
		{"==", func(a, b int64) (int64, bool) { return truth(a == b), true }},
		{"!=", func(a, b int64) (int64, bool) { return truth(a != b), true }},
	},
	{
		{"<=", func(a, b int64) (int64, bool) { return truth(a <= b), true }},
		{">=", func(a, b int64) (int64, bool) { return truth(a >= b), true }},
		{"<", func(a, b int64) (int64, bool) { return truth(a < b), true }},
		{">", func(a, b int64) (int64, bool) { return truth(a > b), true }},
	},
	{
		{"+", func(a, b int64) (int64, bool) { return a + b, true }},
		{"-", func(a, b int64) (int64, bool) { return a - b, true }},
	},
	{
		{"*", func(a, b int64) (int64, bool) { return a * b, true }},
		{"/", func(a, b int64) (int64, bool) { q, _, ok := divide(a, b); return q, ok }},
		{"%", func(a, b int64) (int64, bool) { _, rest, ok := divide(a, b); return rest, ok }},
	},
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
	defer p.enter()()
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
	if level == len(levels) {
		return p.unary()
	}
	left := p.binary(level + 1)
	for {
		at := slices.IndexFunc(levels[level], func(o operator) bool { return p.accept(o.text) })
		if at < 0 {
			return left
		}
		o, a, b := levels[level][at], left, p.binary(level+1)
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
	defer p.enter()()
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
	p.pos = len(p.text) - len(strings.TrimLeft(p.text[p.pos:], " \t\r\n"))
}

// enter counts one level of nesting, until the returned function is called.
func (p *formulaParser) enter() (leave func()) {
	if p.depth++; p.depth > maxFormulaDepth && p.err == nil {
		p.err = fmt.Errorf("%w: nested deeper than %d", ErrFormula, maxFormulaDepth)
	}
	return func() { p.depth-- }
}

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
