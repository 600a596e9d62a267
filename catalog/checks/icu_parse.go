package checks

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
