package checks

import "strings"

// attribute is one of an element; namespace is "" if it has no prefix.
type attribute struct{ prefix, local, namespace, value string }

// The namespaces of two prefixes that no document may bind to others.
const (
	xmlNamespace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsNamespace = "http://www.w3.org/2000/xmlns/"
)

// startTag reads a tag that begins an element, or is all of it.
func (p *xmlReader) startTag() bool {
	from := p.at
	p.at++
	name := p.name()
	prefix, local, ok := qualifiedName(name)
	if !ok || len(p.open) == maxDepth || p.outside() && p.roots > 0 {
		return false
	}
	if p.outside() {
		p.roots++
	}
	p.open = append(p.open, openElement{name, len(p.hidden)})
	if !p.readAttributes() || !p.declare() {
		return false
	}
	empty := p.at < len(p.text) && p.text[p.at] == '/'
	if empty {
		p.at++
	}
	if p.at == len(p.text) || p.text[p.at] != '>' {
		return false
	}
	p.at++
	if text, ok := p.expand(prefix, local); ok {
		p.found(text, from, p.at)
	} else {
		return false
	}
	if empty {
		p.close()
	}
	return true
}

// name returns the characters up to one that no name has.
func (p *xmlReader) name() string {
	from := p.at
	if n := strings.IndexAny(p.text[from:], xmlSpace+"/>=<\"'&"); n >= 0 {
		p.at += n
	} else {
		p.at = len(p.text)
	}
	return p.text[from:p.at]
}

// space skips white space and reports whether there was any.
func (p *xmlReader) space() bool {
	from := p.at
	for p.at < len(p.text) && strings.IndexByte(xmlSpace, p.text[p.at]) >= 0 {
		p.at++
	}
	return p.at > from
}

// readAttributes reads the attributes of the current element.
func (p *xmlReader) readAttributes() bool {
	p.attributes = p.attributes[:0]
	for {
		space := p.space()
		if p.at == len(p.text) || p.text[p.at] == '/' || p.text[p.at] == '>' {
			return true
		}
		prefix, local, ok := qualifiedName(p.name())
		if !ok || !space {
			return false
		}
		p.space()
		if !strings.HasPrefix(p.text[p.at:], "=") {
			return false
		}
		p.at++
		p.space()
		value, ok := p.value()
		if !ok {
			return false
		}
		p.attributes = append(p.attributes, attribute{prefix: prefix, local: local, value: value})
	}
}

// value reads a value in quotes.
func (p *xmlReader) value() (string, bool) {
	rest := p.text[p.at:]
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return "", false
	}
	n := strings.IndexByte(rest[1:], rest[0])
	if n < 0 || strings.ContainsAny(rest[1:1+n], "<&") {
		return "", false
	}
	p.at += n + 2
	return rest[1 : 1+n], true
}

// declare binds the prefixes that the current element declares, and takes the
// declarations off its attributes.
func (p *xmlReader) declare() bool {
	others := p.attributes[:0]
	var declared map[string]bool
	for _, a := range p.attributes {
		prefix := a.local
		switch {
		case a.prefix == "" && a.local == "xmlns":
			prefix = ""
		case a.prefix != "xmlns":
			others = append(others, a)
			continue
		}
		if declared[prefix] || !mayBind(prefix, a.value, a.prefix == "") {
			return false
		}
		if declared == nil {
			declared = map[string]bool{}
		}
		declared[prefix] = true
		old, bound := p.namespaces[prefix]
		p.hidden = append(p.hidden, binding{prefix, old, bound})
		if p.namespaces == nil {
			p.namespaces = map[string]string{}
		}
		p.namespaces[prefix] = a.value
	}
	p.attributes = others
	return true
}

// maxNamespace bounds a namespace in bytes: every element may repeat it.
const maxNamespace = 256

// mayBind reports whether a prefix, or elements without one, can have a
// namespace. ElementTree has "}" written after namespaces, so none has it.
func mayBind(prefix, namespace string, byDefault bool) bool {
	switch {
	case prefix == "xmlns", namespace == xmlnsNamespace, strings.Contains(namespace, "}"), len(namespace) > maxNamespace:
		return false
	case prefix == "xml" || namespace == xmlNamespace:
		return prefix == "xml" && namespace == xmlNamespace
	}
	return byDefault || namespace != ""
}

// namespace returns the namespace of a prefix.
func (p *xmlReader) namespace(prefix string) (string, bool) {
	if prefix == "xml" {
		return xmlNamespace, true
	}
	namespace, bound := p.namespaces[prefix]
	return namespace, bound
}

// expand returns what is compared of the current element: its name and those of
// its attributes, with their namespaces. It fails if a prefix is not bound or an
// attribute is there twice.
func (p *xmlReader) expand(prefix, local string) (string, bool) {
	namespace, bound := p.namespace(prefix)
	if prefix != "" && !bound {
		return "", false
	}
	if namespace == "" && len(p.attributes) == 0 {
		return local, true
	}
	var b strings.Builder
	b.WriteString(namespace + ":" + local)
	seen := make(map[attribute]bool, len(p.attributes))
	for _, a := range p.attributes {
		key := attribute{local: a.local}
		if a.prefix != "" {
			if key.namespace, bound = p.namespace(a.prefix); !bound {
				return "", false
			}
		}
		if seen[key] {
			return "", false
		}
		seen[key] = true
		b.WriteString(" " + key.namespace + ":" + a.local)
	}
	return b.String(), true
}
