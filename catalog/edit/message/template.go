package message

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
)

// Kind says what a template is for, and so which placeholders it may use.
type Kind int

// The kinds of templates.
const (
	// Translation is a template about one translation: commit_message, add_message,
	// delete_message.
	Translation Kind = iota
	// Component is one about a component: merge_message, pull_message.
	Component
	// Addon is addon_message.
	Addon
)

// SyntaxError says what is wrong with a template, and where.
type SyntaxError struct {
	// Line and Column count from 1, Column in characters.
	Line, Column int
	// Text says what is wrong and what is allowed.
	Text string
}

// Error returns "line:column: text".
func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Text) }

// Template is a parsed template. It may be rendered by several goroutines.
type Template struct{ nodes []node }

const (
	maxTemplate = 16 << 10
	maxNesting  = 10
)

// node is a part of a template: text, a placeholder, a loop or a condition.
type node struct {
	text   string
	value  *value
	loop   string // the name of a loop's items
	cases  []branch
	body   []node // of a loop
	orElse []node // {% else %} and {% empty %}
}

// branch is a condition and what is rendered if it holds.
type branch struct {
	condition []term
	body      []node
}

// term is an operand of a condition. Terms are joined from left to right by and, which
// binds more closely, and or.
type term struct {
	or, not bool
	value   value
	compare string // "", "==" or "!="
	with    value
}

// value is a placeholder with filters, or a text in quotes.
type value struct {
	literal string
	get     func(*Values) string
	item    string // of a loop, with the next
	field   func(*Linked) string
	filters []func(string) string
}

// Parse reads a template. CR LF counts as LF. An error is a [*SyntaxError].
func Parse(kind Kind, text string) (*Template, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	p := parser{kind: kind, text: text}
	if len(text) > maxTemplate {
		return nil, p.fail(0, fmt.Sprintf("the template has %d bytes; at most %d are read", len(text), maxTemplate))
	}
	nodes, end, err := p.nodes(0)
	if err != nil {
		return nil, err
	}
	if end != "" {
		return nil, p.fail(p.start, "{% "+end+" %} closes nothing")
	}
	return &Template{nodes}, nil
}

var (
	tagRule  = regexp.MustCompile(`\{[{%#]`)
	nameRule = regexp.MustCompile(`^[A-Za-z_]+$`)
	// wordRule matches a text in quotes, a quote that is not closed, or what has no blank.
	wordRule    = regexp.MustCompile(`"[^"]*"|'[^']*'|["']|[^ \t"'][^ \t]*`)
	trailerRule = regexp.MustCompile(`^[A-Za-z0-9-]+: `)
)

type parser struct {
	kind  Kind
	text  string
	pos   int
	start int      // of the last tag
	items []string // names of the items of the loops around the position
}

func (p *parser) fail(at int, text string) error {
	before := p.text[:min(at, len(p.text))]
	line := strings.LastIndexByte(before, '\n') + 1
	return &SyntaxError{Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(before[line:]), Text: text}
}

// nodes reads up to the end, or to a tag that ends or divides the tag around, which it
// returns.
func (p *parser) nodes(depth int) (list []node, end string, err error) {
	if depth > maxNesting {
		return nil, "", p.fail(p.start, fmt.Sprintf("tags are nested in more than %d levels", maxNesting))
	}
	for p.pos < len(p.text) {
		tag := tagRule.FindStringIndex(p.text[p.pos:])
		if tag == nil {
			return append(list, node{text: p.text[p.pos:]}), "", nil
		}
		if tag[0] > 0 {
			list = append(list, node{text: p.text[p.pos : p.pos+tag[0]]})
		}
		p.pos += tag[0]
		p.start = p.pos
		kind := p.text[p.pos+1]
		closing := map[byte]string{'{': "}}", '%': "%}", '#': "#}"}[kind]
		inner, _, ok := strings.Cut(p.text[p.pos+2:], closing)
		if line, _, more := strings.Cut(inner, "\n"); !ok || more {
			return nil, "", p.fail(p.start, fmt.Sprintf("%q is not closed by %s on its line", catalog.Clip("{"+string(kind)+line, maxQuoted), closing))
		}
		p.pos += 2 + len(inner) + 2
		switch inner = strings.TrimSpace(inner); kind {
		case '{':
			v, err := p.value(inner)
			if err != nil {
				return nil, "", err
			}
			list = append(list, node{value: &v})
		case '%':
			word, _, _ := strings.Cut(inner, " ")
			if slices.Contains([]string{"endfor", "endif", "else", "elif", "empty"}, word) {
				return list, inner, nil
			}
			read := map[string]func(string, int) (node, error){"for": p.loop, "if": p.condition}[word]
			if read == nil {
				return nil, "", p.fail(p.start, fmt.Sprintf("unknown tag %q: known are for and if", catalog.Clip(word, maxQuoted)))
			}
			n, err := read(inner, depth)
			if err != nil {
				return nil, "", err
			}
			list = append(list, n)
		}
	}
	return list, "", nil
}

func (p *parser) loop(inner string, depth int) (node, error) {
	start, words := p.start, strings.Fields(inner)
	if len(words) != 4 || words[2] != "in" || !nameRule.MatchString(words[1]) {
		return node{}, p.fail(start, "a loop is {% for item in component_linked_childs %}")
	}
	if words[3] != linkedName {
		return node{}, p.fail(start, fmt.Sprintf("%q is no list: the only one is %s", catalog.Clip(words[3], maxQuoted), linkedName))
	}
	n := node{loop: words[1]}
	p.items = append(p.items, words[1])
	var end string
	var err error
	n.body, end, err = p.nodes(depth + 1)
	p.items = p.items[:len(p.items)-1]
	if err == nil && end == "empty" {
		n.orElse, end, err = p.nodes(depth + 1)
	}
	if err == nil && end != "endfor" {
		err = p.fail(start, "{% for %} is not closed by {% endfor %}")
	}
	return n, err
}

