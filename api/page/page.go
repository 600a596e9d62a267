// Package page shows an answer of the API to a person: its JSON, indented, with links, and
// the description of the API.
//
// Goals: text from a PO file or a request never becomes markup, runs or reorders the text
// around it: html/template writes all markup; pages need no script and nothing from another
// host; they can be read on a phone, in the dark and by a screen reader; their size is bounded.
//
// Non-goals: resources, store, HTTP, further facts: api/web has the pages for people.
package page

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Policy is the Content-Security-Policy of every page: its own style and nothing else.
const Policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

//go:embed *.html
var files embed.FS

// style is the style sheet, which every page contains.
//
//go:embed style.css
var style string

// Page is an answer to be shown.
type Page struct {
	// Title names the resource, such as "Unit List".
	Title string
	// Target is path and query of the request, for the line that shows it.
	Target string
	// Status is the line after the version of HTTP, such as "200 OK".
	Status string
	// Headers are the headers worth showing, name and value.
	Headers [][2]string
	// People is the path of the page for people about the same; "" if there is none.
	People string
	// Formats are other forms of the same resource.
	Formats []Link
	// Body is the answer, which must be JSON.
	Body []byte
}

// Link is a link of a page.
type Link struct{ Name, URL string }

// view is what answer.html shows.
type view struct {
	Page
	Style template.CSS
	Parts []part
	Cut   bool // the rest of the JSON is left out
}

// part is text of the JSON. Link is the address that it is, "" for other text.
type part struct{ Text, Link string }

// templates parses the embedded templates once.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"spans": spans, "paragraphs": paragraphs}).ParseFS(files, "*.html"))
})

// maxShown bounds the indented JSON of a page, in bytes; the JSON has all.
const maxShown = 1 << 20

// address finds strings that are nothing but an address of the web.
var address = regexp.MustCompile(`"https?://[^"\\\s<>]+"`)

// Render makes the page, in UTF-8.
func Render(p *Page) ([]byte, error) {
	var text bytes.Buffer
	if err := json.Indent(&text, p.Body, "", "  "); err != nil {
		return nil, fmt.Errorf("show %s: %w", p.Target, err)
	}
	v := view{Page: *p, Style: template.CSS(style)}
	v.Title, v.Target = Visible(p.Title), Visible(p.Target)
	shown := text.Bytes()
	if v.Cut = len(shown) > maxShown; v.Cut {
		shown = bytes.ToValidUTF8(shown[:maxShown], nil)
	}
	at := 0
	for _, found := range address.FindAllIndex(shown, -1) {
		from, to := found[0]+1, found[1]-1 // without the quotes
		if link := webURL(string(shown[from:to])); link != "" {
			v.Parts = append(v.Parts, part{Text: Visible(string(shown[at:from]))}, part{string(shown[from:to]), link})
			at = to
		}
	}
	v.Parts = append(v.Parts, part{Text: Visible(string(shown[at:]))})
	return execute("answer.html", v)
}

func execute(name string, v any) ([]byte, error) {
	var buf bytes.Buffer
	if err := templates().ExecuteTemplate(&buf, name, v); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return buf.Bytes(), nil
}

// webURL returns s, which address has found, if it is an absolute address without
// characters that visible replaces, else "". Addresses of the API lose format=api, which a
// browser does not need: it is shown pages because of what it accepts.
func webURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || Visible(s) != s {
		return ""
	}
	if path, query, asked := strings.Cut(s, "?"); asked && strings.Contains(u.Path, "/api/") {
		kept := slices.DeleteFunc(strings.Split(query, "&"), func(p string) bool { return p == "format=api" })
		if s = path; len(kept) > 0 {
			s += "?" + strings.Join(kept, "&")
		}
	}
	return s
}

// Visible replaces characters that are invisible or reorder the text around them: control
// characters by their pictures, marks of direction and invisible separators by their numbers.
func Visible(s string) string {
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

// hidden reports whether a character is invisible or reorders text: pages show its number.
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
