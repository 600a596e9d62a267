package checks

import (
	"encoding/xml"
	"errors"
	"hash/maphash"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// xmlWay says how the strings of a unit are read as XML.
type xmlWay uint8

const (
	xmlNot     xmlWay = iota // they are not XML
	xmlWrapped               // inside a root element
	xmlBare                  // as they are
)

// elements are the tags of one string.
type elements struct {
	all []placeholder // in document order, up to maxMarks
	sum uint64        // hash of all tags in order
	ok  bool          // the string is well-formed
}

// markup is a unit read as XML. Both checks of XML share it.
type markup struct {
	known            bool
	way              xmlWay
	sources, targets []elements
}

// asXML reads the unit as XML. sources and targets are nil if the way is xmlNot.
func (r *run) asXML() *markup {
	m := &r.markup
	if m.known {
		return m
	}
	m.known = true
	if m.findWay(r); m.way == xmlNot {
		m.sources = nil
		return m
	}
	for _, target := range r.unit.Targets {
		m.targets = append(m.targets, r.readXML(target, m.way))
	}
	return m
}

// findWay finds a way to read all source forms, and reads them.
func (m *markup) findWay(r *run) {
	if r.flags.safeHTML || !r.flags.xmlText && slices.ContainsFunc(r.unit.Sources, func(s string) bool { return !mayBeXML(s) }) {
		return
	}
	for _, way := range []xmlWay{xmlWrapped, xmlBare} {
		m.sources = m.sources[:0]
		m.way = way
		for _, source := range r.unit.Sources {
			e := r.readXML(source, way)
			if m.sources = append(m.sources, e); !e.ok {
				m.way = xmlNot
				if !r.flags.xmlText {
					break
				}
			}
		}
		if m.way != xmlNot {
			return
		}
	}
	if r.flags.xmlText {
		m.way = xmlWrapped
		for i, source := range r.unit.Sources {
			m.sources[i] = r.readXML(source, m.way)
		}
	}
}

// mayBeXML reports whether s may have well-formed tags, which plain text has not.
func mayBeXML(s string) bool {
	i := strings.IndexByte(s, '<')
	return i >= 0 && strings.IndexByte(s[i:], '>') > 0 &&
		(strings.Contains(s, "</") || strings.Contains(s, "/>") || strings.Contains(s, "<!") || strings.Contains(s, "<?"))
}

func xmlInvalid(r *run, _, t string) hit {
	m := r.asXML()
	return hit{failed: m.way != xmlNot && t != "" && !m.targets[r.at].ok, target: Span{0, len(t)}}
}

func xmlTags(r *run, _, t string) hit {
	m := r.asXML()
	if m.way == xmlNot || t == "" {
		return hit{}
	}
	a, b := m.sources[r.sourceForm(r.at)], m.targets[r.at]
	switch {
	case !a.ok || !b.ok || a.sum == b.sum:
		return hit{}
	case !r.explain:
		return hit{failed: true}
	}
	if missing, extra := pairUp(a.all, b.all, false); missing == 0 && extra == 0 {
		return otherOrder(a.all, b.all)
	}
	return hit{failed: true, sources: unpaired(a.all), targets: unpaired(b.all)}
}

// readXML finds the tags of a string with the names of their attributes, in
// document order. A string that would take too much memory counts as malformed.
func (r *run) readXML(s string, way xmlWay) elements {
	if len(s) > maxMarks && strings.Count(s, "=") > maxMarks {
		return elements{}
	}
	var e elements
	var h maphash.Hash
	h.SetSeed(r.seed)
	e.ok = eachElement(blankEntities(s), way == xmlBare, func(text string, from, to int) {
		h.WriteString(text)
		h.WriteByte(0)
		if len(e.all) < maxMarks {
			e.all = append(e.all, placeholder{text: text, from: from, to: to})
		}
	})
	if !e.ok {
		return elements{}
	}
	e.sum = h.Sum64()
	return e
}

// The parts of a document that encoding/xml reads more loosely than expat: the first
// line, a document type without an internal subset, and the tag of an element.
var (
	doctype        = regexp.MustCompile(`^<!DOCTYPE\s+[\pL_][^\s<>&"'\[]*(?:\s+(?:SYSTEM|PUBLIC\s+(?:"[-\s0-9A-Za-z'()+,./:=?;!*#@$_%]*"|'[-\s0-9A-Za-z()+,./:=?;!*#@$_%]*'))\s+(?:"[^"]*"|'[^']*'))?\s*>`)
	xmlDeclaration = regexp.MustCompile(`^<\?xml\s+version\s*=\s*(?:"[-A-Za-z0-9._:]+"|'[-A-Za-z0-9._:]+')(?:\s+encoding\s*=\s*(?:"[A-Za-z][-A-Za-z0-9._]*"|'[A-Za-z][-A-Za-z0-9._]*'))?(?:\s+standalone\s*=\s*(?:"(?:yes|no)"|'(?:yes|no)'))?\s*\?>`)
	startTag       = regexp.MustCompile(`^<[^\s/>]+(?:\s+[^\s=]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*/?>$`)
)

// eachElement calls found for each element of a text without entities, with its name and
// those of its attributes. It reports whether the text is well-formed by the rules of
// expat with namespaces, which Weblate reads it with: inside a root element or, bare, by
// itself.
func eachElement(s string, bare bool, found func(text string, from, to int)) bool {
	if bare {
		s = xmlDeclaration.ReplaceAllStringFunc(s, func(first string) string { return strings.Repeat(" ", len(first)) })
	}
	d := xml.NewDecoder(strings.NewReader(s))
	declared := map[string]bool{xmlNamespace: true}
	depth, roots, typed := 0, 0, false
	for {
		from := int(d.InputOffset())
		token, err := d.Token()
		if err != nil {
			return errors.Is(err, io.EOF) && (!bare || roots == 1)
		}
		to := int(d.InputOffset())
		outside, ok := bare && depth == 0, true
		switch t := token.(type) {
		case xml.StartElement:
			var text string
			if text, ok = expanded(t, declared); !ok || len(t.Attr) > 1 && !startTag.MatchString(s[from:to]) {
				return false
			}
			found(text, from, to)
			if depth++; depth > maxDepth {
				return false
			}
			if outside {
				roots++
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			ok = !outside || strings.Trim(s[from:to], " \t\r\n") == ""
		case xml.ProcInst:
			ok = !strings.EqualFold(t.Target, "xml") && !strings.Contains(t.Target, ":")
		case xml.Directive:
			ok = outside && roots == 0 && !typed && doctype.MatchString(s[from:to])
			typed = true
		}
		if !ok {
			return false
		}
	}
}

// Bounds of what a text can cost: the names of each element have their namespaces, and the
// decoder remembers the elements that are open.
const (
	maxNamespace = 256
	maxDepth     = 10_000
)

// The namespaces of two prefixes that no document may bind to others.
const (
	xmlNamespace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsNamespace = "http://www.w3.org/2000/xmlns/"
)

// expanded returns what is compared of an element: its name and those of its attributes,
// with their namespaces. It fails if a prefix is not bound or an attribute is there twice.
func expanded(e xml.StartElement, declared map[string]bool) (string, bool) {
	names := []xml.Name{e.Name}
	seen := make(map[xml.Name]bool, len(e.Attr))
	for _, a := range e.Attr {
		isDefault := a.Name == xml.Name{Local: "xmlns"}
		switch {
		case seen[a.Name]:
			return "", false
		case !isDefault && a.Name.Space != "xmlns":
			names = append(names, a.Name)
		case !mayBind(a.Name.Local, a.Value, isDefault):
			return "", false
		default:
			declared[a.Value] = true
		}
		seen[a.Name] = true
	}
	var text strings.Builder
	for _, name := range names {
		first, _ := utf8.DecodeRuneInString(name.Local)
		if first != '_' && !unicode.IsLetter(first) || strings.Contains(name.Local, ":") || name.Space != "" && !declared[name.Space] {
			return "", false
		}
		text.WriteString(name.Local)
		if name.Space != "" || len(names) > 1 {
			text.WriteString("}" + name.Space + " ") // which no namespace has
		}
	}
	return text.String(), true
}

// mayBind reports whether a prefix, or elements without one, can have a namespace.
// ElementTree has "}" written after namespaces, so none has it.
func mayBind(prefix, namespace string, byDefault bool) bool {
	first, _ := utf8.DecodeRuneInString(prefix)
	switch {
	case len(namespace) > maxNamespace:
		return false
	case prefix == "xml" || namespace == xmlNamespace:
		return prefix == "xml" && namespace == xmlNamespace
	case byDefault:
		return namespace != xmlnsNamespace && !strings.Contains(namespace, "}")
	}
	return prefix != "xmlns" && namespace != "" && namespace != xmlnsNamespace && !strings.Contains(namespace, "}") && unicode.IsLetter(first)
}

// blankEntities replaces each entity by blanks of the same length.
func blankEntities(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	b := []byte(s)
	for i := range b {
		for n := entity(s[i:]); n > 0; n-- {
			b[i+n-1] = ' '
		}
	}
	return string(b)
}
