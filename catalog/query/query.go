// Package query parses the search language of lists of units (docs/search.md,
// docs/compatibility.md#search) and compares texts.
//
// Goals: every query that Weblate 5 accepts and a repository can answer has the
// same meaning here; an error names the column; length, depth, number of terms and cost
// of regular expressions are limited, against hostile queries.
//
// Non-goals: no database and no units. Package store runs expressions. The package
// does not know the languages, nor when "yesterday" was.
package query

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
)

// The limits of a query.
const (
	// MaxLength is the length of a query in bytes.
	MaxLength = 8 << 10
	// MaxDepth is the depth to which parentheses and NOT may be nested.
	MaxDepth = 40
	// MaxTerms is the number of terms of a query.
	MaxTerms = 100
	// MaxList is the number of ids in a list.
	MaxList = 1000
	// MaxRegexp limits the compiled size of all regular expressions of a query
	// together, in instructions: RE2 takes time in proportion to size times text.
	MaxRegexp = 1000
)

// Parse is ParseAt for queries that name no day such as today.
func Parse(q string) (Expr, error) { return ParseAt(q, time.Time{}) }

// ParseAt parses a query at a time, which says what day is today. An empty query is All.
// Errors, including invalid UTF-8, are an *Error.
//
// NOT binds strongest, then AND, which may be omitted, then OR, as newer versions
// of Weblate document it; up to 5.4 an OR turned a flat list of terms into one OR.
func ParseAt(q string, now time.Time) (Expr, error) {
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
	p := &parser{text: q, tokens: tokens, now: now}
	e, err := p.or(0)
	if err == nil && p.at < len(p.tokens) {
		err = p.failf(p.tokens[p.at].pos, "Unexpected %s", quote(p.tokens[p.at].text))
	}
	return e, err
}

// Quote returns a text as a quoted value.
func Quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// Error is a syntax error of a query.
type Error struct {
	// Column is its position, in characters from 1.
	Column int
	// Text says what is wrong, without a full stop.
	Text string
}

// Error returns the text that clients see.
func (e *Error) Error() string {
	return fmt.Sprintf("Could not parse query string: %s at column %d", e.Text, e.Column)
}

func (p *parser) failf(pos int, format string, args ...any) *Error {
	return &Error{Column: utf8.RuneCountInString(p.text[:pos]) + 1, Text: fmt.Sprintf(format, args...)}
}

// quote quotes a part of the query in a message, shortened if it is long.
func quote(s string) string { return "'" + catalog.Clip(s, 40) + "'" }

// parser parses tokens to an expression.
type parser struct {
	text   string
	tokens []token
	at     int
	now    time.Time
	terms  int
	sizes  int // instructions of the regular expressions so far
}

// peek is the kind of the next token.
func (p *parser) peek() tokenKind {
	if p.at == len(p.tokens) {
		return noToken
	}
	return p.tokens[p.at].kind
}

func (p *parser) or(depth int) (Expr, error) {
	var list Or
	for {
		e, err := p.and(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
		if p.peek() != orToken {
			break
		}
		p.at++
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return list, nil
}

func (p *parser) and(depth int) (Expr, error) {
	var list And
	for {
		e, err := p.not(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
		kind := p.peek()
		if kind == noToken || kind == orToken || kind == closeToken {
			break
		}
		if kind == andToken {
			p.at++
		}
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return list, nil
}

func (p *parser) not(depth int) (Expr, error) {
	if p.at == len(p.tokens) {
		return nil, p.failf(len(p.text), "Expected a term")
	}
	t := &p.tokens[p.at]
	if depth > MaxDepth {
		return nil, p.failf(t.pos, "Nested more than %d deep", MaxDepth)
	}
	p.at++
	switch t.kind {
	case notToken:
		e, err := p.not(depth + 1)
		return Not{e}, err
	case openToken:
		return p.group(t, depth)
	case termToken:
		if p.terms++; p.terms > MaxTerms {
			return nil, p.failf(t.pos, "More than %d terms", MaxTerms)
		}
		return p.term(t)
	}
	return nil, p.failf(t.pos, "Expected a term instead of %s", quote(t.text))
}

func (p *parser) group(open *token, depth int) (Expr, error) {
	e, err := p.or(depth + 1)
	if err != nil {
		return nil, err
	}
	if p.peek() != closeToken {
		return nil, p.failf(open.pos, "The parenthesis is not closed")
	}
	p.at++
	return e, nil
}
