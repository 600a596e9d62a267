package checks

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// maxNesting is how deep sub-messages and tags may be nested, as in Weblate's
// parser.
const maxNesting = 50

// icuParser reads a message up to its end or the first error: a method that returns
// false leaves i at the error. It reads no byte more than twice.
type icuParser struct {
	s     string
	i     int
	depth int
	flags icuFlags
	found icuMessage
}

// icuParent is the construct that a message is in. The zero value is the whole
// string.
type icuParent struct {
	nested   bool         // it is an argument or a tag
	argument *icuArgument // the argument that # means; nil if # is text
}

// parseICU reads a message of ICU MessageFormat, with tags if the flags ask for
// them.
func parseICU(s string, f icuFlags) icuMessage {
	p := icuParser{s: s, flags: f}
	p.found.ok = p.message(icuParent{})
	p.found.at = min(p.i, len(s))
	return p.found
}

// message reads up to the end of the string or of the parent.
func (p *icuParser) message(in icuParent) bool {
	for {
		p.text(in.argument != nil, false)
		switch {
		case p.i == len(p.s):
			return true
		case p.s[p.i] == '}', in.nested && p.has("</") && p.opensTag():
			return in.nested
		case !p.placeholder(in):
			return false
		}
	}
}

// placeholder reads the construct that [icuParser.text] stopped at.
func (p *icuParser) placeholder(in icuParent) bool {
	switch p.s[p.i] {
	case '#':
		p.i++
		p.found.setType(in.argument, "number")
		return true
	case '<':
		return p.tag()
	}
	return p.argument()
}

// argument reads {name}, {name, type}, {name, type, style} or
// {name, type, selector {message}…}.
func (p *icuParser) argument() bool {
	from := p.i
	p.i++
	name := p.word()
	if name == "" {
		return false
	}
	a := p.found.use(name, from)
	if p.take('}') {
		a.ends(p.i)
		return true
	}
	if !p.take(',') {
		return false
	}
	kind := p.word()
	if kind == "" {
		return false
	}
	p.found.setType(a, kind)
	end := p.i
	messages := icuPlural(kind) || kind == "select"
	if !messages && p.take('}') {
		a.ends(p.i)
		return true
	}
	if !p.take(',') {
		return false
	}
	if p.blanks(); !messages {
		style := p.i
		if p.text(false, true); p.i == style {
			return false
		}
		if !p.has("{") {
			ok := p.take('}')
			a.ends(p.i)
			return ok
		}
		p.i = style // other types may have sub-messages as well
	}
	a.ends(end)
	if icuPlural(kind) && !p.offset() {
		return false
	}
	return p.submessages(a, icuPlural(kind)) && p.take('}')
}

// offset skips "offset:1" of a plural, if it is there.
func (p *icuParser) offset() bool {
	if !p.has("offset:") {
		return true
	}
	p.i += len("offset:")
	p.blanks()
	if p.has("-") {
		p.i++
	}
	from := p.i
	p.i = digits(p.s, from)
	return p.i > from
}

// submessages reads one or more of "selector {message}".
func (p *icuParser) submessages(a *icuArgument, plural bool) bool {
	in := icuParent{nested: true}
	if plural {
		in.argument = a
	}
	for n := 0; ; n++ {
		if p.blanks(); n > 0 && p.has("}") {
			return true
		}
		selector := p.word()
		if selector == "" {
			return false
		}
		p.found.choose(a, selector, plural)
		if !p.take('{') || !p.inner(in) || !p.take('}') {
			return false
		}
	}
}

// inner reads a message inside another one.
func (p *icuParser) inner(in icuParent) bool {
	if p.depth == maxNesting {
		return false
	}
	p.depth++
	ok := p.message(in)
	p.depth--
	return ok
}

// tag reads <name/> or <name>message</name>; names have no attributes.
func (p *icuParser) tag() bool {
	from := p.i
	if p.has("</") {
		return false
	}
	p.i++
	name := p.tagName()
	if name == "" {
		return false
	}
	a := p.found.use(name, from)
	a.tag = true
	if p.blanks(); p.has("/>") {
		p.i += len("/>")
		a.ends(p.i)
		a.empty = true
		return true
	}
	if !p.take('>') {
		return false
	}
	a.ends(p.i)
	start := p.i
	if !p.inner(icuParent{nested: true}) || !p.has("</") {
		return false
	}
	a.full, a.empty = a.full || p.i > start, a.empty || p.i == start
	closing := p.i
	p.i += len("</")
	if p.tagName() != name {
		p.i = closing
		return false
	}
	return p.take('>')
}

// icuMessage is a message of ICU MessageFormat: how it uses each name.
type icuMessage struct {
	ok        bool // the syntax is right
	at        int  // where it is wrong, in bytes
	arguments map[string]*icuArgument
	order     []*icuArgument // by their first place
	facts     int            // number of names, types and selectors that are kept
}

// icuArgument is how a message uses one name: as an argument, a tag, or both.
type icuArgument struct {
	name     string
	from, to int             // the first place, up to its sub-messages or contents; to is 0 while unknown
	types    map[string]bool // such as "number"; nil if it has no type
	choices  map[string]bool // selectors of sub-messages; nil if it has no sub-messages
	notCount bool            // it has a type that is not a number's
	misnamed bool            // a plural has a wrong selector
	tag      bool            // a tag has the name
	full     bool            // a tag of the name has contents
	empty    bool            // a tag of the name is empty
}

