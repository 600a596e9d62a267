package query

import (
	"strings"
)

// Kind is a kind of comparison.
type Kind int

// The kinds of comparison.
const (
	// Contains: the text contains the pattern, in any case.
	Contains Kind = iota
	// Exact: the text equals the pattern.
	Exact
	// Regexp: the text contains a match of the pattern, a regular expression of
	// RE2.
	Regexp
)

// Match is a comparison with a text. The plural forms of a text are compared as
// one, joined by catalog.FormSeparator.
type Match struct {
	// Kind is how Pattern is compared.
	Kind Kind
	// Pattern is the text to compare with; every text contains "".
	Pattern string
}

// String is the value as written in a query, without the operator.
func (m Match) String() string {
	if m.Kind == Regexp {
		return `r"` + strings.ReplaceAll(m.Pattern, `"`, `\"`) + `"`
	}
	return Quote(m.Pattern)
}

// Compile returns the test of a match. The test is safe for concurrent use and
// does not keep the text. Tests may share fold.
func (m Match) Compile(fold *Folder) (func(text string) bool, error) {
	switch m.Kind {
	case Exact:
		return func(s string) bool { return s == m.Pattern }, nil
	case Regexp:
		return compileRegexp(m.Pattern, fold)
	}
	needle := []byte(fold.String(m.Pattern))
	return func(s string) bool { return fold.contains(s, needle) }, nil
}
