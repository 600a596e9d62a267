package query

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a parenthesis, a keyword or a term.
type token struct {
	kind tokenKind
	pos  int    // of the first byte
	text string // as written in the query

	// Of a term:
	field, op string // "" for a plain value
	value     value
	valuePos  int
}

type tokenKind int

const (
	termToken tokenKind = iota
	openToken
	closeToken
	andToken
	orToken
	notToken
	noToken // the end
)

// value is the value of a term.
type value struct {
	text    string
	regexp  bool
	ranged  bool // [text to end]
	end     string
	written string // as written in the query
}

// lex splits a query into tokens. It has no errors: anything but a field, a
// quotation or a range is a word.
func lex(q string) []token {
	l := &lexer{q: q}
	var tokens []token
	for l.skipSpaces(); l.at < len(q); l.skipSpaces() {
		tokens = append(tokens, l.next())
	}
	return tokens
}

type lexer struct {
	q  string
	at int
}

func (l *lexer) skipSpaces() {
	l.at = len(l.q) - len(strings.TrimLeftFunc(l.q[l.at:], unicode.IsSpace))
}

func (l *lexer) next() token {
	t := token{pos: l.at}
	switch l.q[l.at] {
	case '(':
		t.kind = openToken
		l.at++
	case ')':
		t.kind = closeToken
		l.at++
	default:
		l.term(&t)
	}
	t.text = l.q[t.pos:l.at]
	if t.kind == termToken && t.field == "" && t.text == t.value.text {
		t.kind = map[string]tokenKind{"AND": andToken, "OR": orToken, "NOT": notToken}[strings.ToUpper(t.text)]
	}
	return t
}

var fieldText = regexp.MustCompile(`^([A-Za-z_]+)(:[<>]?=?)`)

// fieldAndOperator returns the field and the operator with which s begins, if any.
// The scheme of a URL is no field.
func fieldAndOperator(s string) (field, op string) {
	m := fieldText.FindStringSubmatch(s)
	if m == nil || slices.Contains([]string{"http", "https", "ftp", "mailto"}, m[1]) {
		return "", ""
	}
	return m[1], m[2]
}

func (l *lexer) term(t *token) {
	if field, op := fieldAndOperator(l.q[l.at:]); field != "" {
		start := l.at
		l.at += len(field) + len(op)
		t.valuePos = l.at
		if v, ok := l.value(true); ok {
			t.field, t.op, t.value = field, op, v
			l.restoreZone(t)
			return
		}
		l.at = start // without a value it is a word
	}
	t.valuePos = l.at
	t.value, _ = l.value(false)
}

// value reads the value at the current position; ok is false if there is none.
func (l *lexer) value(ofField bool) (v value, ok bool) {
	start := l.at
	rest := l.q[start:]
	switch {
	case rest == "":
		return v, false
	case rest[0] == '"' || rest[0] == '\'':
		v.text, ok = l.quoted(1, unescape)
	case len(rest) > 1 && rest[0] == 'r' && (rest[1] == '"' || rest[1] == '\''):
		v.text, ok = l.quoted(2, unescapeRegexp)
		v.regexp = ok
	case ofField && rest[0] == '[':
		v, ok = l.ranged()
	}
	if !ok {
		v = value{text: l.word()}
		ok = v.text != ""
	}
	v.written = l.q[start:l.at]
	return v, ok
}

// quoted reads up to the closing quote; without one it reads nothing. skip is the
// length of the opening.
func (l *lexer) quoted(skip int, unescape func(string) string) (string, bool) {
	from := l.at + skip
	quote := l.q[from-1]
	for i := from; i < len(l.q); i++ {
		switch l.q[i] {
		case '\\':
			i++
		case quote:
			l.at = i + 1
			return unescape(l.q[from:i]), true
		}
	}
	return "", false
}

var escaped = regexp.MustCompile(`(?s)\\.`)

func unescape(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(escape string) string {
		if at := strings.Index("ntrf", escape[1:]); at >= 0 {
			return "\n\t\r\f"[at : at+1]
		}
		return escape[1:]
	})
}

// unescapeRegexp removes only backslashes before quotes; others belong to the
// regular expression.
func unescapeRegexp(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(escape string) string {
		if strings.ContainsAny(escape, `"'`) {
			return escape[1:]
		}
		return escape
	})
}

var rangeText = regexp.MustCompile(`^\[\s*([^\[\]]*?)\s+(?i:to)\s+([^\[\]]*?)\s*\]`)

func (l *lexer) ranged() (value, bool) {
	m := rangeText.FindStringSubmatch(l.q[l.at:])
	if m == nil {
		return value{}, false
	}
	l.at += len(m[0])
	return value{text: m[1], end: m[2], ranged: true}, true
}

// word reads up to a space, a parenthesis or a quote. A quote that is not closed
// is part of the word.
func (l *lexer) word() string {
	start := l.at
	for l.at < len(l.q) {
		r, n := utf8.DecodeRuneInString(l.q[l.at:])
		if unicode.IsSpace(r) || r == '(' || r == ')' || (r == '"' || r == '\'') && l.at > start {
			break
		}
		l.at += n
	}
	return l.q[start:l.at]
}

var (
	timeText = regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}T\d{1,2}:\d{1,2}(:[\d.]+)?$`)
	lostZone = regexp.MustCompile(`^ \d\d:?\d\d(?:[\s)]|$)`)
)

// restoreZone restores the zone of a time whose plus was not escaped in a URL and
// arrives as a space.
func (l *lexer) restoreZone(t *token) {
	if !slices.Contains(events, Event(t.field)) || !timeText.MatchString(t.value.written) {
		return
	}
	rest := l.q[l.at:]
	if !lostZone.MatchString(rest) {
		return
	}
	n := len(rest) - len(strings.TrimLeft(rest[1:], ":0123456789"))
	t.value.text += "+" + rest[1:n]
	l.at += n
}