// many reports whether the message has more facts than are kept. Such a message
// is not checked.
func (m *icuMessage) many() bool { return m.facts >= maxMarks }

// note counts a fact, and reports whether to keep it.
func (m *icuMessage) note() bool {
	m.facts++
	return m.facts <= maxMarks
}

// use returns the argument of a name, which is used at byte from.
func (m *icuMessage) use(name string, from int) *icuArgument {
	if a := m.arguments[name]; a != nil {
		return a
	}
	a := &icuArgument{name: name, from: from}
	if m.note() {
		if m.arguments == nil {
			m.arguments = make(map[string]*icuArgument)
		}
		m.arguments[name] = a
		m.order = append(m.order, a)
	}
	return a
}

// ends records where the first place of the argument ends.
func (a *icuArgument) ends(at int) { a.to = cmp.Or(a.to, at) }

// setType records a type of the argument.
func (m *icuMessage) setType(a *icuArgument, name string) {
	if m.keep(&a.types, name) {
		a.notCount = a.notCount || name != "number" && !icuPlural(name)
	}
}

// choose records a selector of the argument.
func (m *icuMessage) choose(a *icuArgument, selector string, plural bool) {
	a.misnamed = a.misnamed || plural && selector[0] != '=' && !slices.Contains([]string{"zero", "one", "two", "few", "many", icuOther}, selector)
	m.keep(&a.choices, selector)
}

// keep adds a fact to a set, and reports whether it is new and kept.
func (m *icuMessage) keep(set *map[string]bool, name string) bool {
	if (*set)[name] || !m.note() {
		return false
	}
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[name] = true
	return true
}

// counts reports whether all types of the argument are types of numbers.
func (a *icuArgument) counts() bool { return a.types != nil && !a.notCount }

// isTag reports whether the name is used by tags and by no argument with a type.
func (a *icuArgument) isTag() bool { return a.tag && a.types == nil }

// icuPlural reports whether a type has the selectors of plurals.
func icuPlural(name string) bool { return name == "plural" || name == "selectordinal" }

// icuOther is the selector that every argument with sub-messages needs.
const icuOther = "other"

// text skips text up to a brace, a tag, or # in a plural. In the style of an
// argument, an apostrophe always begins a quotation.
func (p *icuParser) text(plural, style bool) {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '{', c == '}', plural && c == '#', c == '<' && p.opensTag():
			return
		case c == '\'':
			p.quoted(plural, style)
		default:
			p.i++
		}
	}
}

// quoted skips an apostrophe. If a character follows that is not text, it skips
// the quotation as well: up to the next apostrophe that is not doubled, or the end.
func (p *icuParser) quoted(plural, style bool) {
	p.i++
	if p.i == len(p.s) {
		return
	}
	switch c := p.s[p.i]; {
	case c == '\'':
		p.i++
		return
	case style, c == '{', c == '}', plural && c == '#', c == '<' && p.flags.tags():
	default:
		return
	}
	for {
		n := strings.IndexByte(p.s[p.i:], '\'')
		if n < 0 {
			p.i = len(p.s)
			return
		}
		p.i += n + 1
		if !p.has("'") {
			return
		}
		p.i++
	}
}

// opensTag reports whether the < at the current position begins a tag.
func (p *icuParser) opensTag() bool {
	switch {
	case !p.flags.tags():
		return false
	case p.flags.has(icuStrictXML):
		return true
	}
	rest := strings.TrimPrefix(p.s[p.i+1:], "/")
	if p.flags.prefix != "" {
		return strings.HasPrefix(rest, p.flags.prefix)
	}
	return rest != "" && isLetter(rest[0])
}

// word skips blanks and reads a name, a type or a selector.
func (p *icuParser) word() string {
	p.blanks()
	return p.until("{},#'")
}

// tagName reads the name of a tag.
func (p *icuParser) tagName() string { return p.until("{},#'</>") }

// until reads up to a blank or one of the characters of marks.
func (p *icuParser) until(marks string) string {
	rest := p.s[p.i:]
	if n := strings.IndexFunc(rest, func(c rune) bool { return icuBlank(c) || strings.ContainsRune(marks, c) }); n >= 0 {
		rest = rest[:n]
	}
	p.i += len(rest)
	return rest
}

func (p *icuParser) blanks() {
	p.i = len(p.s) - len(strings.TrimLeftFunc(p.s[p.i:], icuBlank))
}

// icuBlank reports whether c is white space or has no width.
func icuBlank(c rune) bool {
	return unicode.IsSpace(c) || c >= 0x200b && c <= 0x200d || c == 0x180e || c == 0x2060 || c == 0xfeff
}

// has reports whether text is next.
func (p *icuParser) has(text string) bool { return strings.HasPrefix(p.s[p.i:], text) }

// take skips blanks, and then a character if it is next.
func (p *icuParser) take(c byte) bool {
	p.blanks()
	if p.i == len(p.s) || p.s[p.i] != c {
		return false
	}
	p.i++
	return true
}
