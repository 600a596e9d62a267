package poparse

import (
	"strings"
	"unsafe"
)

// comparison reads a version of a file as far as it differs from the one before.
type comparison struct {
	*parser
	before *Version
	used   []bool // by index of before.pieces
	next   int    // the piece of before that should come next
	misses int    // entries in a row that were not found near
	fresh  int    // entries that were not found at all
	far    map[uint32]int32
	list   []UpdatedEntry
}

func (c *comparison) run() bool {
	for {
		if c.skip(); c.pos == len(c.text) {
			break
		}
		if c.tokenEnd > c.lineStart {
			return false
		}
		same, ok := c.same()
		if !ok {
			return false
		}
		if same {
			continue
		}
		if same, ok = c.sameBody(); !ok {
			return false
		}
		if !same && !c.read() {
			return false
		}
	}
	return !c.repeats()
}

// ahead is how many pieces after the expected one are compared.
const ahead = 4

// same moves over the pieces that are as before.
func (c *comparison) same() (found, ok bool) {
	start := c.lineStart
	before := c.before
	for c.next < len(c.used) && c.used[c.next] {
		c.next++
	}
	if c.next == len(before.pieces) {
		return false, true
	}
	from := before.pieces[c.next].start
	n := from + int32(commonPrefix(before.text[from:], c.text[start:]))
	first := c.next
	shift, lines := int32(start)-from, int32(c.line)-before.pieces[first].line
	for ; c.next < len(before.pieces); c.next++ {
		old := &before.pieces[c.next]
		if old.end > n || old.header || c.used[c.next] {
			break
		}
		c.used[c.next] = true
		c.tracker.pieces = append(c.tracker.pieces, *old)
		moved := &c.tracker.pieces[len(c.tracker.pieces)-1]
		moved.shift(shift, lines)
		c.list = append(c.list, UpdatedEntry{Before: before.number(c.next), Line: int(moved.line), KeywordLine: int(moved.keywordLine)})
	}
	if c.next == first {
		return false, true
	}
	old := &before.pieces[c.next-1]
	return true, c.jump(old, int(old.end+shift), int(old.line+old.lines+lines))
}

// jump moves to the end of a piece of the version before that was found again.
func (c *comparison) jump(old *piece, end, line int) bool {
	c.position = position{pos: end, line: line, lineStart: end}
	c.misses = 0
	if c.before.text[old.end-1] != '\n' {
		return end == len(c.text) // else the last line goes on
	}
	return beginsEntry(c.text[end:])
}

// beginsEntry reports whether the text after an entry begins another one, or has
// none: else the entry may go on there.
func beginsEntry(text string) bool {
	if len(text) > 1 && text[0] == '#' && text[1] != '~' && text[1] != '|' {
		return true // most
	}
	text = strings.TrimLeft(text, " \t\r\f\v\n")
	if text == "" {
		return true
	}
	if text[0] == '#' {
		n := prefixLen(text)
		if n == 0 {
			return true
		}
		text = strings.TrimPrefix(text[n:], " ")
	}
	return strings.HasPrefix(text, `msgid "`) || strings.HasPrefix(text, `msgctxt "`)
}

// sameBody moves over an entry of which at most "#:" lines changed.
func (c *comparison) sameBody() (found, ok bool) {
	start := c.lineStart
	body := c.afterComments(start)
	if body < 0 {
		return false, true
	}
	k := c.findBody(body)
	if k < 0 {
		return false, true
	}
	old := &c.before.pieces[k]
	if old.header || !exceptReferences(c.before.text[old.start:old.body], c.text[start:body]) {
		return false, true
	}
	c.position = position{pos: start, line: c.line, lineStart: start}
	line := c.line
	if !c.readable(start, body) {
		return false, false
	}
	for at := start; at < body; {
		end := at + strings.IndexByte(c.text[at:body], '\n') + 1
		if c.text[at+1] == ':' {
			c.references(strings.TrimRight(c.text[at+2:end-1], "\r"))
		}
		at = end
		c.line++
	}
	references := c.keepList(&c.pending.refs)
	c.pending.reset()
	c.used[k] = true
	c.next = k + 1
	moved := *old
	moved.shift(int32(body)-old.body, int32(c.line)-old.line-old.head)
	moved.start, moved.line, moved.head = int32(start), int32(line), int32(c.line-line)
	moved.lines += moved.head - old.head
	c.tracker.pieces = append(c.tracker.pieces, moved)
	c.list = append(c.list, UpdatedEntry{
		Before: c.before.number(k), Moved: true, References: references, Line: line, KeywordLine: int(moved.keywordLine),
	})
	return true, c.jump(old, int(moved.end), int(moved.line+moved.lines))
}

// afterComments returns the offset after the comment lines at an offset; -1 if the
// file ends there.
func (c *comparison) afterComments(at int) int {
	for at+1 < len(c.text) && c.text[at] == '#' && c.text[at+1] != '~' && c.text[at+1] != '|' {
		n := strings.IndexByte(c.text[at:], '\n')
		if n < 0 {
			return -1
		}
		at += n + 1
	}
	return at
}

// findBody returns the index of a piece near the expected one whose keywords and
// strings are at an offset of the new text; -1 if there is none.
func (c *comparison) findBody(body int) int {
	for k := c.next; k < min(c.next+ahead, len(c.used)); k++ {
		old := &c.before.pieces[k]
		if !c.used[k] && strings.HasPrefix(c.text[body:], c.before.text[old.body:old.end]) {
			return k
		}
	}
	return -1
}

