package checks

import "strings"

// closer is one of the texts that end a placeholder.
type closer uint8

const (
	closeRound closer = iota
	closeBrace
	closeAngle
	closeBraces
)

var closers = [...]string{closeRound: ")", closeBrace: "}", closeAngle: ">", closeBraces: "}}"}

// subject is a string that is searched for placeholders. It remembers the position
// of the last of each closer, so that placeholders that are opened and never closed
// do not cost a search to the end each.
type subject struct {
	s     string
	known [len(closers)]bool
	last  [len(closers)]int
}

func (t *subject) reset(s string) *subject {
	*t = subject{s: s}
	return t
}

// closing returns the position of the next closer from byte i, or -1. A scanner
// that finds one continues after it.
func (t *subject) closing(c closer, i int) int {
	if !t.known[c] {
		t.known[c], t.last[c] = true, strings.LastIndex(t.s, closers[c])
	}
	if i > t.last[c] {
		return -1
	}
	return i + strings.Index(t.s[i:], closers[c])
}

// next returns the first placeholder from byte at.
func (t *subject) next(x syntax, at int) (placeholder, bool) {
	for i := at; i < len(t.s); i++ {
		n := index(t.s[i:], x.markers)
		if n < 0 {
			break
		}
		i += n
		if p, ok := x.scan(t, i); ok {
			return p, true
		}
	}
	return placeholder{}, false
}

// at returns the placeholder at byte i.
func (t *subject) at(x syntax, i int) (placeholder, bool) {
	if strings.IndexByte(x.markers, t.s[i]) < 0 {
		return placeholder{}, false
	}
	return x.scan(t, i)
}

// nextReal returns the first placeholder from byte at that is no escape.
func (t *subject) nextReal(x syntax, at int) (placeholder, bool) {
	for {
		p, ok := t.next(x, at)
		if !ok || !p.escape {
			return p, ok
		}
		at = p.to
	}
}

// maxMarks is how many placeholders, tags and other marks of a string are kept: a
// mark may be one byte long, and takes fifty bytes to keep.
const maxMarks = 1 << 16

// collect appends the placeholders of t, up to maxMarks. position reports whether
// one of them is identified by its position.
func (t *subject) collect(x syntax, into []placeholder) (all []placeholder, position bool) {
	for at := 0; ; {
		p, ok := t.nextReal(x, at)
		if !ok || len(into) == maxMarks {
			return into, position
		}
		into = append(into, p)
		position = position || p.position
		at = p.to
	}
}

// index returns the position of the first of some characters in s, or -1.
func index(s, markers string) int {
	if len(markers) == 1 {
		return strings.IndexByte(s, markers[0])
	}
	return strings.IndexAny(s, markers)
}
