package lang

import (
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
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

// pluralForms is Weblate's pattern for the header field.
var pluralForms = regexp.MustCompile(`^\s*nplurals\s*=\s*([0-9]+)\s*;\s*plural\s*=\s*([-0-9n()!=|&<>+*/%?:\s]+)`)

// ParsePluralForms parses a PO header's Plural-Forms: the number of forms and the
// formula, without blanks and ';' around it. It returns false for any other value, such
// as a template's INTEGER and EXPRESSION.
func ParsePluralForms(value string) (number int, formula string, ok bool) {
	m := pluralForms.FindStringSubmatch(value)
	if m == nil {
		return 0, "", false
	}
	number, err := strconv.Atoi(m[1])
	if err != nil || number < 1 || number > MaxForms {
		return 0, "", false
	}
	if formula = trimFormula(m[2]); formula == "" {
		return 0, "", false
	}
	return number, formula, true
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
