// Package query reads the search language of unit lists (weblate-facts §7):
// text to an expression, and the matching of texts.
//
// Goals: every query that Weblate 5 accepts and a repository can answer means
// here what it means there; an error names the column; an expression printed by
// String and parsed again is the same expression; hostile queries are bounded
// in length, depth, number of terms and cost of regular expressions.
//
// Non-goals: no database and no units. Package store runs expressions; the
// package knows neither which languages exist nor when "yesterday" was.
package query

import (
	"strings"
	"unicode/utf8"
)

// The bounds of a query.
const (
	// MaxLength is the length of a query in bytes.
	MaxLength = 8 << 10
	// MaxDepth is how deep parentheses and NOT may be nested.
	MaxDepth = 40
	// MaxTerms is the number of terms of a query.
	MaxTerms = 100
	// MaxList is the number of ids in a list.
	MaxList = 1000
	// MaxRegexp bounds the compiled size of all regular expressions of a query
	// together, in instructions: RE2 takes time in proportion to size times text.
	MaxRegexp = 1000
)

// Parse reads a query. An empty one is All. The error is an *Error; invalid
// UTF-8 is one.
//
// NOT binds strongest, then AND, which may be left away, then OR, as newer
// Weblates document it; up to 5.4 an OR made a flat run of terms one OR.
func Parse(q string) (Expr, error) {
	if len(q) > MaxLength {
		return nil, &Error{Column: 1, Text: "The query is too long"}
	}
	if !utf8.ValidString(q) {
		return nil, &Error{Column: 1, Text: "The query is not valid UTF-8"}
	}
	tokens := lex(q)
	if len(tokens) == 0 {
		return All, nil
	}
	p := &parser{text: q, tokens: tokens}
	e, err := p.or(0)
	if err == nil && p.at < len(p.tokens) {
		err = p.failf(p.tokens[p.at].pos, "Unexpected %s", quote(p.tokens[p.at].text))
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Quote writes a text as a quoted value.
func Quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
