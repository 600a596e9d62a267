package unit

import (
	"regexp"
	"strings"
)

// docstring is what Sphinx writes after a file name for text that it found in a
// docstring; Weblate leaves it out.
var docstring = regexp.MustCompile(`:docstring of [^ ]+:(?:[0-9]+|<[^>]*>)`)

// location joins the references of an entry as the API shows them: without
// Sphinx's docstring marks, percent escapes decoded, separated by ", ".
func location(references []string) string {
	switch {
	case len(references) == 0:
		return ""
	case !needsCare(references):
		return strings.Join(references, ", ")
	}
	joined := strings.Join(references, " ")
	return strings.Join(strings.Fields(docstring.ReplaceAllString(unquote(joined), "")), ", ")
}

func needsCare(references []string) bool {
	for _, r := range references {
		if strings.IndexByte(r, '%') >= 0 || strings.HasSuffix(r, ":docstring") {
			return true
		}
	}
	return false
}

// unquote decodes percent escapes, leaving malformed ones as they are.
func unquote(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			b.WriteByte(unhex(s[i+1])<<4 | unhex(s[i+2]))
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	// A file name in another encoding must not become invalid text.
	return strings.ToValidUTF8(strings.ReplaceAll(b.String(), "\x00", "\ufffd"), "\ufffd")
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	default:
		return c - 'a' + 10
	}
}
