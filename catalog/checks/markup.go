package checks

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strings"
)

// xmlWay says how strings of a unit are read as XML.
type xmlWay uint8

const (
	xmlNot     xmlWay = iota // not at all
	xmlWrapped               // inside a root element
	xmlBare                  // as they are
)

// xmlWay finds how all source forms can be read.
func (r *run) xmlWay() xmlWay {
	if r.flags.safeHTML {
		return xmlNot
	}
	for _, way := range []xmlWay{xmlWrapped, xmlBare} {
		if !slices.ContainsFunc(r.unit.Sources, func(s string) bool {
			if !r.flags.xmlText && !mayBeXML(s) {
				return true
			}
			_, ok := xmlElements(s, way)
			return !ok
		}) {
			return way
		}
	}
	if r.flags.xmlText {
		return xmlWrapped
	}
	return xmlNot
}

// mayBeXML spares plain text the parser: well-formed tags are closed.
func mayBeXML(s string) bool {
	i := strings.IndexByte(s, '<')
	return i >= 0 && strings.IndexByte(s[i:], '>') > 0 &&
		(strings.Contains(s, "</") || strings.Contains(s, "/>") || strings.Contains(s, "<!--") || strings.Contains(s, "<?"))
}

func xmlInvalid(r *run, _ ID) {
	way := r.xmlWay()
	if way == xmlNot {
		return
	}
	for i, target := range r.unit.Targets {
		if target == "" {
			continue
		}
		if _, ok := xmlElements(target, way); !ok && r.fail(hit{failed: true, target: Span{0, len(target)}}, r.sourceForm(i), i) {
			return
		}
	}
}

func xmlTags(r *run, _ ID) {
	way := r.xmlWay()
	if way == xmlNot {
		return
	}
	for i, target := range r.unit.Targets {
		k := r.sourceForm(i)
		if target == "" {
			continue
		}
		a, okSource := xmlElements(r.unit.Sources[k], way)
		b, okTarget := xmlElements(target, way)
		if !okSource || !okTarget || slices.EqualFunc(a, b, func(p, q placeholder) bool { return p.text == q.text }) {
			continue
		}
		h := hit{failed: true}
		if r.explain {
			h = otherElements(a, b)
		}
		if r.fail(h, k, i) {
			return
		}
	}
}

// otherElements says which elements only one side has, or else which ones
// stand in another order.
func otherElements(a, b []placeholder) hit {
	if missing, extra := pairUp(a, b); missing == 0 && extra == 0 {
		return otherOrder(a, b)
	}
	return hit{failed: true, sources: unpaired(a), targets: unpaired(b)}
}

const rootElement = "<r>"

// xmlElements are the tags of a string with the names of their attributes, in
// document order; false if the string is not well-formed.
func xmlElements(s string, way xmlWay) ([]placeholder, bool) {
	if s = blankEntities(s); way == xmlWrapped {
		s = rootElement + s + "</r>"
	}
	d := xml.NewDecoder(strings.NewReader(s))
	var all []placeholder
	depth, roots := 0, 0
	for {
		from := int(d.InputOffset())
		token, err := d.Token()
		if err == io.EOF {
			if way == xmlWrapped {
				for i := range all {
					all[i].from -= len(rootElement)
					all[i].to -= len(rootElement)
				}
			}
			return all, depth == 0 && roots == 1
		}
		if err != nil {
			return nil, false
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			if depth++; depth > 1 || way == xmlBare {
				all = append(all, placeholder{text: elementText(&token), from: from, to: int(d.InputOffset())})
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && len(bytes.TrimSpace(token)) > 0 {
				return nil, false
			}
		}
	}
}

// elementText is what is compared of an element: its name and those of its
// attributes.
func elementText(e *xml.StartElement) string {
	if e.Name.Space == "" && len(e.Attr) == 0 {
		return e.Name.Local
	}
	var b strings.Builder
	b.WriteString(e.Name.Space + ":" + e.Name.Local)
	for _, a := range e.Attr {
		b.WriteString(" " + a.Name.Space + ":" + a.Name.Local)
	}
	return b.String()
}

// blankEntities puts blanks for each entity, as many as it is long.
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
