package page

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// webURL returns s if it is nothing but an absolute address of the web, else "":
// other texts never become links. Addresses of the API lose format=api, which a browser
// does not need: it is shown pages because of what it accepts.
func webURL(s string) string {
	if !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") {
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
