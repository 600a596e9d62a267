package page

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what a page shows; the JSON has all.
const (
	maxShown = 4000    // characters of one text
	maxText  = 2 << 20 // bytes of the JSON as text
)

// answer is the JSON of an answer as text for people, what the template "json"
// shows.
type answer struct {
	Tokens []token
	Full   bool // the rest is left out
	size   int  // about how many bytes of a page the tokens take
}

// token is a value, or the number of entries that are left out, with its key and
// the punctuation before both. The key of an object or an array is a token without
// a value: few tokens keep the template fast.
type token struct {
	Before string
	Key    string // quoted
	Text   string
	Link   string // the address that Text is
	String bool   // Text is not a literal
	Left   int    // characters of Text that are left out, or entries where it is ""
}

// answerOf writes a value with an indented line for each entry, up to maxText.
func answerOf(n *node) *answer {
	a := &answer{}
	if rest := a.node(token{}, n, 0); rest != "" && !a.Full {
		a.add(token{Before: rest})
	}
	return a
}

func (a *answer) add(t token) {
	a.size += len(t.Before) + escapedLen(t.Key) + escapedLen(t.Text) + len(t.Link) + markup
	a.Tokens = append(a.Tokens, t)
}

// node writes a value into a token that has what is before it, and returns the
// punctuation after it.
func (a *answer) node(t token, n *node, depth int) string {
	if a.Full = a.Full || a.size > maxText; a.Full {
		return ""
	}
	switch n.kind {
	case null:
		t.Text = "null"
	case literal:
		t.Text = n.value
	case text:
		if t.Link = webURL(n.value); t.Link != "" {
			t.Text = n.value
			break
		}
		t.Text, t.Left = quoted(n.value)
		t.String = true
	case array, object:
		return a.nested(t, n, depth)
	}
	a.add(t)
	return ""
}

func (a *answer) nested(t token, n *node, depth int) string {
	brackets := "[]"
	if n.kind == object {
		brackets = "{}"
	}
	before := t.Before + brackets[:1]
	if t.Key != "" {
		a.add(t)
		before = brackets[:1]
	}
	for i, member := range n.members {
		if i > 0 {
			before += ","
		}
		t := token{Before: before + indent(depth+1)}
		if n.kind == object {
			t.Key, _ = quoted(n.keys[i])
		}
		if before = a.node(t, member, depth+1); a.Full {
			return ""
		}
	}
	if n.more > 0 {
		a.add(token{Before: before + indent(depth+1), Left: n.more})
		before = ""
	}
	if len(n.members) > 0 {
		before += indent(depth)
	}
	return before + brackets[1:]
}

func indent(depth int) string { return "\n" + strings.Repeat("  ", depth) }

// quoted is a string of JSON for a page, and how many characters of it are left
// out.
func quoted(s string) (text string, left int) {
	short, left := cutCount(s, maxShown)
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(short) // strings have a JSON form
	return visible(strings.TrimSuffix(b.String(), "\n")), left
}

// cutCount returns the first n characters of a text and the number of the
// others.
func cutCount(s string, n int) (shown string, left int) {
	shown = cut(s, n)
	return shown, utf8.RuneCountInString(s[len(shown):])
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

// webURL returns s if it is nothing but an absolute address of the web, else "":
// other texts never become links. Addresses of the API lose format=api, which a browser
// does not need: it is shown pages because of what it accepts.
func webURL(s string) string {
	if !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") || len(s) > maxShown {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || visible(s) != s || strings.ContainsAny(s, " \n\t\"<>") {
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

// visible replaces characters that are invisible or reorder the text around them:
// control characters by their pictures, marks of direction and invisible
// separators by their numbers.
func visible(s string) string {
	if strings.IndexFunc(s, Hidden) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !Hidden(r):
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

// Hidden reports whether a character is invisible or reorders the text around it, so
// that pages show its number instead.
func Hidden(r rune) bool {
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
