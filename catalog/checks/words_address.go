package checks

import (
	"strings"
	"unicode/utf8"
)

// withoutMarkup replaces the parts of a text that no language translates by
// blanks: entities, tags, templates, addresses, paths and names of roles.
func withoutMarkup(s string) string {
	s = blankEntities(s)
	f := addressFinder{text: s, lastTag: strings.LastIndexByte(s, '>')}
	var kept strings.Builder
	for i := 0; i < len(s); {
		if n := f.find(i); n > 0 {
			kept.WriteByte(' ')
			i += n
			continue
		}
		from := i
		i = span(s, i, "") // no address begins within a word
		if i == from {
			_, n := utf8.DecodeRuneInString(s[i:])
			i += n
		}
		kept.WriteString(s[from:i])
	}
	return kept.String()
}

// addressFinder finds addresses and marks in a text, in time linear in its
// length.
type addressFinder struct {
	text     string
	lastTag  int // index of the last ">"
	noDomain int // no domain begins before this index
}

// find returns the length of the tag, {template}, @MARK@, :role: before a
// backquote, #tag, /path, URL, e-mail address or domain at an index; 0 if there
// is none.
func (f *addressFinder) find(i int) int {
	s := f.text[i:]
	previous := byte(' ')
	if i > 0 {
		previous = f.text[i-1]
	}
	switch c := s[0]; {
	case c == '<' && i < f.lastTag:
		return tag(s)
	case c == '{':
		return enclosed(s, '}', "-_")
	case c == '@':
		return enclosed(s, '@', "_")
	case c == ':':
		if n := enclosed(s, ':', "-_+."); n < len(s) && s[n] == '`' {
			return n
		}
	case c == '#':
		if n := span(s, 1, "_-"); n > 1 {
			return n
		}
	case c == '/' && strings.IndexByte(" \t\r\n", previous) >= 0:
		if n := span(s, 1, "/=:?._-"); n > 1 {
			return n
		}
	case isAlnum(c):
		if strings.IndexByte("_.+-", previous) < 0 {
			if n := location(s); n > 0 {
				return n
			}
		}
		return f.domain(i)
	}
	return 0
}

// domain returns the length of the domain at an index.
func (f *addressFinder) domain(i int) int {
	if i < f.noDomain {
		return 0
	}
	n, end := domain(f.text[i:])
	if n == 0 {
		f.noDomain = i + end
	}
	return n
}

// tag returns the length of an HTML tag or comment. None begins in "a < b".
func tag(s string) int {
	if len(s) < 3 || !isLetter(s[1]) && strings.IndexByte("/!?", s[1]) < 0 {
		return 0
	}
	return strings.IndexByte(s, '>') + 1
}

// enclosed returns the length of a name between two marks; 0 if there is none.
func enclosed(s string, closing byte, others string) int {
	n := 1
	for n < len(s) && (isLetter(s[n]) || strings.IndexByte(others, s[n]) >= 0) {
		n++
	}
	if n == 1 || n == len(s) || s[n] != closing {
		return 0
	}
	return n + 1
}

// location returns the length of the URL or e-mail address that s begins with.
func location(s string) int {
	if n := span(s, 0, "+.-"); strings.HasPrefix(s[n:], "://") {
		if end := strings.IndexAny(s, " \t\r\n"); end >= 0 {
			return end
		}
		return len(s)
	}
	n := span(s, 0, "_.+-")
	if n == len(s) || s[n] != '@' {
		return 0
	}
	if host, _ := domain(s[n+1:]); host > 0 {
		return n + 1 + host
	}
	return 0
}

// maxTopDomain is the length of the longest top-level domain that counts: the
// last name of xml.etree.ElementTree is longer.
const maxTopDomain = 6

// domain returns the length of the longest domain that s begins with, and the
// index that it looked up to: labels of letters, digits and inner hyphens, the
// last one of two to six letters.
func domain(s string) (found, end int) {
	for labels := 0; ; labels++ {
		n := span(s, end, "-")
		if n == end || s[end] == '-' || s[n-1] == '-' {
			return found, n
		}
		if labels > 0 && isTopDomain(s[end:n]) {
			found = n
		}
		if n == len(s) || s[n] != '.' {
			return found, n
		}
		end = n + 1
	}
}

func isTopDomain(label string) bool {
	for i := range len(label) {
		if !isLetter(label[i]) {
			return false
		}
	}
	return len(label) >= 2 && len(label) <= maxTopDomain
}

// span returns the index after the letters, digits and others at s[i].
func span(s string, i int, others string) int {
	for i < len(s) && (isAlnum(s[i]) || strings.IndexByte(others, s[i]) >= 0) {
		i++
	}
	return i
}

func isAlnum(c byte) bool { return isLetter(c) || isDigit(c) }
