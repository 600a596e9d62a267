package lang

import (
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
)

// Sources of a plural rule (facts §2).
const (
	// SourceDefault is the language's own default.
	SourceDefault = 0
	// SourceGettext is a rule found in the header of a file.
	SourceGettext = 1
)

// MaxForms bounds the number of plural forms that a file's header may ask
// for: each untranslated plural entry is padded to it. Real languages have at
// most six.
const MaxForms = 32

// Plural is a rule that chooses one of several forms by a number, as the
// language object's plural field shows it. The zero value is no rule.
type Plural struct {
	// ID is stable and positive, below 2^31; no two languages of the table
	// share one. Derived from the code, so it does not depend on the table.
	ID int
	// Source is [SourceDefault] or [SourceGettext].
	Source int
	// Number of forms, 1 to [MaxForms].
	Number int
	// Formula is the plural expression as written in its source, without
	// a trailing ';'. It chooses a form, counted from 0.
	Formula string
	// Type says which form is which, by the table of facts §2 (decision 32).
	Type int
}

// PluralFor returns the plural rule of a file of language l whose header
// gives number forms and the formula: the language's own rule if both have
// the same number and choose the same forms on the sample of facts §2
// ("Which plural does a translation get"), else one with [SourceGettext]. A
// header that is missing (0, "") or senseless means the language's own rule.
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

// pluralForms is the pattern of facts §2 for the header field.
var pluralForms = regexp.MustCompile(`^\s*nplurals\s*=\s*([0-9]+)\s*;\s*plural\s*=\s*([-0-9n()!=|&<>+*/%?:\s]+)`)

// ParsePluralForms takes a PO header's Plural-Forms value apart: the number
// of forms and the formula, blanks and ';' trimmed. It is false if the value
// does not have that form, as with a template's INTEGER and EXPRESSION.
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

// squeeze removes all blanks: the key of a formula's text.
func squeeze(formula string) string {
	return strings.Join(strings.Fields(formula), "")
}

// stableID is a positive number below 2^31 that depends on the parts alone.
func stableID(parts ...string) int {
	h := fnv.New32a()
	for _, part := range parts {
		_, _ = h.Write([]byte(part))
		_, _ = h.Write([]byte{0})
	}
	return max(1, int(h.Sum32()&(1<<31-1)))
}
