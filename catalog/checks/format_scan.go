package checks

import (
	"hash/maphash"
	"strings"
)

// closer is one of the marks that end a placeholder.
type closer uint8

const (
	closeRound closer = iota
	closeBrace
	closeAngle
	closeBraces
)

var closers = [...]string{closeRound: ")", closeBrace: "}", closeAngle: ">", closeBraces: "}}"}

// subject is a string that is searched for placeholders. It remembers where
// the last of each closing mark stands, so that placeholders that are opened
// and never closed are not searched to the end one by one.
type subject struct {
	s     string
	known [len(closers)]bool
	last  [len(closers)]int
}

func (t *subject) reset(s string) *subject {
	*t = subject{s: s}
	return t
}

// closing is the next closing mark from byte i, -1 if there is none. A scanner
// that finds one goes on behind it.
func (t *subject) closing(c closer, i int) int {
	if !t.known[c] {
		t.known[c], t.last[c] = true, strings.LastIndex(t.s, closers[c])
	}
	if i > t.last[c] {
		return -1
	}
	return i + strings.Index(t.s[i:], closers[c])
}

// next is the first placeholder from byte at.
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

// at is the placeholder at byte i.
func (t *subject) at(x syntax, i int) (placeholder, bool) {
	if strings.IndexByte(x.markers, t.s[i]) < 0 {
		return placeholder{}, false
	}
	return x.scan(t, i)
}

// nextReal is the first placeholder from byte at that does not stand for the
// marker itself.
func (t *subject) nextReal(x syntax, at int) (placeholder, bool) {
	for {
		p, ok := t.next(x, at)
		if !ok || !p.escape {
			return p, ok
		}
		at = p.to
	}
}

// maxMarks is the number of placeholders, tags and other marks of a string that
// are kept at a time: a mark may be one byte long, and what is kept of it fifty.
const maxMarks = 1 << 16

// collect appends the placeholders of t, up to maxMarks; position reports one
// that only its place tells apart.
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

// digest is a number that other placeholders would hardly have, whatever their
// order; position reports one that only its place tells apart.
func (t *subject) digest(x syntax, seed maphash.Seed) (sum uint64, position bool) {
	for at := 0; ; {
		p, ok := t.nextReal(x, at)
		if !ok {
			return sum, position
		}
		sum += maphash.String(seed, p.text)
		position = position || p.position
		at = p.to
	}
}

// index is where the first of some characters is in s, -1 without.
func index(s, markers string) int {
	if len(markers) == 1 {
		return strings.IndexByte(s, markers[0])
	}
	return strings.IndexAny(s, markers)
}
