package query

import (
	"strings"
)

// Kind is how a text is compared.
type Kind int

// The kinds of comparison.
const (
	// Contains: the pattern is part of the text, in any case.
	Contains Kind = iota
	// Exact: the text is the pattern, letter by letter.
	Exact
	// Regexp: the pattern, a regular expression of RE2, is found in the text.
	Regexp
)

// Match is what a text has to be like. Of a text with plural forms, all forms
// are looked at as one, joined by catalog.FormSeparator.
type Match struct {
	// Kind is how Pattern is compared.
	Kind Kind
	// Pattern is the text to look for; "" is in every text.
	Pattern string
}

// String is the value as it stands in a query, without the operator.
func (m Match) String() string {
	if m.Kind == Regexp {
		return `r"` + strings.ReplaceAll(m.Pattern, `"`, `\"`) + `"`
	}
	return Quote(m.Pattern)
}

// Compile makes the test of a match, which may be called from several
// goroutines and keeps nothing of the text. fold is shared by tests.
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
