package checks

import (
	"hash/maphash"
	"strings"
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
	if r.flags.safeHTML || !r.flags.xmlText && !allOf(r.unit.Sources, mayBeXML) {
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

func allOf(texts []string, f func(string) bool) bool {
	for _, s := range texts {
		if !f(s) {
			return false
		}
	}
	return true
}

// mayBeXML reports whether s may have well-formed tags, which plain text has not.
func mayBeXML(s string) bool {
	i := strings.IndexByte(s, '<')
	return i >= 0 && strings.IndexByte(s[i:], '>') > 0 &&
		(strings.Contains(s, "</") || strings.Contains(s, "/>") || strings.Contains(s, "<!") || strings.Contains(s, "<?"))
}

func xmlInvalid(r *run, _ ID) {
	for i, e := range r.asXML().targets {
		target := r.unit.Targets[i]
		if target != "" && !e.ok && r.fail(hit{failed: true, target: Span{0, len(target)}}, r.sourceForm(i), i) {
			return
		}
	}
}

func xmlTags(r *run, _ ID) {
	m := r.asXML()
	for i, b := range m.targets {
		k := r.sourceForm(i)
		a := m.sources[k]
		if r.unit.Targets[i] == "" || !a.ok || !b.ok || a.sum == b.sum {
			continue
		}
		h := hit{failed: true}
		if r.explain {
			h = otherElements(a.all, b.all)
		}
		if r.fail(h, k, i) {
			return
		}
	}
}

// otherElements marks the elements that only one side has or, if both have the
// same, the elements in another order.
func otherElements(a, b []placeholder) hit {
	if missing, extra := pairUp(a, b, false); missing == 0 && extra == 0 {
		return otherOrder(a, b)
	}
	return hit{failed: true, sources: unpaired(a), targets: unpaired(b)}
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
	p := xmlReader{text: blankEntities(s), way: way, found: func(text string, from, to int) {
		h.WriteString(text)
		h.WriteByte(0)
		if len(e.all) < maxMarks {
			e.all = append(e.all, placeholder{text: text, from: from, to: to})
		}
	}}
	if !p.read() {
		return elements{}
	}
	e.ok, e.sum = true, h.Sum64()
	return e
}

// blankEntities replaces each entity by blanks of the same length.
func blankEntities(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	b := []byte(s)
	for i := 0; i < len(s); {
		n := entity(s[i:])
		for range n {
			b[i] = ' '
			i++
		}
		if n == 0 {
			i++
		}
	}
	return string(b)
}
