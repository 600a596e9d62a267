package checks

import (
	"strings"
	"unicode"
)

// safeHTML fails if a sanitiser would change the translation that allows only the
// tags and attributes of the source. Text that is no tag, such as a lone "<" or
// "&", is always safe.
func safeHTML(r *run, s, t string) hit {
	if strings.IndexByte(t, '<') < 0 {
		return hit{}
	}
	if r.flags.mdText {
		t = blankLinks(t)
	}
	allowed := make(map[string]struct{})
	for tag := range htmlTags(s) {
		allowed[tag.name] = struct{}{}
		for _, a := range tag.attributes {
			allowed[tag.name+" "+a.name] = struct{}{}
		}
		if len(allowed) > maxMarks {
			return hit{}
		}
	}
	var bad []Span
	var open []htmlTag
	for tag := range htmlTags(t) {
		ok := tag.wellFormed && tag.allowedBy(allowed)
		switch {
		case !ok, tag.isVoid():
		case !tag.closing && len(open) < maxMarks:
			tag.attributes = nil
			open = append(open, tag)
		case !tag.closing:
			ok = false // too many open tags
		case len(open) > 0 && open[len(open)-1].name == tag.name:
			open = open[:len(open)-1]
		default:
			ok = false // closes what is not open
		}
		if !ok {
			bad = append(bad, Span{tag.from, tag.to})
			if !r.explain || len(bad) == maxPlaces {
				break
			}
		}
	}
	if len(bad) == 0 && len(open) > 0 {
		tag := open[len(open)-1]
		bad = []Span{{tag.from, tag.to}}
	}
	if len(bad) == 0 {
		return hit{}
	}
	return hit{failed: true, targets: bad}
}

// htmlTag is a tag or comment; from and to in bytes.
type htmlTag struct {
	name       string // lower case; "!" for comments and declarations
	closing    bool
	wellFormed bool // it is closed by ">"
	from, to   int
	attributes []htmlAttribute
}

type htmlAttribute struct{ name, value string }

func (t *htmlTag) allowedBy(allowed map[string]struct{}) bool {
	if _, ok := allowed[t.name]; !ok || t.name == "!" {
		return false
	}
	for _, a := range t.attributes {
		if _, ok := allowed[t.name+" "+a.name]; !ok || leadsToScript(a) {
			return false
		}
	}
	return true
}

// leadsToScript reports whether an attribute is an address whose scheme is not known
// to be harmless.
func leadsToScript(a htmlAttribute) bool {
	switch a.name {
	case "href", "src", "action", "formaction", "cite", "background", "poster", "data":
	default:
		return false
	}
	value := strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.IsControl(c) {
			return -1
		}
		return unicode.ToLower(c)
	}, a.value)
	scheme, _, ok := strings.Cut(value, ":")
	if !ok || strings.ContainsAny(scheme, "/?#") {
		return strings.Contains(scheme, "&") // a colon may be written as an entity
	}
	switch scheme {
	case "http", "https", "ftp", "ftps", "mailto", "tel", "sms", "irc", "ircs", "xmpp", "news", "nntp", "magnet", "geo", "bitcoin":
		return false
	}
	return !strings.ContainsAny(scheme, "{%") // a placeholder for the address
}

// isVoid reports whether an element has no closing tag.
func (t *htmlTag) isVoid() bool {
	switch t.name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr":
		return !t.closing
	}
	return false
}

// htmlTags yields the tags of s. Each character is read once.
func htmlTags(s string) func(yield func(htmlTag) bool) {
	return func(yield func(htmlTag) bool) {
		for i := 0; ; {
			n := strings.IndexByte(s[i:], '<')
			if n < 0 {
				return
			}
			i += n
			tag, ok := readTag(s, i)
			if i++; !ok {
				continue
			}
			if i = tag.to; !yield(tag) {
				return
			}
		}
	}
}

// readTag reads the tag at byte i; false if it is text.
func readTag(s string, i int) (htmlTag, bool) {
	t := htmlTag{from: i, to: len(s)}
	i++
	if i < len(s) && (s[i] == '!' || s[i] == '?') {
		end := ">"
		if t.name = "!"; strings.HasPrefix(s[i:], "!--") {
			end = "-->"
		}
		if n := strings.Index(s[i:], end); n >= 0 {
			t.to, t.wellFormed = i+n+len(end), true
		}
		return t, true
	}
	if i < len(s) && s[i] == '/' {
		t.closing = true
		i++
	}
	from := i
	if i == len(s) || !isLetter(s[i]) {
		return t, false
	}
	for i < len(s) && !endsName(s[i]) {
		i++
	}
	t.name = strings.ToLower(s[from:i])
	for i < len(s) {
		switch s[i] {
		case '>':
			t.to, t.wellFormed = i+1, true
			return t, true
		case ' ', '\t', '\n', '\r', '\f', '/':
			i++
		default:
			var a htmlAttribute
			a, i = readAttribute(s, i)
			if t.attributes = append(t.attributes, a); len(t.attributes) == maxMarks {
				return t, true
			}
		}
	}
	return t, true
}

// readAttribute reads name, name=value or name="value" at byte i, and returns the
// position after it, which is greater than i.
func readAttribute(s string, i int) (htmlAttribute, int) {
	from := i
	for i++; i < len(s) && !endsName(s[i]) && s[i] != '='; {
		i++
	}
	a := htmlAttribute{name: strings.ToLower(s[from:i])}
	j := skip(s, i, " \t\n\r\f")
	if j == len(s) || s[j] != '=' {
		return a, i
	}
	i = skip(s, j+1, " \t\n\r\f")
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		n := strings.IndexByte(s[i+1:], s[i])
		if n < 0 {
			return a, len(s)
		}
		a.value = s[i+1 : i+1+n]
		return a, i + n + 2
	}
	from = i
	for i < len(s) && s[i] != '>' && strings.IndexByte(" \t\n\r\f", s[i]) < 0 {
		i++
	}
	a.value = s[from:i]
	return a, i
}

func endsName(c byte) bool { return c <= ' ' || c == '/' || c == '>' }
