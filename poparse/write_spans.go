package poparse

// record notes where the entries of a file stand, for WriteTo. A nil record
// notes nothing.
type record struct {
	entries []*Entry // headers included
	spans   []span   // of each entry
	current span
	// all lifts the bounds against hostile input.
	all bool
}

// span is the place of an entry in the text: its parts, one behind the other.
// Each begins at the start of a line, and in the state that lines begin in, if
// whole has its bit.
type span struct {
	from  [partCount]int
	whole [partCount]bool
	to    int
}

// part numbers the parts of an entry, in the file's order.
type part int

const (
	partComments part = iota
	partPrevious
	partIDs
	partTranslations
	partCount
)

// begin notes that an entry's first comment or keyword is at the position.
func (r *record) begin(p *parser) {
	if r == nil {
		return
	}
	r.current = span{}
	if r.all {
		p.items = -1 << 62
	}
	r.part(p, partComments)
}

// part notes that a part begins at the position, with whatever is before it on
// its line: blanks and prefixes, if the last token was on another line.
func (r *record) part(p *parser, k part) {
	if r == nil {
		return
	}
	r.current.from[k] = max(p.tokenEnd, p.lineStart)
	r.current.whole[k] = p.tokenEnd <= p.lineStart
}

// joinNextLine notes that a comment's prefix reaches into the next line, so that no part
// of the entry can be written alone.
func (r *record) joinNextLine() {
	if r != nil {
		r.current.whole[partComments] = false
	}
}

// end notes that the last entry is complete.
func (r *record) end(p *parser) {
	if r == nil {
		return
	}
	to := p.tokenEnd
	for to < len(p.text) && isBlank(p.text[to]) {
		to++
	}
	switch {
	case to == len(p.text):
	case p.text[to] == '\n':
		to++
	default:
		to = p.tokenEnd
	}
	r.current.to = to
	r.spans = append(r.spans, r.current)
	r.entries = append(r.entries, p.entries[len(p.entries)-1])
}

// end returns where a part ends.
func (s *span) end(k part) int {
	if k+1 == partCount {
		return s.to
	}
	return s.from[k+1]
}

// lines reports whether all parts begin at the start of a line.
func (s *span) lines() bool {
	for _, whole := range s.whole {
		if !whole {
			return false
		}
	}
	return true
}