// exceptReferences reports whether comments differ at most in "#:" lines.
func exceptReferences(a, b string) bool {
	for {
		var x, y string
		x, a = nextComment(a)
		y, b = nextComment(b)
		if x != y {
			return false
		}
		if x == "" {
			return true
		}
	}
}

// nextComment returns the first line that does not begin with "#:"; "" without one.
func nextComment(s string) (line, rest string) {
	for s != "" {
		n := strings.IndexByte(s, '\n') + 1
		if n == 0 {
			n = len(s)
		}
		if !strings.HasPrefix(s, "#:") {
			return s[:n], s[n:]
		}
		s = s[n:]
	}
	return "", ""
}

// readable reports whether a part of the text, which begins with a line, may be read
// as it is: decoding has not looked at it.
func (c *comparison) readable(from, to int) bool {
	part := c.text[from:to]
	return strings.IndexByte(part, 0) < 0 && (c.enc.enc != nil || firstInvalid(unsafe.Slice(unsafe.StringData(part), len(part))) < 0)
}

// read reads an entry.
func (c *comparison) read() bool {
	p := c.parser
	start := p.lineStart
	p.tracker.begin(p)
	var e *Entry
	for e == nil {
		if p.skip(); p.pos == len(p.text) {
			break // comments after the last entry
		}
		switch at := p.text[p.pos]; {
		case at == '#' && !p.previous && !p.obsolete:
			p.comment()
		case at == 'm':
			var err error
			if e, err = p.message(); err != nil {
				return false
			}
		default:
			return false
		}
	}
	end := p.lineStart
	if p.pos == len(p.text) {
		end = len(p.text)
	}
	if !c.readable(start, end) || len(p.file.Warnings) > 0 {
		return false
	}
	if e == nil {
		return true
	}
	if isHeader(e) {
		return c.takeHeader(e)
	}
	return c.place(e)
}

// place finds the entry of the version before for one that was read.
func (c *comparison) place(e *Entry) bool {
	p := c.parser
	at := &p.tracker.pieces[len(p.tracker.pieces)-1]
	if forms := c.before.forms.Number; forms > 0 && e.HasPlural && len(e.Str) != forms && e.Str[0] != "" && !e.Obsolete {
		return false // a warning
	}
	p.hashes, p.plurals = p.hashes[:0], p.plurals[:0]
	p.remember(e)
	at.hash = halfHash(p.hashes[0])
	u := UpdatedEntry{Before: -1, Entry: e, Line: e.Line, KeywordLine: e.KeywordLine}
	if k := c.find(at); k >= 0 {
		c.used[k] = true
		c.next = k + 1
		u.Before = c.before.number(k)
	} else {
		c.fresh++
	}
	c.list = append(c.list, u)
	return true
}

// find returns the index of the piece before with the string of a new piece; -1 if
// it finds none.
func (c *comparison) find(at *piece) int {
	ids := c.text[at.ids:at.str]
	for k := c.next; k < min(c.next+ahead, len(c.used)); k++ {
		if c.isString(k, at, ids) {
			c.misses = 0
			return k
		}
	}
	if c.misses++; c.misses < 2 || at.hash == 0 {
		return -1
	}
	if c.far == nil {
		c.far = make(map[uint32]int32, len(c.used))
		for k := range c.before.pieces {
			if h := c.before.pieces[k].hash; h != 0 {
				c.far[h] = int32(k)
			}
		}
	}
	if k, ok := c.far[at.hash]; ok && c.isString(int(k), at, ids) {
		return int(k)
	}
	return -1
}

func (c *comparison) isString(k int, at *piece, ids string) bool {
	old := &c.before.pieces[k]
	return !c.used[k] && !old.header && old.obsolete == at.obsolete && old.hash == at.hash && c.before.text[old.ids:old.str] == ids
}

// takeHeader takes the header. A second one and another number of plural forms would
// need warnings.
func (c *comparison) takeHeader(e *Entry) bool {
	p := c.parser
	p.entries = p.entries[:len(p.entries)-1]
	if p.file.Header != nil {
		return false
	}
	p.file.Header = e
	if n := c.next; n < len(c.before.pieces) && c.before.pieces[n].header {
		c.next++
	}
	return headerField(e.Str[0], "Plural-Forms") == headerField(c.before.header, "Plural-Forms")
}

// repeats reports whether an entry may repeat another one. The entries of the version
// before do not, and each was found once.
func (c *comparison) repeats() bool {
	if c.fresh == 0 {
		return false
	}
	seen := make(map[uint32]struct{}, len(c.tracker.pieces))
	for i := range c.tracker.pieces {
		h := c.tracker.pieces[i].hash
		if h == 0 {
			continue
		}
		if _, ok := seen[h]; ok {
			return true
		}
		seen[h] = struct{}{}
	}
	return false
}

// commonPrefix returns the number of bytes at their start that are equal in a and b.
func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	const step = 256
	i := 0
	for i+step <= n && a[i:i+step] == b[i:i+step] {
		i += step
	}
	for i+8 <= n && load8(a[i:]) == load8(b[i:]) {
		i += 8
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
