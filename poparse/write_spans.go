package poparse

import "slices"

// record records where the entries of a file are, for WriteTo. A nil record records
// nothing.
type record struct {
	entries []*Entry // headers included
	spans   []span   // of each entry
	current span
	// all lifts the bounds against hostile input.
	all bool
}

// span is the text of an entry: its parts, one after the other. whole says for each
// part whether it begins at the start of a line, without a prefix from the line
// before.
type span struct {
	from  [partCount]int
	whole [partCount]bool
	to    int
}

// part is a part of an entry, in the order of the file.
type part int

const (
	partComments part = iota
	partPrevious
	partIDs
	partTranslations
	partCount
)

// begin records that an entry's first comment or keyword is at the position.
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

// part records that a part begins at the position, with the blanks and prefixes
// before it if the last token was on another line.
func (r *record) part(p *parser, k part) {
	if r == nil {
		return
	}
	r.current.from[k] = max(p.tokenEnd, p.lineStart)
	r.current.whole[k] = p.tokenEnd <= p.lineStart
}

// joinNextLine records that a comment's prefix extends to the next line, so that no
// part of the entry can be written alone.
func (r *record) joinNextLine() {
	if r != nil {
		r.current.whole[partComments] = false
	}
}

// end records that the last entry is complete.
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

// end returns the end of a part.
func (s *span) end(k part) int {
	if k+1 == partCount {
		return s.to
	}
	return s.from[k+1]
}

// lines reports whether all parts begin at the start of a line.
func (s *span) lines() bool { return !slices.Contains(s.whole[:], false) }
