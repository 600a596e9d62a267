package checks

import (
	"encoding/xml"
	"regexp"
	"strings"
	"unicode/utf8"
)

// xmlReader reads a string as XML by the rules of expat with namespaces, which
// Weblate reads it with. Entities are blanks already.
type xmlReader struct {
	text  string
	at    int // index of the next token
	way   xmlWay
	typed bool // the document type was read
	roots int  // elements outside of all others, of the way xmlBare
	open  []openElement
	found func(name string, from, to int) // is called for each element

	namespaces map[string]string // by prefix; that of elements without one is ""
	hidden     []binding
	attributes []attribute // of the current element
}

// openElement is an element whose end was not read yet.
type openElement struct {
	name   string // as it is written
	hidden int    // length of xmlReader.hidden before it
}

// binding is what a prefix meant before an element declared it.
type binding struct {
	prefix, namespace string
	bound             bool
}

// maxDepth is how deep elements may be nested.
const maxDepth = 10_000

// doctype is a document type without an internal subset, which would need a
// reader of its own, and xmlDeclaration the first line of a document.
var (
	doctype        = regexp.MustCompile(`^<!DOCTYPE\s+([^\s<>&"'\[]+)(?:\s+(?:SYSTEM|PUBLIC\s+(?:"[-\s0-9A-Za-z'()+,./:=?;!*#@$_%]*"|'[-\s0-9A-Za-z()+,./:=?;!*#@$_%]*'))\s+(?:"[^"]*"|'[^']*'))?\s*>`)
	xmlDeclaration = regexp.MustCompile(`^<\?xml\s+version\s*=\s*(?:"[-A-Za-z0-9._:]+"|'[-A-Za-z0-9._:]+')(?:\s+encoding\s*=\s*(?:"[A-Za-z][-A-Za-z0-9._]*"|'[A-Za-z][-A-Za-z0-9._]*'))?(?:\s+standalone\s*=\s*(?:"(?:yes|no)"|'(?:yes|no)'))?\s*\?>`)
)

// read reports whether the text is well-formed.
func (p *xmlReader) read() bool {
	if !isXMLText(p.text) {
		return false
	}
	if p.way == xmlBare {
		p.at = len(xmlDeclaration.FindString(p.text))
	}
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		ok := false
		switch {
		case rest[0] != '<':
			ok = p.characters(rest)
		case strings.HasPrefix(rest, "<!--"):
			ok = p.comment(rest)
		case strings.HasPrefix(rest, "<![CDATA["):
			ok = !p.outside() && p.skip(strings.Index(rest, "]]>"), len("]]>"))
		case strings.HasPrefix(rest, "<!"):
			ok = p.documentType(rest)
		case strings.HasPrefix(rest, "<?"):
			ok = p.instruction(rest)
		case strings.HasPrefix(rest, "</"):
			ok = p.endTag(rest)
		default:
			ok = p.startTag()
		}
		if !ok {
			return false
		}
	}
	return len(p.open) == 0 && (p.way == xmlWrapped || p.roots == 1)
}

// outside reports whether the next token is outside of the root element.
func (p *xmlReader) outside() bool { return p.way == xmlBare && len(p.open) == 0 }

// skip moves to the end of the mark of a length that was found n bytes ahead; n
// is negative if it was not found.
func (p *xmlReader) skip(n, length int) bool {
	p.at += n + length
	return n >= 0
}

// isXMLText reports whether a text has only characters that XML may have.
func isXMLText(s string) bool {
	for _, c := range s {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0xfffe || c == 0xffff {
			return false
		}
	}
	return utf8.ValidString(s)
}

func (p *xmlReader) characters(rest string) bool {
	n := strings.IndexByte(rest, '<')
	if n < 0 {
		n = len(rest)
	}
	text := rest[:n]
	p.at += n
	if p.outside() {
		return strings.Trim(text, xmlSpace) == ""
	}
	return !strings.Contains(text, "&") && !strings.Contains(text, "]]>")
}

func (p *xmlReader) comment(rest string) bool {
	const begin = "<!--"
	n := strings.Index(rest[len(begin):], "--")
	return n >= 0 && strings.HasPrefix(rest[len(begin)+n:], "-->") && p.skip(n, len(begin)+len("-->"))
}

func (p *xmlReader) documentType(rest string) bool {
	m := doctype.FindStringSubmatch(rest)
	if m == nil || !p.outside() || p.roots > 0 || p.typed {
		return false
	}
	p.typed = true
	_, _, ok := qualifiedName(m[1])
	return ok && p.skip(0, len(m[0]))
}

func (p *xmlReader) instruction(rest string) bool {
	const begin = "<?"
	n := strings.Index(rest[len(begin):], "?>")
	if n < 0 {
		return false
	}
	target := rest[len(begin) : len(begin)+n]
	if i := strings.IndexAny(target, xmlSpace); i >= 0 {
		target = target[:i]
	}
	return isXMLName(target) && !strings.EqualFold(target, "xml") && p.skip(n, len(begin)+len("?>"))
}

func (p *xmlReader) endTag(rest string) bool {
	n := strings.IndexByte(rest, '>')
	if n < 0 || len(p.open) == 0 {
		return false
	}
	last := p.open[len(p.open)-1]
	if strings.TrimRight(rest[len("</"):n], xmlSpace) != last.name {
		return false
	}
	p.close()
	return p.skip(n, 1)
}

// close ends the last element: its prefixes mean again what they did before.
func (p *xmlReader) close() {
	last := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	for len(p.hidden) > last.hidden {
		b := p.hidden[len(p.hidden)-1]
		p.hidden = p.hidden[:len(p.hidden)-1]
		if delete(p.namespaces, b.prefix); b.bound {
			p.namespaces[b.prefix] = b.namespace
		}
	}
}

const xmlSpace = " \t\r\n"

// qualifiedName splits a name at its colon.
func qualifiedName(s string) (prefix, local string, ok bool) {
	prefix, local, found := strings.Cut(s, ":")
	if !found {
		return "", s, isXMLName(s)
	}
	return prefix, local, isXMLName(prefix) && isXMLName(local)
}

// isXMLName reports whether s is a name without a colon. The decoder has the
// table of the letters beyond ASCII.
func isXMLName(s string) bool {
	if s == "" || !isLetter(s[0]) && s[0] != '_' && s[0] < utf8.RuneSelf {
		return false
	}
	ascii := true
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf {
			ascii = false
		} else if !isWord(c) && c != '-' && c != '.' {
			return false
		}
	}
	if ascii {
		return true
	}
	token, err := xml.NewDecoder(strings.NewReader("<" + s + "/>")).RawToken()
	element, ok := token.(xml.StartElement)
	return err == nil && ok && element.Name.Local == s
}
