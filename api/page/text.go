package page

import (
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Bounds of what a page shows; the JSON has all.
const (
	maxShown = 4000    // characters of one text
	maxText  = 2 << 20 // bytes of the JSON as text
)

// writer writes the JSON as indented text with links, up to maxText.
type writer struct {
	strings.Builder
	full bool
}

// textOf writes a value as JSON for people: what a program gets, with links.
func textOf(n *node) template.HTML {
	w := &writer{}
	w.node(n, 0)
	if w.full {
		w.WriteString("\n<em>The rest is left away here; the JSON has it.</em>")
	}
	return template.HTML(w.String()) //nolint:gosec // every text in it went through escaped
}

func (w *writer) node(n *node, depth int) {
	if w.full = w.full || w.Len() > maxText; w.full {
		return
	}
	switch n.kind {
	case null:
		w.WriteString(`<span class="lit">null</span>`)
	case literal:
		w.WriteString(`<span class="lit">` + html.EscapeString(n.value) + `</span>`)
	case text:
		w.text(n.value)
	case array, object:
		w.nested(n, depth)
	}
}

func (w *writer) text(s string) {
	if link := webURL(s); link != "" {
		w.WriteString(`"<a href="` + html.EscapeString(link) + `">` + escaped(s) + `</a>"`)
		return
	}
	w.WriteString(`<bdi class="str">` + quoted(s) + `</bdi>`)
}

func (w *writer) nested(n *node, depth int) {
	brackets := "[]"
	if n.kind == object {
		brackets = "{}"
	}
	w.WriteByte(brackets[0])
	for i, member := range n.members {
		if i > 0 {
			w.WriteByte(',')
		}
		w.indent(depth + 1)
		if n.kind == object {
			w.WriteString(`<span class="key">` + quoted(n.keys[i]) + `</span>: `)
		}
		w.node(member, depth+1)
		if w.full {
			return
		}
	}
	if n.more > 0 {
		w.indent(depth + 1)
		fmt.Fprintf(w, "<em>and %d more</em>", n.more)
	}
	if len(n.members) > 0 {
		w.indent(depth)
	}
	w.WriteByte(brackets[1])
}

func (w *writer) indent(depth int) {
	w.WriteByte('\n')
	w.WriteString(strings.Repeat("  ", depth))
}

// quoted is a string of JSON for a page.
func quoted(s string) string {
	short := cut(s, maxShown)
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(short); err != nil { // strings have a JSON form
		return ""
	}
	return escaped(strings.TrimSuffix(b.String(), "\n")) + left(s, short)
}

// left says how much of a text is not shown.
func left(s, short string) string {
	if len(s) == len(short) {
		return ""
	}
	return fmt.Sprintf(` <em>and %d more characters</em>`, utf8.RuneCountInString(s[len(short):]))
}

// cut returns the first n characters of a text.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// webURL returns s if it is an absolute address of the web, and nothing else:
// the only texts that become links.
func webURL(s string) string {
	if !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") || len(s) > maxShown {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || visible(s) != s || strings.ContainsAny(s, " \n\t\"<>") {
		return ""
	}
	return s
}

// escaped makes text of a page from any text.
func escaped(s string) string { return html.EscapeString(visible(s)) }

// visible replaces what has no form of its own, or reorders what stands around
// it, by a sign: control characters by their pictures, marks of direction and
// invisible separators by their numbers.
func visible(s string) string {
	if strings.IndexFunc(s, hidden) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune(0x2400 + r)
		case r == 0x7f:
			b.WriteRune(0x2421)
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r == 0x61c, r == 0x200b, r >= 0x200e && r <= 0x200f, r >= 0x2028 && r <= 0x202e:
		return true
	}
	return r >= 0x2066 && r <= 0x2069 || r == 0xfeff
}
