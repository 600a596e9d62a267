package lang

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"strconv"
	"sync"
)

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
	files, err := fs.Sub(dataFiles, "data")
	if err != nil {
		return &typeTable{}
	}
	t, err := loadTypes(files)
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
	results, err := sample(formula)
	if err != nil {
		return typeUnknown
	}
	if kind, ok := t.bySample[results]; ok {
		return kind
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
