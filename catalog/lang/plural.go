package lang

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"github.com/repoglot/repoglot/poparse/plural"
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
func squeeze(formula string) string { return strings.Join(strings.Fields(formula), "") }

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
	f, err := plural.Compile(formula)
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
