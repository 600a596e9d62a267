package checks

import (
	"encoding/xml"
	"io"
	"slices"
	"strings"
)

// maxTags bounds the BBCode tags of one string that are looked for.
const maxTags = 64

// bbcode compares the pairs of [tag]…[/tag].
func bbcode(_ *run, s, t string) hit {
	if !strings.Contains(s, "[/") {
		return hit{}
	}
	a, b := bbTags(s), bbTags(t)
	if len(a) == 0 || len(a) == len(b) && within(a, b) && within(b, a) {
		return hit{}
	}
	return hit{true, Span{0, len(s)}, Span{0, len(t)}}
}

func within(a, b []string) bool {
	return !slices.ContainsFunc(a, func(tag string) bool { return !slices.Contains(b, tag) })
}

// bbTags are the names of the pairs, in order.
func bbTags(s string) []string {
	var tags []string
	for range maxTags {
		i := strings.IndexByte(s, '[')
		if i < 0 || !strings.Contains(s[i:], "[/") {
			break
		}
		n := strings.IndexByte(s[i:], ']')
		if n < 0 {
			break
		}
		tag, _, _ := strings.Cut(s[i+1:i+n], "@")
		rest := s[i+n+1:]
		if end := strings.Index(rest, "[/"+tag+"]"); tag != "" && end >= 0 && !strings.Contains(rest[:end], "\n") {
			tags = append(tags, tag)
			rest = rest[end+len(tag)+3:]
		} else {
			rest = s[i+1:]
		}
		s = rest
	}
	return tags
}

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
		if _, ok := xmlElements(target, way); !ok && r.fail(hit{true, Span{}, Span{0, len(target)}}, r.sourceForm(i), i) {
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
		if okSource && okTarget && !slices.Equal(a, b) {
			if r.fail(hit{true, Span{0, len(r.unit.Sources[k])}, Span{0, len(target)}}, k, i) {
				return
			}
		}
	}
}

// xmlElements are the tags of a string with the names of their attributes, in
// document order; false if the string is not well-formed.
func xmlElements(s string, way xmlWay) ([]string, bool) {
	if s = withoutEntities(s); way == xmlWrapped {
		s = "<r>" + s + "</r>"
	}
	d := xml.NewDecoder(strings.NewReader(s))
	var all []string
	depth, roots := 0, 0
	for {
		token, err := d.Token()
		if err == io.EOF {
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
			depth++
			element := token.Name.Space + ":" + token.Name.Local
			for _, a := range token.Attr {
				element += " " + a.Name.Space + ":" + a.Name.Local
			}
			all = append(all, element)
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && strings.TrimSpace(string(token)) != "" {
				return nil, false
			}
		}
	}
}

// withoutEntities puts a blank for each entity.
func withoutEntities(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := entity(s[i:]); n > 0 {
			b.WriteByte(' ')
			i += n
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