func (p *parser) condition(inner string, depth int) (node, error) {
	start := p.start
	var n node
	for {
		_, expression, _ := strings.Cut(inner, " ")
		terms, err := p.terms(expression)
		if err != nil {
			return node{}, err
		}
		body, end, err := p.nodes(depth + 1)
		if err != nil {
			return node{}, err
		}
		n.cases = append(n.cases, branch{terms, body})
		if strings.HasPrefix(end, "elif ") {
			inner = end
			continue
		}
		if end == "else" {
			n.orElse, end, err = p.nodes(depth + 1)
		}
		if err == nil && end != "endif" {
			err = p.fail(start, "{% if %} is not closed by {% endif %}")
		}
		return n, err
	}
}

// terms reads the expression of a condition.
func (p *parser) terms(expression string) ([]term, error) {
	words := wordRule.FindAllString(expression, -1)
	if len(words) == 0 || slices.Contains(words, `"`) || slices.Contains(words, "'") {
		return nil, p.fail(p.start, "the condition is missing, or a quote is not closed")
	}
	var terms []term
	for i := 0; i < len(words); {
		var t term
		if len(terms) > 0 {
			if words[i] != "and" && words[i] != "or" {
				return nil, p.fail(p.start, fmt.Sprintf("%q is no operator: known are and, or, not, == and !=", catalog.Clip(words[i], maxQuoted)))
			}
			t.or = words[i] == "or"
			i++
		}
		for ; i < len(words) && words[i] == "not"; i++ {
			t.not = !t.not
		}
		operand := func() (v value, err error) {
			if i == len(words) {
				return v, p.fail(p.start, "the condition is not complete")
			}
			i++
			return p.value(words[i-1])
		}
		var err error
		if t.value, err = operand(); err != nil {
			return nil, err
		}
		if i < len(words) && (words[i] == "==" || words[i] == "!=") {
			t.compare = words[i]
			i++
			if t.with, err = operand(); err != nil {
				return nil, err
			}
		}
		terms = append(terms, t)
	}
	return terms, nil
}

// value reads a placeholder with its filters, or a text in quotes.
func (p *parser) value(s string) (value, error) {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return value{literal: s[1 : len(s)-1]}, nil
	}
	parts := strings.Split(s, "|")
	v, err := p.placeholder(strings.TrimSpace(parts[0]))
	if err != nil {
		return value{}, err
	}
	for _, name := range parts[1:] {
		name = strings.TrimSpace(name)
		filter := filters()[name]
		if filter == nil {
			return value{}, p.fail(p.start, fmt.Sprintf("unknown filter %q: known are %s", catalog.Clip(name, maxQuoted), names(filters())))
		}
		v.filters = append(v.filters, filter)
	}
	return v, nil
}

// placeholder finds one that may be used here.
func (p *parser) placeholder(name string) (value, error) {
	if item, field, ok := strings.Cut(name, "."); ok && slices.Contains(p.items, item) {
		get := itemFields()[field]
		if get == nil {
			return value{}, p.fail(p.start, fmt.Sprintf("unknown field %q of %s: known are %s", catalog.Clip(field, maxQuoted), item, names(itemFields())))
		}
		return value{item: item, field: get}, nil
	}
	known, ok := placeholders()[name]
	switch {
	case !ok:
		return value{}, p.fail(p.start, fmt.Sprintf("unknown placeholder %q: docs/compatibility.md lists them", catalog.Clip(name, maxQuoted)))
	case known.translation && p.kind != Translation:
		return value{}, p.fail(p.start, fmt.Sprintf("%s is known in commit_message, add_message and delete_message only", name))
	case name == "addon_name" && p.kind != Addon:
		return value{}, p.fail(p.start, "addon_name is known in addon_message only")
	}
	return value{get: known.get}, nil
}

// maxQuoted bounds what messages quote of a template, in characters.
const maxQuoted = 40

// The keys of trailers that name people.
const (
	CoAuthoredBy = "Co-authored-by"
	ReviewedBy   = "Reviewed-by"
	SignedOffBy  = "Signed-off-by"
)

// Trailer returns a line at the end of a message that names a person, "" without name or
// address. key is one of the constants.
func Trailer(key, name, email string) string {
	if cleanName(name) == "" || cleanName(email) == "" {
		return ""
	}
	return key + ": " + Person(name, email)
}

// WithTrailers adds trailers to a message, each once and none that is "": to its last paragraph if that has
// trailers only, else as a paragraph of its own (git-interpret-trailers(1)).
func WithTrailers(message string, trailers ...string) string {
	message = strings.TrimRight(message, "\n")
	paragraphs := strings.Split(message, "\n\n")
	last := strings.Split(paragraphs[len(paragraphs)-1], "\n")
	joins := len(paragraphs) > 1 && !slices.ContainsFunc(last, func(line string) bool { return !trailerRule.MatchString(line) })
	var add []string
	for _, line := range trailers {
		if line != "" && !slices.Contains(add, line) && !(joins && slices.Contains(last, line)) {
			add = append(add, line)
		}
	}
	if len(add) == 0 {
		return message
	}
	separator := "\n\n"
	if joins {
		separator = "\n"
	}
	return message + separator + strings.Join(add, "\n")
}

// Person returns "Name <e-mail>" for a commit: neither part ends its line or the
// brackets.
func Person(name, email string) string { return cleanName(name) + " <" + cleanName(email) + ">" }

func cleanName(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r == '<' || r == '>' {
			return -1
		}
		return r
	}, oneLine(s)), " .,:;\"'\\")
}
